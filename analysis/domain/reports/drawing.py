"""The charts of a report as SVG: drawn once, for HTML and PDF."""

import json
from functools import lru_cache

from .. import charts
from ..typesetting import pictures
from .shape import Chart


def svg(chart: Chart) -> str:
    """Draw a chart as SVG of shapes and text alone; its ids begin with its name."""
    return _drawn(json.dumps(chart.spec), chart.name, chart.alt)


@lru_cache(maxsize=64)
def _drawn(spec: str, name: str, alt: str) -> str:
    return pictures.clean(charts.draw(json.loads(spec), "svg").decode(), prefix=name, alt=alt)
