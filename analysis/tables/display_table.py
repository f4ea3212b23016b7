"""A table for display, as a value: labelled columns, rows in words, caption and notes."""

from collections.abc import Mapping
from dataclasses import dataclass

Value = str | int | float | bool | None


@dataclass(frozen=True)
class DisplayColumn:
    """A column: key, label, decimals (None: text), and the keys of its interval and n.

    `has_n`: n is shown with each number instead of in its own column. `is_key`: a number that identifies rows.
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
        By the keys of the columns, their bounds and n. Names are replaced by labels; undefined values are None, never
        NaN.
    size : int
        Number of rows of the table; `rows` is empty for large ones (`is_whole` false).
    notes : tuple of str
        Reasons why values are undefined: each reason once, with the values concerned.
    """

    name: str
    title: str
    caption: str
    columns: tuple[DisplayColumn, ...]
    rows: tuple[Mapping[str, Value], ...]
    size: int
    is_whole: bool = True
    notes: tuple[str, ...] = ()
