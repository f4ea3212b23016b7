"""The tables by name with their columns, fixed: scripts and papers read them (docs/results.md).

A row whose value is undefined carries null there and says why in one more column, `note`.
"""

from typing import Any

import numpy as np

Row = dict[str, Any]

NOTE = "note"
# fmt: off
COLUMNS: dict[str, tuple[str, ...]] = {
    "key_figures": ("name", "value", "low", "high", "n"),
    "agreement": ("dimension", "split", "coders", "alpha", "low", "high", "items", "judgments"),
    "competence": ("participant", "dimension", "spam_probability", "judgments"),
    "gold": ("response_a", "response_b", "dimension", "p_a", "p_n", "p_b", "label"),
    "grades": ("topic", "response", "dimension", "merit", "se", "grade"),
    "grade_means": ("dimension", "style", "origin", "mean", "low", "high", "n"),
    "agreement_means": ("split", "coders", "alpha", "low", "high", "dimensions"),
    "mace": (
        "dimension",
        "log_likelihood",
        "best_restart",
        "worst_restart",
        "spread",
        "restart_agreement",
        "iterations",
        "converged",
    ),
}
# fmt: on


def number(value: float | np.floating) -> float | None:
    """A number as a table holds it: None for NaN; never -0.0, which the database would not keep."""
    result = float(value)
    return None if np.isnan(result) else result + 0.0
