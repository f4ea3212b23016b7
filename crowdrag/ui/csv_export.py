"""Tables for spreadsheets: CSV in which no text becomes a formula."""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any, Final

MEDIA_TYPE: Final = "text/csv; charset=utf-8"
# Characters that start a formula in a spreadsheet.
FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")


def to_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """Return rows as CSV in UTF-8; missing values are empty."""
    out = io.StringIO(newline="")
    writer = csv.writer(out)
    writer.writerow(columns)
    writer.writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue().encode()


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, str) and value.startswith(FORMULA_STARTS):
        return f"'{value}"
    return value
