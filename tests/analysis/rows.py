"""Looking at rows of tables, and Krippendorff's alpha by another hand."""

from collections.abc import Iterable, Sequence
from typing import Any

import krippendorff
import numpy as np

Row = dict[str, Any]


def row_of(rows: Iterable[Row], **where: Any) -> Row:
    """The only row with these values."""
    found = [row for row in rows if all(row[name] == value for name, value in where.items())]
    assert len(found) == 1, found
    return found[0]


def package_alpha(units: Iterable[Sequence[str]], letters: str = "ANB") -> float:
    """Alpha by the krippendorff package, of the letters that each unit was given."""
    counts = np.array([[list(unit).count(letter) for letter in letters] for unit in units if len(unit) > 1])
    used = counts.sum(axis=0) > 0
    domain = np.arange(used.sum())
    return float(krippendorff.alpha(value_counts=counts[:, used], value_domain=domain, level_of_measurement="ordinal"))
