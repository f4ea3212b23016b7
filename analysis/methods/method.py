"""Declaration of an analysis method: its computation, tables and figures, and the pages that show them.

Pages, navigation, reports, downloads and docs/reference/tables.md are generated from the list of methods
(`registry.METHODS`).
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
    """Paragraphs of the methods text, in order."""

    JUDGMENTS = "judgments"
    GRADES = "grades"
    WRITING = "writing"


@dataclass(frozen=True)
class Section:
    """A section of a report.

    Attributes
    ----------
    paragraph : Paragraph or None
        Paragraph of the methods text that holds its sentences.
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
#: Sections of a report, in order.
SECTIONS = (STUDY, WRITING, AGREEMENT, LABELS, GRADES, METRICS, MODELS)


@dataclass(frozen=True)
class Page:
    """A page of results.

    Attributes
    ----------
    order : int
        Position in the navigation.
    url_name, path : str
        URL name, and path below the URL of the study's results.
    template : str
    context : callable(Study, AnalysisState, query) -> dict
        Builds the template context; `query` is the query string of the request.
    needs_judgments : bool
        Whether the page is empty for an analysis without judgments.
    is_live : bool
        Whether it shows the latest update of the analysis, if there is one.
    audited : AuditedContent or None
        Name of an access in the audit log.
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
    """Tables that are computed together, from the inputs and the tables of the required methods.

    Attributes
    ----------
    name : str
        Name of its folder.
    title : str
        Title in progress messages and on the generic page.
    section : Section
        Report section of its tables and figures.
    compute : callable(Context) -> rows by table
        Deterministic given the seed; independent of the clock.
    tables, figures : tuple
    sentences : tuple of callable(RunFacts) -> str
        Sentences of the methods text about what a run did; empty if the run did not use the method.
    pages : tuple of Page
        Pages that show it; several methods may share a page. A method without pages gets a generic one that shows its
        tables and figures as reports do.
    needs : tuple of str
        Names of methods whose tables or fits it reads.
    reads_judgments : bool
        Whether it reads judgments or what is fitted to them. Other methods are computed while competences are fitted.
    reads_texts : bool
        Whether it reads texts, and therefore the database. Methods that do not may be computed in another process.
    is_live : bool
        Whether updates compute it too, as judgments come in. Such a method depends on judgments, needs no texts, and
        takes a small part of the time of an analysis.
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
    reads_judgments: bool = True
    reads_texts: bool = False
    is_live: bool = False
