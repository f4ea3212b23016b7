"""Stored rows of tables: plain numbers, or None if undefined with the reason in the column `note`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Row = dict[str, Any]

NOTE = "note"


def number(value: float | np.floating) -> float | None:
    """Return a number for storage: None for NaN, and 0.0 for -0.0, which the database would not preserve."""
    result = float(value)
    return None if np.isnan(result) else result + 0.0


def numbers(values: NDArray[np.floating]) -> list[list[float | None]]:
    """Apply `number` to a matrix."""
    rows: list[list[float | None]] = (values + 0.0).tolist()
    return [[number(value) for value in row] for row in rows] if np.isnan(values).any() else rows  # type: ignore[arg-type]
