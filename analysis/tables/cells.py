"""Formatting of table values, identical on pages and in HTML, PDF and LaTeX."""

from collections.abc import Mapping
from dataclasses import dataclass

from ..typesetter import short, visible
from .display_table import DisplayColumn, DisplayTable, Value

UNDEFINED = "–"
MINUS = "\u2212"


@dataclass(frozen=True)
class Cell:
    """A formatted cell; `interval` and `n` are empty if missing, or if n has a column of its own."""

    text: str
    interval: str = ""
    n: str = ""
    is_number: bool = False
    is_undefined: bool = False

    def __str__(self) -> str:
        return " ".join(part for part in (self.text, self.interval, self.n) if part)


def cells(table: DisplayTable, row: Mapping[str, Value]) -> list[Cell]:
    """Return a row's cells in the order of the columns."""
    return [cell(column, row) for column in table.columns]


def cell(column: DisplayColumn, row: Mapping[str, Value]) -> Cell:
    """Format a value, with its interval if there is one."""
    is_number = column.digits is not None
    if column.key not in row:  # not applicable in this row
        return Cell("", is_number=is_number)
    value = row[column.key]
    if value is None:
        return Cell(UNDEFINED, is_number=is_number, is_undefined=True)
    if isinstance(value, bool):
        return Cell("yes" if value else "no")
    if isinstance(value, str):
        return Cell(short(visible(value)) if column.is_id else visible(value))
    digits = _digits(column, value)
    low, high = row.get(column.low), row.get(column.high)
    interval = ""
    if isinstance(low, int | float) and isinstance(high, int | float):
        digits = column.digits or 0
        interval = f"[{number(low, digits, column.is_share)}, {number(high, digits, column.is_share)}]"
    n = row.get(column.n) if column.has_n else None
    said_n = f"({number(n, 0)})" if isinstance(n, int | float) else ""
    return Cell(number(value, digits, column.is_share), interval, said_n, is_number=True)


def _digits(column: DisplayColumn, value: float) -> int:
    """Return the number of decimals: none for counts among means, and one for grades only if some are halves."""
    return 0 if isinstance(value, int) else column.digits or 0


def number(value: float, digits: int, is_share: bool = False) -> str:
    """Format a number with a real minus sign, without minus zero; p below 0.0001 is shown as such."""
    if is_share:
        return f"{number(value * 100, digits)}\u202f%"
    text = f"{abs(value):,.{digits}f}"
    is_zero = not any(digit in "123456789" for digit in text)
    if is_zero and value and digits >= 4:
        return f"<{10**-digits:.{digits}f}"
    return f"{MINUS}{text}" if value < 0 and not is_zero else text
