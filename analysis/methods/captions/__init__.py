"""Captions of every table and chart, once: pages, reports and files say the same.

To add a table or chart: describe it in `TABLES` or `FIGURES` of the module here that it belongs to (or of one of your
own, named in `_MODULES`). A report shows it in the section that it names, with nothing more to do.
tests/analysis/test_captions.py sees that each column of tables/schema.COLUMNS and each chart of charts.CHARTS
is described.
"""

from typing import Any

from django.utils.translation import gettext_lazy as _

from ...experiments.fair_rag import tables as fair_rag_captions
from ...experiments.self_preference import tables as self_preference_captions
from ...experiments.uplift_rag import tables as uplift_rag_captions
from ...planning import tables as planning_captions
from ...tables.table import Column, Figure, LazyText, Table
from . import judge_effects, judging, study, writing

__all__ = [
    "FIGURES",
    "SECTIONS",
    "TABLES",
    "Column",
    "Figure",
    "LazyText",
    "Table",
    "caption",
    "figure",
    "table",
]

_MODULES = (
    study,
    writing,
    judging,
    judge_effects,
    planning_captions,
    fair_rag_captions,
    uplift_rag_captions,
    self_preference_captions,
)

#: The sections of a report, in their order.
SECTIONS: dict[str, LazyText] = {
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


class _CaptionParameters(dict[str, Any]):
    """Parameters to fill a caption with; one that a run did not have is a dash."""

    def __missing__(self, key: str) -> str:
        return "–"


def caption(text: LazyText, parameters: dict[str, Any]) -> str:
    """Return a caption with a run's parameters in it."""
    return str(text).format_map(_CaptionParameters(parameters))


def table(name: str) -> Table:
    """Return what is said of a table; of one that nobody described, its name."""
    return TABLES.get(name) or Table("study", _plain(name), "", ())


def figure(name: str) -> Figure:
    """Return what is said of a chart; of one that nobody described, its name."""
    return FIGURES.get(name) or Figure("study", _plain(name), "", _plain(name))


def _plain(name: str) -> str:
    return name.replace("_", " ").capitalize()
