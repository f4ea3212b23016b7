"""What can be said of a table or chart of results: its title, caption, and how its columns read."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.functional import Promise

LazyText = str | Promise


@dataclass(frozen=True)
class Column:
    """A column as people read it.

    Attributes
    ----------
    key : str
        Its name in tables/schema.COLUMNS.
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
        surveys), "id" (ids, which pages shorten), or the words of each value.
    share : bool
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
    share: bool = False
    is_key: bool = False


@dataclass(frozen=True)
class Table:
    """A table as people read it.

    Attributes
    ----------
    section : str
        Where a report shows it: a key of `SECTIONS`. Within a section the order is that of the registry.
    title : str
        A few words.
    caption : str
        What the numbers are, of which judgments or texts, with which intervals. `{name}` stands for a parameter of the
        run.
    columns : tuple of Column
        In the order in which they are shown. Every column of the schema is one, or the low, high or n of one.
    whole : bool
        False for tables of thousands of rows: a report says their size and where they are, and prints no rows.
    across : tuple of str
        Columns whose values become columns where people read it: the layout of a paper. Files keep the long form.
    unprinted : tuple of str
        Columns that stand in the files alone.
    """

    section: str
    title: LazyText
    caption: LazyText
    columns: tuple[Column, ...]
    whole: bool = True
    across: tuple[str, ...] = ()
    unprinted: tuple[str, ...] = ()


@dataclass(frozen=True)
class Figure:
    """A chart as people read it.

    Attributes
    ----------
    section, title, caption : str
        As of a table.
    alt : str
        What one sees, in a sentence, for those who do not see it.
    """

    section: str
    title: LazyText
    caption: LazyText
    alt: LazyText


def estimate(key: str, label: LazyText, n: str = "", digits: int = 2) -> Column:
    """A number whose interval stands in `low` and `high`."""
    return Column(key, label, digits, low="low", high="high", n=n)


def named_estimate(key: str, label: LazyText, n: str = "", digits: int = 2) -> Column:
    """A number whose interval stands in `KEY_low` and `KEY_high`, in tables with several."""
    return Column(key, label, digits, low=f"{key}_low", high=f"{key}_high", n=n)


def count(key: str, label: LazyText) -> Column:
    """A whole number."""
    return Column(key, label, 0)
