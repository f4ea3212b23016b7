"""A report on a page, one section at a time; the report is cached for each state of its run."""

import hashlib
from dataclasses import replace
from typing import Any

from django.core.cache import cache
from django.utils.translation import get_language

from crowdrag import __version__
from crowdrag.jobs.models import Run

from ..tables.value_labels import ValueLabels
from . import bibliography, builder, services
from .types import Report

METHODS, PROVENANCE = "methods", "about"
#: Maximum number of rows of a table on a page; files have all rows.
ROWS_PRINTED = 25
KEPT_SECONDS = 3600


def context(run: Run, *, part: str) -> dict[str, Any]:
    """Return the context of a report's page.

    Parameters
    ----------
    part : str
        The key of a section, "methods" or "about"; anything else is the methods.
    """
    document = built(run)
    parts = [
        (METHODS, "Methods"),
        *((section.key, section.title) for section in document.shown_sections),
        (PROVENANCE, "Provenance"),
    ]
    chosen = part if part in dict(parts) else METHODS
    references = document.methods.references
    return {
        "report": document,
        "parts": parts,
        "part": chosen,
        "sections": [section for section in document.shown_sections if section.key == chosen],
        "methods": [bibliography.in_words(paragraph, references) for paragraph in document.methods.paragraphs],
        "references": [bibliography.listed(reference) for reference in references],
        "bibtex": bibliography.bibtex(references),
        "rows_printed": ROWS_PRINTED,
        "packed": services.packed(run),
        "packing": services.at_work(run),
    }


def built(run: Run) -> Report:
    """Return the report of a run without drawings, which have their own URLs.

    It is rebuilt only if the run's data became stale (rows may have been erased), or if labels or the code changed.
    """
    labels = hashlib.sha256(repr(ValueLabels.of(run.study)).encode()).hexdigest()
    since = run.stale_at.timestamp() if run.stale_at else ""
    key = f"report-{run.key}-{since}-{labels}-{__version__}-{get_language()}"
    report: Report | None = cache.get(key)
    if report is None:
        report = _without_drawings(builder.report(run))
        cache.set(key, report, KEPT_SECONDS)
    return report


def _without_drawings(report: Report) -> Report:
    return replace(
        report,
        sections=tuple(
            replace(section, charts=tuple(replace(chart, spec={}) for chart in section.charts))
            for section in report.sections
        ),
    )
