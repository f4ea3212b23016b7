"""A table as it is shown, as a value: columns with their labels, rows in words, caption and notes."""

from collections.abc import Mapping
from dataclasses import dataclass

Value = str | int | float | bool | None


@dataclass(frozen=True)
class DisplayColumn:
    """A column: its key in the rows, its label, decimals (None: text), and the keys of its interval and its n.

    `has_n`: n has no column of its own and is said with each number. `is_key`: a number that tells rows apart.
    """

    key: str
    label: str
    digits: int | None = None
    low: str = ""
    high: str = ""
    n: str = ""
    is_share: bool = False
    is_id: bool = False
    is_key: bool = False
    has_n: bool = False


@dataclass(frozen=True)
class DisplayTable:
    """A table with its caption.

    Attributes
    ----------
    rows : tuple of dict
        By the keys of the columns, their bounds and n. Names stand in words; undefined values are None, never NaN.
    size : int
        How many rows the table has. Of large ones (`is_whole` false) `rows` holds none.
    notes : tuple of str
        Why some values are undefined: each reason once, with what it is about.
    """

    name: str
    title: str
    caption: str
    columns: tuple[DisplayColumn, ...]
    rows: tuple[Mapping[str, Value], ...]
    size: int
    is_whole: bool = True
    notes: tuple[str, ...] = ()
