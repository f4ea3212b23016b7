"""Captions of every table and chart, once: pages, reports and files say the same.

To add a table or chart: describe it in `TABLES` or `FIGURES` of the module here that it belongs to (or of one of your
own, named in `_MODULES`). A report shows it in the section that it names, with nothing more to do.
tests/analysis/test_captions.py sees that each column of results/schema.COLUMNS and each chart of charts.CHARTS is
described.
"""

from typing import Any

from django.utils.translation import gettext_lazy as _

from . import behaviour, compared, fair, judged, planned, preferring, uplifting, written
from .describing import Column, Figure, Table, Words

__all__ = ["FIGURES", "SECTIONS", "TABLES", "Column", "Figure", "Table", "Words", "caption", "figure", "table"]

_MODULES = (written, behaviour, judged, compared, planned, fair, uplifting, preferring)

#: The sections of a report, in their order.
SECTIONS: dict[str, Words] = {
    "study": _("The study"),
    "writing": _("Writing"),
    "agreement": _("Agreement"),
    "labels": _("Competence and labels"),
    "grades": _("Grades"),
    "metrics": _("Reference-based metrics"),
    "models": _("Language models as judges"),
    "planning": _("Planning"),
    "fair": _("Fair ranking"),
    "uplift": _("Uplift"),
    "self_preference": _("Self-preference"),
}

TABLES: dict[str, Table] = {name: each for module in _MODULES for name, each in module.TABLES.items()}
FIGURES: dict[str, Figure] = {name: each for module in _MODULES for name, each in module.FIGURES.items()}


class _Told(dict[str, Any]):
    """Parameters to fill a caption with; one that a run did not have is a dash."""

    def __missing__(self, key: str) -> str:
        return "–"


def caption(text: Words, parameters: dict[str, Any]) -> str:
    """Return a caption with a run's parameters in it."""
    return str(text).format_map(_Told(parameters))


def table(name: str) -> Table:
    """Return what is said of a table; of one that nobody described, its name."""
    return TABLES.get(name) or Table("study", _plain(name), "", ())


def figure(name: str) -> Figure:
    """Return what is said of a chart; of one that nobody described, its name."""
    return FIGURES.get(name) or Figure("study", _plain(name), "", _plain(name))


def _plain(name: str) -> str:
    return name.replace("_", " ").capitalize()
