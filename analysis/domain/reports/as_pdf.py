"""A report, or one chart, as PDF, set by Typst (docs/adr/0018-reports.md).

Texts go in as data and are never read as markup. What makes the file depends on the report alone: its time is the
run's. Fonts are those that Typst brings; for letters that they lack (Arabic, Chinese, emoji), those of this machine. A
letter that no font here can draw is named by its number, `[U+4E2D]`, never left out; HTML, CSV and JSON hold it as it
is.
"""

import json
import re
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings

from . import citing, pictures
from .cells import cells, code, visible
from .shape import Chart, Report, Table

#: For archives (PDF/A-2a) and for screen readers (PDF/UA): every letter must have a glyph, every picture a text.
STANDARDS = ["a-2a", "ua-1"]
FONTS = ["Libertinus Serif"]
#: A vertical pixel of a chart as the theme draws it, in millimetres on paper: 12 px letters come out at 8 points.
MILLIMETRES = 0.235
#: Longer words may break after so many letters, so that an id does not push a table off the page.
LONGEST_WORD = 14
_MISSING = re.compile(r"the text `\"(.*?)\"` could not be displayed", re.DOTALL)
_ESCAPED = re.compile(r"\\u\{([0-9a-f]+)\}")
_WORD = re.compile(rf"\S{{{LONGEST_WORD + 1},}}")
_ATTEMPTS = 20
_CHART = b"""
#let chart = json(bytes(sys.inputs.report))
#set document(title: chart.title, date: datetime(year: 2000, month: 1, day: 1))
#set page(width: auto, height: auto, margin: 0pt)
#set text(lang: "en", font: chart.fonts)
#image(bytes(chart.svg), format: "svg", alt: chart.alt)
"""


def write(report: Report) -> bytes:
    """Write a report as PDF; the same report gives the same bytes on a machine with the same fonts."""
    finished = report.about.finished_at or report.about.as_of
    return _set(_source(), _data(report), at=finished)


def draw(chart: Chart) -> bytes:
    """Draw one chart as PDF, as large as it is."""
    about = {"title": chart.title, "alt": chart.alt, "svg": pictures.draw(chart), "fonts": FONTS}
    return _set(_CHART, about, at=datetime(2000, 1, 1, tzinfo=UTC))


def _set(source: bytes, data: dict[str, Any], *, at: datetime) -> bytes:
    """Set a document; letters that no font has are replaced by their numbers."""
    import typst  # only those who write a PDF load it

    written = json.dumps(data, ensure_ascii=False)
    for _attempt in range(_ATTEMPTS):
        try:
            return bytes(
                typst.compile(
                    source,
                    format="pdf",
                    sys_inputs={"report": written},
                    timestamp=int(at.timestamp()),
                    pdf_standards=STANDARDS,
                )
            )
        except typst.TypstError as error:
            lacking = _undrawable(f"{error.message}\n{error.diagnostic}")
            if not lacking:
                raise
            written = "".join(code(each) if each in lacking else each for each in written)
    raise AssertionError("letters remain that cannot be drawn")  # each attempt takes at least one away


def _undrawable(said: str) -> set[str]:
    """Which letters Typst says that no font has."""
    texts = (_ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) for text in _MISSING.findall(said))
    return {letter for text in texts for letter in text if ord(letter) > 127}


@lru_cache(maxsize=1)
def _source() -> bytes:
    return Path(settings.BASE_DIR, "templates", "analysis", "report.typ").read_bytes()


def _data(report: Report) -> dict[str, Any]:
    """What the document is made of, as text."""
    about = report.about
    finished = about.finished_at or about.as_of
    references = report.methods.references
    return {
        "title": visible(report.title),
        "footer": f"{visible(about.study)} · {about.inputs_digest[:12]} · seed {about.seed}",
        "date": {"year": finished.year, "month": finished.month, "day": finished.day},
        "fonts": FONTS,
        "as_of": f"{about.as_of:%Y-%m-%d %H:%M}",
        "run": about.run,
        "simulated": about.is_simulated,
        "stale": visible(about.stale),
        "methods": [citing.in_words(each, references) for each in report.methods.paragraphs],
        "references": [citing.listed(each) for each in references],
        "sections": [
            {
                "title": section.title,
                "paragraphs": list(section.paragraphs),
                "charts": [_chart(chart) for chart in section.charts],
                "tables": [_table(table) for table in section.tables],
            }
            for section in report.sections
        ],
        "about": [
            ("inputs digest", breakable(about.inputs_digest)),
            ("code version", about.code_version),
            ("seed", str(about.seed)),
            *((name, "–" if value is None else breakable(str(value))) for name, value in about.parameters),
            *about.environment,
        ],
    }


def _chart(chart: Chart) -> dict[str, Any]:
    svg = pictures.draw(chart)
    width = re.search(r'\bwidth="([\d.]+)"', svg)
    return {
        "svg": svg,
        "alt": chart.alt,
        "caption": f"{chart.title}. {chart.caption}",
        "width": float(width[1]) * MILLIMETRES if width else 174.0,
    }


def _table(table: Table) -> dict[str, Any]:
    return {
        "name": table.name,
        "title": table.title,
        "caption": table.caption,
        "whole": table.is_whole,
        "size": f"{table.size:,}",
        "columns": [{"label": column.label, "number": column.digits is not None} for column in table.columns],
        "rows": [
            [
                {"text": breakable(each.text), "interval": each.interval, "number": each.is_number}
                for each in cells(table, row)
            ]
            for row in table.rows
        ],
        "notes": [breakable(visible(note)) for note in table.notes],
    }


def breakable(text: str) -> str:
    """Let words break that are longer than a column: an invisible space after every so many letters."""
    return _WORD.sub(lambda found: "\u200b".join(_pieces(found[0])), text)


def _pieces(word: str) -> list[str]:
    return [word[at : at + LONGEST_WORD] for at in range(0, len(word), LONGEST_WORD)]
