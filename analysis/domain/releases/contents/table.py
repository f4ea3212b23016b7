"""A table of a release: what its columns mean, and its rows, read anew each time that they are asked for.

This is all that a format needs to know. Rows are streamed from the one snapshot of the database that the release is
read from (`corpus.consistent`), so a table of any length takes the same memory, and two formats see the same rows.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

# What a value is, in Python and so in every format:
#   text str, integer int (64 bits), number float (finite), boolean bool, time datetime in UTC, texts a list of str,
#   json whatever JSON holds.
# None where the column is nullable, and nowhere else.
Type = Literal["text", "integer", "number", "boolean", "time", "json", "texts"]
Row = dict[str, Any]


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes
    ----------
    refers_to
        `table.column` of this release in which every value stands, or empty.
    is_free_text
        whether people or models wrote it: hostile until proven otherwise.
    values
        the only values that there are, where these are few.
    """

    name: str
    type: Type
    nullable: bool
    meaning: str
    refers_to: str = ""
    is_free_text: bool = False
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """One table.

    Attributes
    ----------
    name
        what a file of it is called, without ending.
    meaning
        what a row is.
    columns
        in their order; every row has exactly these keys.
    rows
        begins to read the rows from the first one, in an order that is the same each time.
    key
        the columns that name a row; empty where nothing does.
    """

    name: str
    meaning: str
    columns: tuple[Column, ...]
    rows: Callable[[], Iterator[Row]]
    key: tuple[str, ...] = ()

    def column(self, name: str) -> Column:
        """Return a column by its name."""
        return next(each for each in self.columns if each.name == name)
