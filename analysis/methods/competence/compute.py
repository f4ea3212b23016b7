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
    rows = []
    for fit in fitted.fits:
        judged = np.bincount(fit.seen[1], minlength=len(fitted.pool.participants))
        for who in np.flatnonzero(judged).tolist():
            key = {"participant": fitted.pool.participants[who], "dimension": fit.dimension.name}
            spam = number(fit.spam_probability[who]) if fit.model else None
            row = key | {"spam_probability": spam, "judgments": int(judged[who])}
            rows.append(row if fit.model else row | {NOTE: fit.problem})
    return rows


def gold_rows(inputs: Inputs, fitted: Fitted) -> list[Row]:
    """Make one row for each presented pair and judged dimension: posterior and most probable label."""
    rows = []
    names = [response.name for response in inputs.responses]
    for fit in fitted.fits:
        if not fit.dimension.is_preference:
            continue
        judged = np.flatnonzero(fit.counts.sum(axis=1))
        posterior = None if fit.model is None else numbers(fit.posterior)
        labels = None if fit.model is None else gold(fit.posterior).tolist()
        for unit in judged.tolist():
            left, right = fitted.pool.units[unit][:2]
            row: Row = {"response_a": names[left], "response_b": names[right], "dimension": fit.dimension.name}
            if posterior is None or labels is None:
                rows.append(row | {"p_a": None, "p_n": None, "p_b": None, "label": None, NOTE: fit.problem})
                continue
            p_a, p_n, p_b = posterior[unit]
            rows.append(row | {"p_a": p_a, "p_n": p_n, "p_b": p_b, "label": LABELS[labels[unit]]})
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
