"""What a result table is: its columns, what they are called, and what an erasure or a release must know of it.

Everything about a table is stated here once: files, pages, reports, LaTeX, releases and docs/reference/tables.md follow
from it. A method or an experiment declares its tables in its `tables.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from django.utils.functional import Promise

LazyText = str | Promise

#: What the ids in a column are of; `words` of a column names one of these, or "id" for others.
PARTICIPANT, RESPONSE, TOPIC = "participant", "response", "topic"
IDS = frozenset({PARTICIPANT, RESPONSE, TOPIC, "id"})


class Holds(Enum):
    """What a table's rows hold of people.

    NUMBERS: of nobody. PSEUDONYMS: rows name participants or responses. WRITING: a row says how one response was
    written, and goes with it. TEXTS: texts, or answers made of them, without saying whose.
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
        What stands at its head.
    digits : int or None
        Decimals of its numbers, 0 for counts; None for text.
    low, high : str
        The columns with the bounds of its interval; they are shown with it and have no column of their own.
    n : str
        The column with how many it is of. It may have a column of its own, too.
    words : str or mapping
        How to say its values: "dimension", "style", "origin", "figure" (of key figures), "question" and "answer" (of
        surveys), one of `IDS` (ids, which pages shorten), or the words of each value.
    is_share : bool
        Whether it is a share, said in per cent.
    is_key : bool
        Whether it tells rows apart though it is a number (a statement's place). Columns of text before the first number
        always do.
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
        """Its names in files: its own, and those of its bounds."""
        return tuple(name for name in (self.key, self.low, self.high) if name)


@dataclass(frozen=True)
class Table:
    """A table of results.

    Attributes
    ----------
    name : str
        As files, addresses and scripts call it.
    title : str
        A few words.
    caption : str
        What the numbers are, of which judgments or texts, with which intervals. `{name}` stands for a parameter of the
        run.
    columns : tuple of Column
        In the order in which they stand on pages and in files.
    holds : Holds
        What rows hold of people.
    about : str
        What one row is and where the method is described, for docs/reference/tables.md (Markdown, English).
    meanings : mapping of str to str
        What columns hold, beyond their labels: by one name, or several with commas between them (Markdown, English).
    is_whole : bool
        False for tables of thousands of rows: a report says their size and where they are, and prints no rows.
    across : tuple of str
        Columns whose values become columns where people read it: the layout of a paper. Files keep the long form.
    unprinted : tuple of str
        Columns that stand in the files alone.
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
        """All columns of its files in their order, `note` left out."""
        return tuple(dict.fromkeys(name for column in self.columns for name in column.names))

    def columns_of(self, words: str) -> tuple[str, ...]:
        """Return the names of the columns whose values are of one kind: `table.columns_of(RESPONSE)`."""
        return tuple(column.key for column in self.columns if column.words == words)


def estimate(key: str, label: LazyText, n: str = "", digits: int = 2) -> Column:
    """A number whose interval stands in `low` and `high`."""
    return Column(key, label, digits, low="low", high="high", n=n)


def named_estimate(key: str, label: LazyText, n: str = "", digits: int = 2) -> Column:
    """A number whose interval stands in `KEY_low` and `KEY_high`, in tables with several."""
    return Column(key, label, digits, low=f"{key}_low", high=f"{key}_high", n=n)


def count(key: str, label: LazyText) -> Column:
    """A whole number."""
    return Column(key, label, 0)


#: All tables by name, in the order in which lists name them.
TABLES: dict[str, Table] = {}


def register(tables: Iterable[Table]) -> None:
    """Make tables known; called by what computes them."""
    TABLES.update({table.name: table for table in tables})


def get(name: str) -> Table:
    """Return a table by its name; of one that nobody declared any more, one without columns."""
    return TABLES.get(name) or Table(name, name.replace("_", " ").capitalize(), "", ())


class _CaptionParameters(dict[str, Any]):
    """Parameters to fill a caption with; one that a run did not have is a dash."""

    def __missing__(self, key: str) -> str:
        return "–"


def fill(caption: LazyText, parameters: Mapping[str, Any]) -> str:
    """Return a caption with a run's parameters in it."""
    return str(caption).format_map(_CaptionParameters(parameters))
