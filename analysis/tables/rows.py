"""Rows of tables as they are stored: plain numbers, None where undefined, and then why in one more column, `note`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Row = dict[str, Any]

NOTE = "note"


def number(value: float | np.floating) -> float | None:
    """A number as a table holds it: None for NaN; never -0.0, which the database would not keep."""
    result = float(value)
    return None if np.isnan(result) else result + 0.0


def numbers(values: NDArray[np.floating]) -> list[list[float | None]]:
    """The same of a table of numbers."""
    rows: list[list[float | None]] = (values + 0.0).tolist()
    return [[number(value) for value in row] for row in rows] if np.isnan(values).any() else rows  # type: ignore[arg-type]
