"""Captions promise intervals; where a run has none, they say so, and why."""

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext as _

from . import table

NOTE = "note"
#: What captions that promise intervals hold, in whatever language.
PROMISE = "95 %"


def without_intervals(found: Mapping[str, Iterable[Mapping[str, Any]]]) -> dict[str, str]:
    """Return of tables whose numbers stand without a single interval what a caption says of it.

    Parameters
    ----------
    found : mapping of str to iterable of mapping
        Rows by table. A table without a number has nothing that an interval could be of, and is left out.
    """
    return {name: said for name, rows in found.items() if (said := _said(name, list(rows)))}


def promised(caption: str, names: Iterable[str], without: Mapping[str, str]) -> str:
    """Return a caption of some tables, with what must be said of intervals that it promises and that are not there."""
    said = next((without[name] for name in names if name in without), "")
    return f"{caption} {said}" if said and PROMISE in caption else caption


def _said(name: str, rows: list[Mapping[str, Any]]) -> str:
    estimates = [column for column in table(name).columns if column.low]
    stand = [row for row in rows if any(row.get(column.key) is not None for column in estimates)]
    if not stand or any(row.get(column.low) is not None for row in stand for column in estimates):
        return ""
    notes = dict.fromkeys(row[NOTE] for row in stand if row.get(NOTE))
    if len(notes) != 1:
        return _("Here without intervals.")
    return _("Here without intervals: %(reason)s.") % {"reason": next(iter(notes)).removeprefix("no interval: ")}
