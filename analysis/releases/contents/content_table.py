"""A table of a release: what its columns mean, and its rows, read anew each time that they are asked for.

This is all that a format needs to know. A large table may be read by columns as well, a chunk at a time: the same
rows, without an object for each. Rows are streamed from the one snapshot of the database that the release is
read from (`corpus.consistent`), so a table of any length takes the same memory, and two formats see the same rows.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

# What a value is, in Python and so in every format:
#   text str, integer int (64 bits), number float (finite), boolean bool, time datetime in UTC, texts a list of str,
#   json whatever JSON holds.
# None where the column is nullable, and nowhere else.
Type = Literal["text", "integer", "number", "boolean", "time", "json", "texts"]
Row = dict[str, Any]
# Consecutive rows: the values of each column, by its name. All are equally long.
Columns = dict[str, Sequence[Any]]

# So many rows are in memory at a time, in every format.
CHUNK = 2000


class BrokenTableError(ValueError):
    """A table's rows are not what its columns say."""


@dataclass(frozen=True)
class ContentColumn:
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
class ContentTable:
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
    columns_of_chunks
        likewise the same rows by columns, if they are to be had faster so.
    """

    name: str
    meaning: str
    columns: tuple[ContentColumn, ...]
    rows: Callable[[], Iterator[Row]]
    key: tuple[str, ...] = ()
    columns_of_chunks: Callable[[], Iterator[Columns]] | None = None

    def chunks(self) -> Iterator[Columns]:
        """Read all rows from the first one, by columns, a chunk at a time.

        Raises
        ------
        BrokenTableError
            if a row has other columns than the table.
        """
        if self.columns_of_chunks is not None:
            yield from self.columns_of_chunks()
            return
        rows = self.rows()
        while chunk := list(islice(rows, CHUNK)):
            yield self._by_columns(chunk)

    def _by_columns(self, rows: list[Row]) -> Columns:
        names = [column.name for column in self.columns]
        for row in rows:
            if list(row) != names and sorted(row) != sorted(names):
                raise BrokenTableError(f"A row of {self.name} has the columns {sorted(row)}, not {sorted(names)}.")
        return {name: [row[name] for row in rows] for name in names}

    def column(self, name: str) -> ContentColumn:
        """Return a column by its name."""
        return next(column for column in self.columns if column.name == name)


def rows_of(chunks: Callable[[], Iterator[Columns]]) -> Callable[[], Iterator[Row]]:
    """Return how to read the rows of a table that is read by columns."""

    def rows() -> Iterator[Row]:
        for columns in chunks():
            for values in zip(*columns.values(), strict=True):
                yield dict(zip(columns, values, strict=True))

    return rows
