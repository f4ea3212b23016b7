"""All tables of an analysis from its inputs. No database but the texts', no clock, no chance but the seed."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..inputs import EXPERT, POINTWISE, Inputs
from ..texts import TopicTexts
from . import (
    agreement,
    grades,
    interdependence,
    key_figures,
    labels,
    model_judges,
    order_effects,
    processes,
    reference_metrics,
    survey,
    text_reuse,
    writing,
)
from .earlier import Earlier, drawn_rows, rows_of
from .family import Analysed, Family, Tables
from .fitting import Fitted, fit
from .redrawing import redraw
from .schema import Row
from .settings import Settings

Report = Callable[[int, int, str], None]

#: In the order in which they are made: a family may read the tables of those before it.
FAMILIES = (
    Family("Agreement", agreement.family, live=True),
    Family("Labels", labels.family, live=True),
    Family("Grades", grades.family, live=True),
    Family("Tests and leaderboard", grades.compared),
    Family("Writing", writing.family),
    Family("Text reuse", text_reuse.family),
    Family("Surveys", survey.family),
    Family("Writing process", processes.family),
    Family("Key figures", key_figures.family),
    Family("Order effects", order_effects.family),
    Family("Dimensions", interdependence.family),
    Family("Reference-based metrics", reference_metrics.family),
    Family("Models as judges", model_judges.family),
)


@dataclass(frozen=True)
class Results:
    """Tables by name, what a page shows at a glance, and the fits that later updates begin with (`earlier.FITS`)."""

    tables: Tables
    summary: dict[str, Any]
    fits: list[Row]


class _Steps:
    """Counts what is done."""

    def __init__(self, inputs: Inputs, families: int, report: Report) -> None:
        fits = sum(len(np.unique(inputs.pools[name].dimension)) for name in _fitted_pools(inputs))
        self.total = fits + families
        self.done = 0
        self.report = report

    def __call__(self, message: str) -> None:
        self.report(self.done, self.total, message)
        self.done += 1

    def say(self, message: str) -> None:
        """Say what is being done within a step."""
        self.report(self.done, self.total, message)


def compute(
    inputs: Inputs,
    *,
    settings: Settings,
    seed: int,
    texts: Iterable[TopicTexts] = (),
    report: Report = lambda *_: None,
    earlier: Earlier | None = None,
) -> Results:
    """Compute every table; the same inputs, settings and seed give the same bytes.

    With an `earlier` analysis only the tables of live families, from as many of its fits as still stand: an update.
    """
    families = [family for family in FAMILIES if family.live or earlier is None]
    step = _Steps(inputs, len(families), report)
    fitted = {
        name: fit(inputs, name, settings=settings, seed=seed, report=step, capped=name == inputs.pool, earlier=earlier)
        for name in _fitted_pools(inputs)
    }
    main = fitted[inputs.pool]
    redrawn = {name: redraw(each, name, settings=settings, seed=seed, step=step.say) for name, each in fitted.items()}
    analysed = Analysed(
        inputs=inputs,
        texts=texts,
        settings=settings,
        seed=seed,
        fitted=fitted,
        masks=agreement.split_masks(main),
        step=step.say,
        redrawn=redrawn,
        earlier=earlier,
        similarity=inputs.likeness if inputs.likenesses else None,
    )
    for family in families:
        step(family.title)
        analysed.tables |= family.make(analysed)
    return Results(
        analysed.tables,
        {**_sizes(main), "simulated": inputs.simulated},
        [] if earlier else [*_fits(inputs, fitted), *analysed.imputed],
    )


def _fitted_pools(inputs: Inputs) -> list[str]:
    """The pools whose judges are many, of whom some can be trusted more than others."""
    return list(dict.fromkeys(name for name in (inputs.pool, EXPERT, POINTWISE) if name in inputs.pools))


def _fits(inputs: Inputs, fitted: dict[str, Fitted]) -> list[Row]:
    rows: list[Row] = []
    for name, each in fitted.items():
        for found in each.fits:
            dimension = found.dimension.name
            if found.model is not None:
                rows += rows_of(name, dimension, each.pool.participants, found.model)
            if found.averaged is not None:
                rows += drawn_rows(inputs, name, dimension, found.averaged, found.counts.sum(axis=1) > 0)
    return rows


def _sizes(main: Fitted) -> dict[str, int]:
    return {
        "topics": len(np.unique(main.pool.topic)),
        "pairs": len(main.pool.units),
        "participants": len(main.pool.participants),
        "judgments": sum(len(each.unit) for each in main.fits),
    }
