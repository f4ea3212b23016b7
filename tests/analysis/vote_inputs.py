"""Inputs of an analysis written down as votes, without a database."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from unittest import mock

import numpy as np

from analysis.inputs.arrays import Dimension, Inputs, Pool, Response
from analysis.methods import registry
from analysis.methods.settings import AnalysisSettings
from tests.analysis.small_study import DIMENSIONS, ORIGINS, STYLES, Votes

QUICK = AnalysisSettings(resamples=60, restarts=2, refine=0, labels="likeliest")


def inputs_of(
    votes: Votes,
    *,
    dimensions: tuple[str, ...] = DIMENSIONS,
    styles: Mapping[str, str] = STYLES,
    writer: Callable[[str], str] = lambda name: f"writer-{name[-1]}",
    more: tuple[Response, ...] = (),
    k: int = 5,
) -> Inputs:
    """A crowd's votes as in `small_study`: left and right response, and what each judge said on each dimension."""
    names = sorted({name for pair in votes for name in pair})
    topics = sorted({name.split("-")[0] for name in names} | {each.topic for each in more})
    responses = tuple(
        Response(name, name.split("-")[0], styles[name[-1]], str(ORIGINS[name[-1]]).lower(), writer(name), 100)
        for name in names
    )
    units = tuple((names.index(a), names.index(b), topics.index(a.split("-")[0]), "") for a, b in votes)
    judges = len(next(iter(votes.values()))[0])
    rows = [
        (unit, judge, d, "ANB".index(answers[judge]), judge, k, unit + 1, 0)
        for d in range(len(dimensions))
        for unit, letters in enumerate(votes.values())
        for judge, answers in [(judge, letters[d]) for judge in range(judges)]
        if answers[judge] != "."
    ]
    pool = Pool(tuple(f"w{number}" for number in range(1, judges + 1)), units, *np.array(rows).T)
    asked = tuple(Dimension(name, name.capitalize(), (-1, 0, 1)) for name in dimensions)
    kinds = tuple(sorted(set(styles.values())))
    return Inputs("crowd", tuple(topics), kinds, asked, responses + more, {"crowd": pool})


def tables_of(votes: Votes, *, settings: AnalysisSettings = QUICK, **options: Any) -> "TablesOnDemand":
    """All tables of these votes."""
    return TablesOnDemand(inputs_of(votes, **options), settings)


class TablesOnDemand(Mapping[str, Any]):
    """Tables of an analysis. A method computes its own when one of them is read, and all do when they are counted.

    One method takes a fraction of the time of all. That its tables are the same is proven in `test_win_rates`.
    """

    def __init__(self, inputs: Inputs, settings: AnalysisSettings, *, seed: int = 0) -> None:
        self.inputs, self.settings, self.seed = inputs, settings, seed
        self.computed: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self.computed:
            makers = [each for each in registry.METHODS if name in {table.name for table in each.tables}]
            self.computed |= self._compute(makers)
        return self.computed[name]

    def __iter__(self) -> Iterator[str]:
        self.computed |= self._compute(registry.METHODS)
        return iter(self.computed)

    def __len__(self) -> int:
        return len(list(iter(self)))

    def _compute(self, methods: Iterable[registry.Method]) -> dict[str, Any]:
        chosen = list(methods)
        for method in chosen:
            chosen += [each for each in registry.METHODS if each.name in method.needs and each not in chosen]
        with mock.patch.object(registry, "METHODS", tuple(each for each in registry.METHODS if each in chosen)):
            return registry.compute(self.inputs, settings=self.settings, seed=self.seed).tables
