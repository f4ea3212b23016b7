"""Competence of participants and gold labels of pairs (docs/methods/competence.md)."""

import numpy as np

from analysis.stats.labels import LABELS, gold

from ...inputs.arrays import Inputs
from ...tables.rows import NOTE, Row, number, numbers
from ..context import Context, Tables
from ..fits import Fitted
from .tables import MACE

UPDATED = "an update continues the fit of the full analysis, so it has no restarts to compare"


def compute_tables(analysed: Context) -> Tables:
    """Compute competences, gold labels, and measures of how well the fits are determined."""
    main = analysed.main
    return {
        "competence": competence_rows(main),
        "gold": gold_rows(analysed.inputs, main),
        "mace": model_rows(main),
    }


def competence_rows(fitted: Fitted) -> list[Row]:
    """Make one row for each participant and dimension they judged."""
    rows: list[Row] = []
    for fit in fitted.fits:
        judged = np.bincount(fit.seen[1], minlength=len(fitted.pool.participants))
        people = np.flatnonzero(judged).tolist()
        spam: list[float | None] = [None] * len(people)
        if fit.model is not None:
            spam = [p for (p,) in numbers(fit.spam_probability[people][:, None])]
        note = {} if fit.model else {NOTE: fit.problem}
        rows += [
            {
                "participant": fitted.pool.participants[who],
                "dimension": fit.dimension.name,
                "spam_probability": p,
                "judgments": n,
                **note,
            }
            for who, p, n in zip(people, spam, judged[people].tolist(), strict=True)
        ]
    return rows


def gold_rows(inputs: Inputs, fitted: Fitted) -> list[Row]:
    """Make one row for each presented pair and judged dimension: posterior and most probable label."""
    rows: list[Row] = []
    names = [response.name for response in inputs.responses]
    for fit in fitted.fits:
        if not fit.dimension.is_preference:
            continue
        judged = np.flatnonzero(fit.counts.sum(axis=1)).tolist()
        sides = [fitted.pool.units[unit] for unit in judged]
        dimension = fit.dimension.name
        if fit.model is None:
            nothing = {"dimension": dimension, "p_a": None, "p_n": None, "p_b": None, "label": None, NOTE: fit.problem}
            rows += [{"response_a": names[left], "response_b": names[right]} | nothing for left, right, *_ in sides]
            continue
        posterior = numbers(fit.posterior[judged])
        labels = [LABELS[code] for code in gold(fit.posterior[judged]).tolist()]
        rows += [
            {
                "response_a": names[left],
                "response_b": names[right],
                "dimension": dimension,
                "p_a": p_a,
                "p_n": p_n,
                "p_b": p_b,
                "label": label,
            }
            for (left, right, *_), (p_a, p_n, p_b), label in zip(sides, posterior, labels, strict=True)
        ]
    return rows


def model_rows(fitted: Fitted) -> list[Row]:
    """Make one row for each fit: the final likelihoods of the restarts, and how often their labels agree."""
    rows: list[Row] = []
    for fit in fitted.fits:
        row: Row = {"dimension": fit.dimension.name}
        if fit.model is None:
            rows.append(row | dict.fromkeys(MACE.column_names[1:]) | {NOTE: fit.problem})
            continue
        ends = fit.model.restart_log_likelihoods
        if not len(ends):
            known = {"log_likelihood": fit.model.log_likelihood}
            rows.append(row | dict.fromkeys(MACE.column_names[1:]) | known | {NOTE: UPDATED})
            continue
        measures: Row = {
            "log_likelihood": fit.model.log_likelihood,
            "best_restart": float(ends.max()),
            "worst_restart": float(ends.min()),
            "spread": number(fit.model.spread),
            "restart_agreement": float(fit.model.restart_agreement.mean()),
            "iterations": fit.model.iterations,
            "converged": fit.model.converged,
        }
        rows.append(row | measures)
    return rows
