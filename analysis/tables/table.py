"""Declarations of result tables: columns, labels, and what erasures and releases must know.

Everything about a table is declared once: files, pages, reports, LaTeX, releases and docs/reference/tables.md are
generated from it. Methods and experiments declare their tables in `tables.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from django.utils.functional import Promise

LazyText = str | Promise

#: Kinds of IDs in a column, for its `words`; "id" for others.
PARTICIPANT, RESPONSE, TOPIC = "participant", "response", "topic"
IDS = frozenset({PARTICIPANT, RESPONSE, TOPIC, "id"})


class Holds(Enum):
    """What the rows of a table contain about people.

    NUMBERS: nothing. PSEUDONYMS: rows name participants or responses. WRITING: a row describes how one response was
    written, and is deleted with it. TEXTS: texts, or answers derived from them, without their authors.
    """

    NUMBERS = "numbers"
    PSEUDONYMS = "pseudonyms"
    WRITING = "writing"
    TEXTS = "texts"


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    key : str
        Its name in rows and files.
    label : str
        Heading.
    digits : int or None
        Decimals of its numbers, 0 for counts; None for text.
    low, high : str
        Columns with the bounds of its interval, which are shown together with it.
    n : str
        Column with n, the number of observations, which may also be shown separately.
    words : str or mapping
        How to label its values: "dimension", "style", "origin", "sides" (two styles or origins), "figure" (of key
        figures), "question" and "answer" (of surveys), one of `IDS` (ids, which pages shorten), or the
        words of each value.
    is_share : bool
        Whether it is a share, shown in per cent.
    is_key : bool
        Whether it identifies rows although it is a number (such as a statement's index). Text columns before the first
        number always do.
    """

    key: str
    label: LazyText
    digits: int | None = None
    low: str = ""
    high: str = ""
    n: str = ""
    words: str | Mapping[str, LazyText] = ""
    is_share: bool = False
    is_key: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Names in files: its own, and those of its bounds."""
        return tuple(name for name in (self.key, self.low, self.high) if name)


@dataclass(frozen=True)
class Table:
    """A table of results.

    Attributes
    ----------
    name : str
        Name in files, URLs and scripts.
    title : str
        A few words.
    caption : str
        Meaning of the numbers, the judgments or texts used, and the intervals. `{name}` is replaced by a parameter of
        the run.
    columns : tuple of Column
        In the order of pages and files.
    holds : Holds
        What the rows contain about people.
    about : str
        Meaning of a row and reference to the method, for docs/reference/tables.md (Markdown, English).
    meanings : mapping of str to str
        Meanings of columns beyond their labels, by one name or several separated by commas (Markdown, English).
    is_whole : bool
        False for tables with thousands of rows: a report gives their size and location, without rows.
    across : tuple of str
        Columns whose values become columns for readers, as in a paper. Files have the long form.
    unprinted : tuple of str
        Columns that are only in files.
    """

    name: str
    title: LazyText
    caption: LazyText
    columns: tuple[Column, ...]
    holds: Holds = Holds.NUMBERS
    about: str = ""
    meanings: Mapping[str, str] = field(default_factory=dict)
    is_whole: bool = True
    across: tuple[str, ...] = ()
    unprinted: tuple[str, ...] = ()

    @property
    def column_names(self) -> tuple[str, ...]:
        """All columns of its files in order, without `note`."""
        return tuple(dict.fromkeys(name for column in self.columns for name in column.names))

    def columns_of(self, words: str) -> tuple[str, ...]:
        """Return the names of the columns with values of one kind: `table.columns_of(RESPONSE)`."""
        return tuple(column.key for column in self.columns if column.words == words)


def estimate(key: str, label: LazyText, n: str = "", digits: int = 2) -> Column:
    """Return a column of numbers with the interval in `low` and `high`."""
    return Column(key, label, digits, low="low", high="high", n=n)


def named_estimate(key: str, label: LazyText, n: str = "", digits: int = 2) -> Column:
    """Return a column of numbers with the interval in `KEY_low` and `KEY_high`, for tables with several."""
    return Column(key, label, digits, low=f"{key}_low", high=f"{key}_high", n=n)


def count(key: str, label: LazyText) -> Column:
    """Return a column of integers."""
    return Column(key, label, 0)


#: All tables by name, in the order of lists.
TABLES: dict[str, Table] = {}


def register(tables: Iterable[Table]) -> None:
    """Register tables; called by the modules that compute them."""
    TABLES.update({table.name: table for table in tables})


def get(name: str) -> Table:
    """Return a table by its name; a table that is no longer declared has no columns."""
    return TABLES.get(name) or Table(name, name.replace("_", " ").capitalize(), "", ())


class _CaptionParameters(dict[str, Any]):
    """Parameters for filling in a caption; missing ones become a dash."""

    def __missing__(self, key: str) -> str:
        return "–"


def fill(caption: LazyText, parameters: Mapping[str, Any]) -> str:
    """Fill the parameters of a run in a caption."""
    return str(caption).format_map(_CaptionParameters(parameters))
