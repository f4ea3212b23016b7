"""Reasons for undefined values, each given once, and notes on tables without intervals."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..tables.rows import NOTE, Row
from ..tables.table import get

#: Maximum number of places to list; beyond that, their number is more informative.
NAMED = 8

#: Reasons, and what they apply to.
Reasons = list[tuple[str, str]]


def reason_of(row: Row) -> list[str]:
    """Return the reasons given in a row."""
    return [reason for reason in str(row.get(NOTE) or "").split("; ") if reason]


def reasons(rows: Iterable[tuple[Row, str]]) -> Reasons:
    """Return the distinct reasons of labelled rows, in order of appearance.

    A reason that applies to all rows has no labels; one that applies to many lists the first labels.
    """
    named_rows = list(rows)
    about: dict[str, dict[str, None]] = {}
    times: dict[str, int] = {}
    for row, row_name in named_rows:
        for reason in reason_of(row):
            about.setdefault(reason, {})[row_name] = None
            times[reason] = times.get(reason, 0) + 1
    return [
        (reason, "All rows." if times[reason] == len(named_rows) > 1 else enumerated(list(places)))
        for reason, places in about.items()
    ]


def by_table(tables: Mapping[str, Sequence[Row]], names: Iterable[str]) -> Reasons:
    """Return the distinct reasons in tables, with the title of each table and its number of affected rows."""
    about: dict[str, list[str]] = {}
    for name in names:
        rows = tables.get(name, ())
        for reason in dict.fromkeys(reason_given for row in rows for reason_given in reason_of(row)):
            times = sum(reason in reason_of(row) for row in rows)
            about.setdefault(reason, []).append(f"{get(name).title} ({counted(times, len(rows))})")
    return [(reason, ", ".join(places)) for reason, places in sorted(about.items())]


def counted(times: int, rows: int) -> str:
    """Say how many of the rows are affected."""
    if times == rows:
        return "all rows"
    return ("%(times)s of %(rows)s row" if rows == 1 else "%(times)s of %(rows)s rows") % {
        "times": f"{times:,}",
        "rows": f"{rows:,}",
    }


def enumerated(places: Sequence[str], named: int = NAMED, between: str = ", ") -> str:
    """List the places; only the first ones if there are many."""
    if len(places) <= named:
        return between.join(places)
    more = "and {n} more".format(n=f"{len(places) - named:,}")
    return between.join([*places[:named], more])


NO_INTERVALS_NOTE = "note"
#: Text that marks a caption that promises intervals, in all languages.
PROMISE = "95 %"


def without_intervals(tables: Mapping[str, Iterable[Mapping[str, Any]]]) -> dict[str, str]:
    """Return notes for the captions of tables that have numbers but no interval.

    Parameters
    ----------
    tables : mapping of str to iterable of mapping
        Rows by table. Tables without numbers are left out.
    """
    return {name: note for name, rows in tables.items() if (note := _interval_note(name, list(rows)))}


def with_interval_note(caption: str, names: Iterable[str], without: Mapping[str, str]) -> str:
    """Return a caption of tables; if it promises intervals that are missing, add the reason."""
    note = next((without[name] for name in names if name in without), "")
    return f"{caption} {note}" if note and PROMISE in caption else caption


def _interval_note(name: str, rows: list[Mapping[str, Any]]) -> str:
    estimates = [column for column in get(name).columns if column.low]
    stand = [row for row in rows if any(row.get(column.key) is not None for column in estimates)]
    if not stand or any(row.get(column.low) is not None for row in stand for column in estimates):
        return ""
    notes = dict.fromkeys(row[NO_INTERVALS_NOTE] for row in stand if row.get(NO_INTERVALS_NOTE))
    if len(notes) != 1:
        return "The intervals are missing here."
    return "The intervals are missing here: {reason}.".format(reason=next(iter(notes)).removeprefix("no interval: "))
