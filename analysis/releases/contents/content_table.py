"""A table of a release: its columns with their meanings, and its rows, which are read again on each iteration.

Formats depend on nothing else. Large tables may also be read by columns, one chunk at a time, which avoids an object
per row. Rows are streamed from one database snapshot (`inputs.snapshots.repeatable_read`), so memory does not depend on
the number of rows, and all formats see the same rows.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

# Types of values in Python, and so in every format:
#   text str, integer int (64 bits), number float (finite), boolean bool, time datetime in UTC, texts a list of str,
#   json any JSON value.
# None is only allowed if the column is nullable.
Type = Literal["text", "integer", "number", "boolean", "time", "json", "texts"]
Row = dict[str, Any]
# Consecutive rows as lists of values by column name; all lists have the same length.
Columns = dict[str, Sequence[Any]]

# Number of rows in memory at a time, in every format.
CHUNK = 2000


class BrokenTableError(ValueError):
    """The rows of a table do not match its columns."""


@dataclass(frozen=True)
class ContentColumn:
    """A column of a table.

    Attributes
    ----------
    refers_to
        `table.column` of this release that contains every value, or empty.
    is_free_text
        Whether people or models wrote the text, so that it must not be trusted.
    values
        All possible values, if there are few.
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
    """A table of a release.

    Attributes
    ----------
    name
        File name without suffix.
    meaning
        What a row represents.
    columns
        In order; every row has exactly these keys.
    rows
        Returns an iterator over the rows from the first one, always in the same order.
    key
        Columns that identify a row; empty if none do.
    columns_of_chunks
        Returns the same rows by columns, if that is faster.
    """

    name: str
    meaning: str
    columns: tuple[ContentColumn, ...]
    rows: Callable[[], Iterator[Row]]
    key: tuple[str, ...] = ()
    columns_of_chunks: Callable[[], Iterator[Columns]] | None = None

    def chunks(self) -> Iterator[Columns]:
        """Iterate over all rows from the first one, by columns, one chunk at a time.

        Raises
        ------
        BrokenTableError
            If the columns of a row differ from those of the table.
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
    """Return a function that iterates over the rows of a table that is read by columns."""

    def rows() -> Iterator[Row]:
        for columns in chunks():
            for values in zip(*columns.values(), strict=True):
                yield dict(zip(columns, values, strict=True))

    return rows
