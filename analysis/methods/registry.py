"""All methods in their order, and all tables of an analysis from its inputs: no clock, no chance but the seed."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..inputs.arrays import EXPERT, POINTWISE, Inputs
from ..inputs.texts import TopicTexts
from ..tables.rows import Row
from .agreement import compute as agreement_compute
from .competence import compute as competence_compute
from .context import Context, Method, Tables
from .fits import Fitted, fit, refit_resamples
from .grades import compute as grades_compute
from .interdependence import compute as interdependence_compute
from .key_figures import compute as key_figures_compute
from .lengths import compute as lengths_compute
from .model_judges import compute as model_judges_compute
from .order_effects import compute as order_effects_compute
from .reference_metrics import compute as reference_metrics_compute
from .reusable_fits import ReusableFits, drawn_rows, rows_of
from .settings import AnalysisSettings
from .surveys import compute as surveys_compute
from .text_reuse import compute as text_reuse_compute
from .writing_process import compute as writing_process_compute

Report = Callable[[int, int, str], None]

#: In the order in which they are made: a method may read the tables of those before it.
METHODS = (
    Method("Agreement", agreement_compute.compute_tables, live=True),
    Method("Labels", competence_compute.compute_tables, live=True),
    Method("Grades", grades_compute.compute_tables, live=True),
    Method("Tests and leaderboard", grades_compute.compute_comparisons),
    Method("Writing", lengths_compute.compute_tables),
    Method("Text reuse", text_reuse_compute.compute_tables),
    Method("Surveys", surveys_compute.compute_tables),
    Method("Writing process", writing_process_compute.compute_tables),
    Method("Key figures", key_figures_compute.compute_tables),
    Method("Order effects", order_effects_compute.compute_tables),
    Method("Dimensions", interdependence_compute.compute_tables),
    Method("Reference-based metrics", reference_metrics_compute.compute_tables),
    Method("Models as judges", model_judges_compute.compute_tables),
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
    settings: AnalysisSettings,
    seed: int,
    texts: Iterable[TopicTexts] = (),
    report: Report = lambda *_: None,
    earlier: ReusableFits | None = None,
) -> Results:
    """Compute every table; the same inputs, settings and seed give the same bytes.

    With an `earlier` analysis only the tables of live families, from as many of its fits as still stand: an update.
    """
    families = [family for family in METHODS if family.live or earlier is None]
    step = _Steps(inputs, len(families), report)
    fitted = {
        name: fit(inputs, name, settings=settings, seed=seed, report=step, capped=name == inputs.pool, earlier=earlier)
        for name in _fitted_pools(inputs)
    }
    main = fitted[inputs.pool]
    redrawn = {
        name: refit_resamples(each, name, settings=settings, seed=seed, step=step.say) for name, each in fitted.items()
    }
    analysed = Context(
        inputs=inputs,
        texts=texts,
        settings=settings,
        seed=seed,
        fitted=fitted,
        masks=agreement_compute.split_masks(main),
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
