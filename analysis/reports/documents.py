"""A report as a self-contained HTML file, and as PDF (templates/analysis/reports/report.typ)."""

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.safestring import mark_safe

from .. import typesetter
from ..figures import renderer
from ..tables.cells import UNDEFINED, Cell, cells
from ..tables.display_table import DisplayTable
from ..typesetter import breakable, visible
from . import bibliography
from .types import Chart, Report


def draw_svg(chart: Chart) -> str:
    """Render a chart as SVG with shapes and text only; its IDs begin with its name."""
    svg = chart.svg or renderer.draw(dict(chart.spec), "svg").decode()
    return _cleaned(svg, chart.name, chart.alt)


@lru_cache(maxsize=64)
def _cleaned(svg: str, name: str, alt: str) -> str:
    return typesetter.clean_svg(svg, prefix=name, alt=alt)


def write_html(report: Report) -> bytes:
    """Render a report as HTML; the same report gives identical bytes."""
    return render_to_string("analysis/reports/file.html", html_context(report)).encode()


def html_context(report: Report) -> dict[str, object]:
    """Return the context of the HTML template."""
    # `pictures` builds the SVG from known elements and escapes texts.
    drawn = {chart.name: mark_safe(draw_svg(chart)) for chart in report.charts}  # noqa: S308
    return {
        "report": report,
        "title": visible(report.title),
        "drawn": drawn,
        "methods": [
            bibliography.in_words(paragraph, report.methods.references) for paragraph in report.methods.paragraphs
        ],
        "references": [bibliography.listed(reference) for reference in report.methods.references],
    }


#: Size of a chart pixel on paper in millimetres: 12-pixel text becomes 8 points.
MILLIMETRES = 0.235
WIDEST = 174.0
NO_BREAK = "\u00a0"


def write_pdf(report: Report) -> bytes:
    """Render a report as PDF; the same report gives identical bytes on machines with the same fonts."""
    return typesetter.compile_pdf(_source(), _data(report), at=report.about.finished_at or report.about.as_of)


@lru_cache(maxsize=1)
def _source() -> bytes:
    return Path(settings.BASE_DIR, "templates", "analysis", "reports", "report.typ").read_bytes()


def _data(report: Report) -> dict[str, Any]:
    """Return the data of the document as text."""
    about = report.about
    finished = about.finished_at or about.as_of
    references = report.methods.references
    return {
        "title": visible(report.title),
        "footer": f"{visible(about.study)} · {about.inputs_digest[:12]} · seed {about.seed}",
        "date": {"year": finished.year, "month": finished.month, "day": finished.day},
        "fonts": typesetter.FONTS,
        "as_of": f"{about.as_of:%Y-%m-%d %H:%M}",
        "run": about.run,
        "simulated": about.is_simulated,
        "stale": visible(about.stale),
        "methods": [bibliography.in_words(paragraph, references) for paragraph in report.methods.paragraphs],
        "references": [bibliography.listed(reference) for reference in references],
        "sections": [
            {
                "title": section.title,
                "paragraphs": list(section.paragraphs),
                "charts": [_chart(chart) for chart in section.charts],
                "tables": [_table(table) for table in section.tables if table.size],
            }
            for section in report.shown_sections
        ],
        "about": [
            ("inputs digest", breakable(about.inputs_digest)),
            ("code version", about.code_version),
            ("seed", str(about.seed)),
            *(
                (name, breakable(str(value)) if value not in {None, ""} else UNDEFINED)
                for name, value in about.parameters
            ),
            *about.environment,
        ],
    }


def _chart(chart: Chart) -> dict[str, Any]:
    svg = draw_svg(chart)
    width = re.search(r'\bwidth="([\d.]+)"', svg)
    return {
        "svg": svg,
        "alt": chart.alt,
        "caption": f"{chart.title}. {chart.caption}",
        "width": float(width[1]) * MILLIMETRES if width else WIDEST,
    }


def _table(table: DisplayTable) -> dict[str, Any]:
    return {
        "name": table.name,
        "title": table.title,
        "caption": table.caption,
        "whole": table.is_whole,
        "size": f"{table.size:,}",
        "columns": [{"label": column.label, "number": column.digits is not None} for column in table.columns],
        "rows": _rows(table),
        "notes": [breakable(visible(note)) for note in table.notes],
    }


def _rows(table: DisplayTable) -> list[list[dict[str, Any]]]:
    """Return the cells, each with whether it and all cells before it repeat the row above."""
    rows: list[list[dict[str, Any]]] = []
    above: list[str] = []
    for row in table.rows:
        written = cells(table, row)
        texts = [written_cell.text for written_cell in written]
        same = [texts[: column + 1] == above[: column + 1] for column in range(len(texts))]
        rows.append(
            [
                {
                    "text": breakable(written_cell.text),
                    "interval": _whole(written_cell),
                    "number": written_cell.is_number,
                    "again": again,
                }
                for written_cell, again in zip(written, same, strict=True)
            ]
        )
        above = texts
    return rows


def _whole(cell: Cell) -> str:
    """Return the interval and n of a cell; intervals do not break over lines."""
    return f"{cell.interval.replace(' ', NO_BREAK)} {cell.n}".strip()
