"""Inputs of an analysis written down as votes, without a database."""

from collections.abc import Callable, Mapping

import numpy as np

from analysis.inputs.arrays import Dimension, Inputs, Pool, Response
from analysis.methods.registry import compute
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


def tables_of(votes: Votes, *, settings: AnalysisSettings = QUICK, **options):
    """All tables of these votes."""
    return compute(inputs_of(votes, **options), settings=settings, seed=0).tables
