"""What a method of analysis is, as a value: what it computes, which tables and figures come of it, and where they show.

Pages, navigation, reports, downloads and docs/reference/tables.md follow from the list of methods (`registry.METHODS`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from django.http import QueryDict

from crowdrag.studies.enums import AuditedContent
from crowdrag.studies.models import Study

from ..figures.figure import Figure
from ..tables.run_tables import AnalysisState
from ..tables.table import LazyText, Table
from .context import Context, Tables
from .run_facts import Sentence


class Paragraph(Enum):
    """The paragraphs of the methods text, in their order."""

    JUDGMENTS = "judgments"
    GRADES = "grades"
    WRITING = "writing"


@dataclass(frozen=True)
class Section:
    """A part of a report.

    Attributes
    ----------
    paragraph : Paragraph or None
        Where the sentences of its methods stand in the methods text.
    """

    key: str
    title: LazyText
    paragraph: Paragraph | None = None


STUDY = Section("study", "The study")
WRITING = Section("writing", "Writing", Paragraph.WRITING)
AGREEMENT = Section("agreement", "Agreement", Paragraph.JUDGMENTS)
LABELS = Section("labels", "Competence and labels", Paragraph.JUDGMENTS)
GRADES = Section("grades", "Grades", Paragraph.GRADES)
METRICS = Section("metrics", "Reference-based metrics", Paragraph.WRITING)
MODELS = Section("models", "Language models as judges", Paragraph.GRADES)
#: The sections of a report, in their order.
SECTIONS = (STUDY, WRITING, AGREEMENT, LABELS, GRADES, METRICS, MODELS)


@dataclass(frozen=True)
class Page:
    """A page of results.

    Attributes
    ----------
    order : int
        Where it stands in the navigation.
    url_name, path : str
        The name of its address, and the address below a study's results.
    template : str
    context : callable(Study, AnalysisState, query) -> dict
        What the template shows; `query` is what stands behind the question mark of the address.
    needs_judgments : bool
        Whether it shows nothing of an analysis without judgments.
    is_live : bool
        Whether it shows the latest update of the analysis, where there is one.
    audited : AuditedContent or None
        What an access to it is logged as.
    """

    order: int
    url_name: str
    path: str
    label: LazyText
    template: str
    context: Callable[[Study, AnalysisState, QueryDict], dict[str, Any]]
    needs_judgments: bool = False
    is_live: bool = False
    audited: AuditedContent | None = None


@dataclass(frozen=True)
class Method:
    """Tables that are computed together, from the inputs and from the tables of the methods that it needs.

    Attributes
    ----------
    name : str
        Its folder.
    title : str
        What the progress and the generic page call it.
    section : Section
        Where its tables and figures stand in reports.
    compute : callable(Context) -> rows by table
        No clock, no chance but the seed.
    tables, figures : tuple
    sentences : tuple of callable(RunFacts) -> str
        What a run did by this method, for the methods text; empty where it did not.
    pages : tuple of Page
        The pages that show it; several methods may share one. Without any, a page shows its tables and figures as
        reports do.
    needs : tuple of str
        Names of methods whose tables or fits it reads.
    is_live : bool
        Whether updates compute it too, as judgments come in: it follows from judgments, needs no texts, and takes a
        small part of what an analysis takes.
    """

    name: str
    title: LazyText
    section: Section
    compute: Callable[[Context], Tables]
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...] = ()
    sentences: tuple[Sentence, ...] = ()
    pages: tuple[Page, ...] = ()
    needs: tuple[str, ...] = ()
    is_live: bool = False
