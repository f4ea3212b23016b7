"""Declarations of figures, and their rendering for pages, files and papers.

Methods and experiments declare their figures in `figures.py`. Altair creates Vega-Lite specifications, which are
rendered here as SVG, PNG or PDF.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.cache import cache

from crowdrag.jobs.models import Run
from crowdrag.studies.models import Study

from ..tables import run_tables, value_labels
from ..tables.table import LazyText
from ..tables.value_labels import Questions
from .renderer import MEDIA_TYPES, UnknownChartError, draw
from .vega_lite import SIZES, EmptyChartError, Labels, Spec, Tables, sized

__all__ = ["FIGURES", "SIZES", "EmptyChartError", "Figure", "Spec", "UnknownChartError"]

THEMES = ("light", "dark")
#: Increase when the style of charts changes, so that browsers load them again.
VERSION = 6


@dataclass(frozen=True)
class Figure:
    """A figure over one or more tables.

    Attributes
    ----------
    name : str
        Name in files and URLs.
    title, caption : str
        As for a table.
    alt : str
        Text alternative: what the figure shows, in one sentence.
    tables : tuple of str
        The tables with its data.
    draw : callable(rows by table, names in words, the theme's colours, the run's parameters) -> Vega-Lite specification
        Raises `EmptyChartError` if there is nothing to show.
    """

    name: str
    title: LazyText
    caption: LazyText
    alt: LazyText
    tables: tuple[str, ...]
    draw: Callable[[Tables, Labels, Spec, Spec], Spec]


#: All figures by name, in the order of lists.
FIGURES: dict[str, Figure] = {}


def register(figures: Iterable[Figure]) -> None:
    """Register figures; called by the modules that compute their tables."""
    FIGURES.update({figure.name: figure for figure in figures})


def specification(study: Study, run: Run, name: str, theme: str = "light", size: str = "paper") -> Spec:
    """Return a chart of a run as a Vega-Lite specification.

    Raises
    ------
    UnknownChartError
        If there is no such chart or theme.
    EmptyChartError
        If the run has no data for it.
    """
    if name not in FIGURES or theme not in THEMES:
        raise UnknownChartError(f"There is no chart {name!r} in the theme {theme!r}. Charts: {', '.join(FIGURES)}.")
    return specification_of_rows(study, name, theme, run_tables.read(run, *FIGURES[name].tables), run.parameters, size)


def specifications(run: Run, names: Iterable[str] | None = None) -> Iterator[tuple[str, Spec]]:
    """Yield every chart (or those of these names) that the run has data for; tables are read once for all."""
    figures = list(FIGURES.values()) if names is None else [FIGURES[name] for name in names]
    rows = run_tables.read(run, *dict.fromkeys(table for figure in figures for table in figure.tables))
    labels = _labels(run.study, rows)
    for figure in figures:
        tables = {table: rows[table] for table in figure.tables}
        try:
            yield figure.name, _draw(figure.name, "light", tables, run.parameters, labels)
        except EmptyChartError:
            continue


def has_something(run: Run, figure: Figure) -> bool:
    """Return whether a run has data for a figure."""
    try:
        specification(run.study, run, figure.name)
    except EmptyChartError:
        return False
    return True


def with_data(run: Run, names: Sequence[str]) -> set[str]:
    """Return those of the figures that the run has data for; their tables are read once. Cached for an hour."""
    since = run.stale_at.timestamp() if run.stale_at else ""  # rows may have been erased at that time
    key = f"figures-with-data-{run.key}-{'-'.join(names)}-{VERSION}-{since}"
    drawn = cache.get_or_set(key, lambda: [name for name, _spec in specifications(run, names)], 3600)
    return set(drawn or ())


def specification_of_rows(
    study: Study, name: str, theme: str, rows: Tables, parameters: Spec, size: str = "paper"
) -> Spec:
    """Return a chart of rows that need not be stored yet; raise `EmptyChartError` like `specification`."""
    return sized(_draw(name, theme, rows, parameters, _labels(study, rows)), size)


def _labels(study: Study, rows: Tables) -> Labels:
    questions = Questions.of(study) if "survey" in rows else Questions()
    return Labels(value_labels.dimensions(study), value_labels.styles(study), questions)


def _draw(name: str, theme: str, rows: Tables, parameters: Spec, labels: Labels) -> Spec:
    look = _looks()
    colours = look["categories"][theme] | {"ground": look[theme]["background"]}
    chart = FIGURES[name].draw(rows, labels, colours, parameters)
    return chart | {"description": str(FIGURES[name].alt), "config": look[theme]}


def is_known(name: str, theme: str, form: str, size: str = "paper") -> bool:
    """Return whether this chart, theme, format and size exist."""
    return name in FIGURES and theme in THEMES and form in MEDIA_TYPES and size in SIZES


def render(study: Study, run: Run, name: str, theme: str, form: str, size: str = "paper") -> bytes:
    """Render a chart of a run; raises like `specification` and `draw`."""
    return draw(specification(study, run, name, theme, size), form)


@lru_cache(maxsize=1)
def _looks() -> dict[str, Any]:
    """Return the style of charts, from the same design tokens as the pages (docs/ui.md)."""
    look: dict[str, Any] = json.loads(Path(settings.BASE_DIR, "static", "charts", "theme.json").read_text())
    return look
