"""What could not be said, and why: each reason once, with what it is about."""

from collections.abc import Iterable, Mapping, Sequence

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from .. import captions
from ..results.schema import NOTE, Row

#: So many places are named; a wall of names says less than how many there are.
NAMED = 8

#: A reason, and what it is about.
Reasons = list[tuple[str, str]]


def of_row(row: Row) -> list[str]:
    """The reasons that a row gives."""
    return [reason for reason in str(row.get(NOTE) or "").split("; ") if reason]


def reasons(rows: Iterable[tuple[Row, str]]) -> Reasons:
    """Return the reasons of rows, given with how each row is called, in the order in which they come.

    Of a reason that all rows give no names are needed; of one that many give the first are named.
    """
    given = list(rows)
    about: dict[str, dict[str, None]] = {}
    times: dict[str, int] = {}
    for row, place in given:
        for reason in of_row(row):
            about.setdefault(reason, {})[place] = None
            times[reason] = times.get(reason, 0) + 1
    return [
        (reason, _("All rows.") if times[reason] == len(given) > 1 else enumerated(list(places)))
        for reason, places in about.items()
    ]


def by_table(found: Mapping[str, Sequence[Row]], names: Iterable[str]) -> Reasons:
    """Return the reasons that rows of tables give, with the title of each table and how many of its rows give it."""
    about: dict[str, list[str]] = {}
    for name in names:
        rows = found.get(name, ())
        for reason in dict.fromkeys(each for row in rows for each in of_row(row)):
            times = sum(reason in of_row(row) for row in rows)
            about.setdefault(reason, []).append(f"{captions.table(name).title} ({counted(times, len(rows))})")
    return [(reason, ", ".join(places)) for reason, places in sorted(about.items())]


def counted(times: int, rows: int) -> str:
    """How many of so many rows."""
    if times == rows:
        return _("all rows")
    return ngettext("%(times)s of %(rows)s row", "%(times)s of %(rows)s rows", rows) % {
        "times": f"{times:,}",
        "rows": f"{rows:,}",
    }


def enumerated(places: Sequence[str], named: int = NAMED, between: str = ", ") -> str:
    """The places, the first ones alone where they are many."""
    if len(places) <= named:
        return between.join(places)
    more = _("and %(n)s more") % {"n": f"{len(places) - named:,}"}
    return between.join([*places[:named], more])
