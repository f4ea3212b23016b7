"""Reports to test with: one of a small study, and one made of whatever texts."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from analysis.reports.types import About, Chart, Methods, Report, Section
from analysis.tables.display_table import DisplayColumn, DisplayTable

AT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


def bars(labels: Sequence[str]) -> dict[str, Any]:
    """A chart with these labels on its axis, and its first as its title."""
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "description": "Bars.",
        "title": labels[0],
        "data": {"values": [{"name": name, "value": place} for place, name in enumerate(labels)]},
        "mark": "bar",
        "encoding": {
            "y": {"field": "name", "type": "nominal"},
            "x": {"field": "value", "type": "quantitative"},
            "color": {"field": "name", "type": "nominal", "legend": {"symbolLimit": 0}},
        },
    }


def table(texts: Sequence[str], **options: Any) -> DisplayTable:
    """A table with these texts as names."""
    columns = (
        DisplayColumn("name", "Name"),
        DisplayColumn("value", "Value", 2, low="low", high="high", n="n"),
        DisplayColumn("n", "n", 0),
    )
    rows = tuple(
        {"name": text, "value": -place / 7, "low": -1.0, "high": 1.0, "n": 5} for place, text in enumerate(texts)
    )
    caption = options.pop("caption", "What it is.")
    return DisplayTable(
        "made", "Made", caption, columns, rows, len(rows), notes=tuple(f"{t}: too few" for t in texts), **options
    )


def report(texts: Sequence[str], *, labels: Sequence[str] = ("a", "b")) -> Report:
    """A report that holds these texts wherever a study's texts can stand."""
    about = About(
        study=texts[0],
        slug="study",
        run="6d2f5f9a-0000-4000-8000-000000000000",
        parameters=(("k", None), ("pool", "CROWD")),
        seed=0,
        inputs_digest="0" * 64,
        code_version="0.1.0",
        environment=(("python", "3.11"),),
        as_of=AT,
        finished_at=AT,
        is_simulated=False,
        stale=texts[0],
    )
    chart = Chart("made", "Made", "What it is.", "Bars.", bars(labels))
    return Report(
        title=f"{texts[0]}: analysis",
        about=about,
        methods=Methods((), ()),
        sections=(Section("study", "The study", (), (table(texts),), (chart,)),),
    )
