"""All tables of an analysis from its inputs. No database, no clock, no chance but the seed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.enums import Coders, Split

from ..inputs import EXPERT, POINTWISE, Inputs
from . import agreement, grades, key_figures, labels
from .fitting import Fitted, fit
from .schema import Row
from .settings import Settings

Report = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Results:
    """Tables by name, and what a page shows at a glance."""

    tables: dict[str, list[Row]]
    summary: dict[str, Any]


class _Steps:
    """Counts what is done."""

    def __init__(self, inputs: Inputs, report: Report) -> None:
        self.total = sum(len(np.unique(pool.dimension)) for pool in inputs.pools.values()) + 3
        self.done = 0
        self.report = report

    def __call__(self, message: str) -> None:
        self.report(self.done, self.total, message)
        self.done += 1


def compute(inputs: Inputs, *, settings: Settings, seed: int, report: Report = lambda *_: None) -> Results:
    """Compute every table; the same inputs, settings and seed give the same bytes."""
    step = _Steps(inputs, report)
    fitted = {
        name: fit(inputs, name, settings=settings, seed=seed, report=step, capped=name == inputs.pool)
        for name in (inputs.pool, EXPERT, POINTWISE)
        if name in inputs.pools
    }
    main = fitted[inputs.pool]
    step("Agreement")
    masks = agreement.split_masks(main)
    agreement_rows, means = _agreement(inputs, fitted, masks, settings, seed)
    step("Grades")
    grade_rows = grades.grade_rows(inputs, main)
    step("Means and key figures")
    tables = {
        "key_figures": key_figures.key_figure_rows(
            inputs, main, differentiable=masks.get(Split.DIFFERENTIABLE), settings=settings, seed=seed
        ),
        "agreement": agreement_rows,
        "agreement_means": means,
        "competence": labels.competence_rows(main),
        "gold": labels.gold_rows(inputs, main),
        "grades": grade_rows,
        "grade_means": grades.mean_rows(inputs, grade_rows, settings=settings, seed=seed),
        "mace": labels.model_rows(main),
    }
    return Results(tables, {**_sizes(main), "simulated": inputs.simulated})


def _agreement(
    inputs: Inputs, fitted: dict[str, Fitted], masks: dict[str, Any], settings: Settings, seed: int
) -> tuple[list[Row], list[Row]]:
    """Agreement of the pool, then of experts and pointwise raters where there are any."""
    main = fitted[inputs.pool]
    own = agreement.coders_of(inputs.pool)
    corrected = Coders.CORRECTED.value
    rows, means = agreement.of_pairs(main, coders=own, corrected=corrected, masks=masks, settings=settings, seed=seed)
    if EXPERT in fitted and inputs.pool != EXPERT:
        found = agreement.of_pairs(
            fitted[EXPERT],
            coders=Coders.EXPERT.value,
            corrected=None,
            masks=agreement.expert_masks(fitted[EXPERT], main, masks),
            settings=settings,
            seed=seed,
        )
        rows, means = rows + found[0], means + found[1]
    if POINTWISE in fitted:
        found = agreement.of_pairs(
            fitted[POINTWISE],
            coders=Coders.POINTWISE.value,
            corrected=Coders.POINTWISE_CORRECTED.value,
            masks=agreement.split_masks(fitted[POINTWISE]),
            settings=settings,
            seed=seed,
        )
        rows, means = rows + found[0], means + found[1]
    return rows, means


def _sizes(main: Fitted) -> dict[str, int]:
    return {
        "topics": len(np.unique(main.pool.topic)),
        "pairs": len(main.pool.units),
        "participants": len(main.pool.participants),
        "judgments": sum(len(each.unit) for each in main.fits),
    }
