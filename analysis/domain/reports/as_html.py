"""A report as one HTML file that needs nothing else: styles inside, charts as inline SVG, no script, no request."""

from django.template.loader import render_to_string
from django.utils.safestring import mark_safe

from ..typesetting.characters import visible
from . import citing, drawing
from .shape import Report


def write(report: Report) -> bytes:
    """Write a report as HTML; the same report gives the same bytes."""
    return render_to_string("analysis/report_file.html", context(report)).encode()


def context(report: Report) -> dict[str, object]:
    """Return what the file's template shows."""
    # What `pictures` keeps is built of known elements, its texts escaped.
    drawn = {chart.name: mark_safe(drawing.svg(chart)) for chart in report.charts}  # noqa: S308
    return {
        "report": report,
        "title": visible(report.title),
        "drawn": drawn,
        "methods": [citing.in_words(each, report.methods.references) for each in report.methods.paragraphs],
        "references": [citing.listed(each) for each in report.methods.references],
    }
