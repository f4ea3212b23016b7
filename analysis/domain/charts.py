"""Charts as Vega-Lite specifications made by Altair, drawn here as SVG or PNG: the same for page, file and paper."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.translation import gettext

from analysis.enums import Coders, Split
from crowdrag.runs.models import Run
from crowdrag.studies.models import Study

from . import tables
from .pages import words
from .results.schema import Row

THEMES = ("light", "dark")
MEDIA_TYPES = {"svg": "image/svg+xml", "png": "image/png", "json": "application/json"}
BINS = 20
VEGA_LITE = "6.4"
#: Counted up when charts come to look otherwise, so that browsers fetch them again.
DRAWING = 1

Spec = dict[str, Any]


@dataclass(frozen=True)
class Labels:
    """Names in words."""

    dimensions: dict[str, str]
    styles: dict[str, str]

    def dimension(self, row: Row) -> str:
        """Return the label of a row's dimension."""
        return self.dimensions.get(row["dimension"], str(row["dimension"]))


class UnknownChartError(LookupError):
    """There is no chart of this name, format or theme."""


class EmptyChartError(LookupError):
    """The run holds nothing that this chart could show."""


def specification(study: Study, run: Run, name: str, theme: str = "light") -> Spec:
    """Return a chart of a run as a Vega-Lite specification.

    Raises
    ------
    UnknownChartError
        If there is no such chart or theme.
    EmptyChartError
        If the run holds nothing that it could show.
    """
    if name not in CHARTS or theme not in THEMES:
        raise UnknownChartError(f"There is no chart {name!r} in a theme {theme!r}; there are {', '.join(CHARTS)}.")
    table, make = CHARTS[name]
    rows = tables.read(run, table)[table]
    look = _looks()
    labels = Labels(words.dimensions(study), words.styles(study))
    spec = make(rows, labels, look["categories"][theme], run.parameters)
    return spec | {"config": look[theme]}


def is_known(name: str, theme: str, form: str) -> bool:
    """Say whether there is such a chart in such a theme and format."""
    return name in CHARTS and theme in THEMES and form in MEDIA_TYPES


def chart(study: Study, run: Run, name: str, theme: str, form: str) -> bytes:
    """Return a chart of a run, drawn; raises as `specification` and `draw` do."""
    return draw(specification(study, run, name, theme), form)


def draw(spec: Spec, form: str) -> bytes:
    """Draw a specification as "svg" or "png", or write it as "json".

    Raises
    ------
    UnknownChartError
        If there is no such format.
    """
    import vl_convert  # starts a JavaScript engine: only those who draw pay for it

    if form == "svg":
        return vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE).encode()
    if form == "png":
        return vl_convert.vegalite_to_png(spec, vl_version=VEGA_LITE, scale=2)
    if form == "json":
        return json.dumps(spec, ensure_ascii=False, indent=1).encode()
    raise UnknownChartError(f"There is no chart as {form!r}; there are {', '.join(MEDIA_TYPES)}.")


@lru_cache(maxsize=1)
def _looks() -> dict[str, Any]:
    """The looks of charts, made of the same tokens as the pages (docs/face.md)."""
    look: dict[str, Any] = json.loads(Path(settings.BASE_DIR, "static", "charts", "theme.json").read_text())
    return look


def _agreement(rows: list[Row], labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Alpha with its interval by dimension, one colour for each kind of coders, one panel for each split."""
    import altair as alt

    shown = [
        {
            "dimension": labels.dimension(row),
            "split": str(Split(row["split"]).label),
            "coders": str(Coders(row["coders"]).label),
            "alpha": row["alpha"],
            "low": row["low"],
            "high": row["high"],
        }
        for row in rows
        if row["alpha"] is not None and row["coders"] in {"crowd", "corrected", "expert", "model"}
    ]
    _refuse_empty(shown)
    order = list(dict.fromkeys(row["dimension"] for row in shown))
    coders = [str(each.label) for each in Coders if any(row["coders"] == each.label for row in shown)]
    splits = [str(each.label) for each in Split if any(row["split"] == each.label for row in shown)]
    palette = [colours["b"], colours["a"], colours["system"], colours["n"]][: len(coders)]
    scale = alt.Scale(domain=coders, range=palette)
    base = alt.Chart().encode(
        y=alt.Y("dimension:N", sort=order, title=None),
        yOffset=alt.YOffset("coders:N", sort=coders),
        color=alt.Color("coders:N", scale=scale, title="Judges"),
    )
    axis = alt.Axis(tickCount=4, labelFlush=False)
    rules = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title="Krippendorff's alpha", axis=axis), x2="high:Q")
    shape = alt.Shape("coders:N", scale=alt.Scale(domain=coders), title="Judges")
    points = base.mark_point(filled=True, opacity=1, size=55).encode(x="alpha:Q", shape=shape)
    zero = alt.Chart().mark_rule(strokeDash=[3, 3]).encode(x=alt.datum(0))
    panel = (zero + rules + points).properties(width=205, height=alt.Step(14))
    return _spec(panel.facet(column=alt.Column("split:N", sort=splits, title=None), data=_data(shown)))


def _data(rows: list[Any]) -> Any:
    import altair as alt

    return alt.InlineData(values=rows)


def _spec(chart: Any) -> Spec:
    spec: Spec = chart.to_dict()
    # Drawn with the fonts of this machine, read with those of the reader's: room for labels that come out wider.
    return spec | {"padding": {"left": 30, "right": 40, "top": 4, "bottom": 4}}


def _refuse_empty(rows: list[Any]) -> None:
    if not rows:
        raise EmptyChartError("This run holds nothing that the chart could show.")


def _competence(rows: list[Row], labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """How many participants have which spam probability, by dimension; the corrected crowd's limit as a line."""
    import altair as alt

    known = [row for row in rows if row["spam_probability"] is not None]
    _refuse_empty(known)
    counts: dict[tuple[str, int], int] = {}
    for row in known:
        place = min(int(row["spam_probability"] * BINS), BINS - 1)
        key = (labels.dimension(row), place)
        counts[key] = counts.get(key, 0) + 1
    order = list(dict.fromkeys(labels.dimension(row) for row in known))
    shown = [
        {"dimension": name, "from": place / BINS, "to": (place + 1) / BINS, "participants": n}
        for (name, place), n in sorted(counts.items(), key=lambda item: (order.index(item[0][0]), item[0][1]))
    ]
    bars = alt.Chart().mark_bar(binSpacing=1).encode(
        x=alt.X("from:Q", bin="binned", title="Spam probability", scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(values=[0, 0.5, 1])),
        x2="to:Q",
        y=alt.Y("participants:Q", title="Participants", axis=alt.Axis(tickCount=3)),
    )  # fmt: skip
    limit = alt.Chart().mark_rule(strokeDash=[4, 3], strokeWidth=1.5, color=colours["b"])
    limit = limit.encode(x=alt.datum(parameters.get("spam_threshold", 0.7)))
    facet = alt.Facet("dimension:N", sort=order, title=None)
    panel = (bars + limit).properties(width=140, height=90)
    return _spec(panel.facet(facet, columns=4, data=_data(shown)))


def _grades(rows: list[Row], labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Mean grade with its interval by dimension, one colour for each origin, one panel for each style."""
    import altair as alt

    named = {row["dimension"]: labels.dimension(row) for row in rows}
    named[words.ALL] = gettext("All dimensions")
    shown = [
        {
            "dimension": named[row["dimension"]],
            "style": labels.styles.get(row["style"], row["style"]),
            "origin": words.origin(row["origin"]),
            "mean": row["mean"],
            "low": row["low"],
            "high": row["high"],
        }
        for row in rows
        if row["origin"] != words.ALL
    ]  # fmt: skip
    _refuse_empty(shown)
    order = list(dict.fromkeys(row["dimension"] for row in shown))
    styles = list(dict.fromkeys(row["style"] for row in shown))
    origins = list(dict.fromkeys(row["origin"] for row in rows if row["origin"] != words.ALL))
    domain = [words.origin(name) for name in origins]
    palette = [colours[name] for name in origins]
    base = alt.Chart().encode(
        y=alt.Y("dimension:N", sort=order, title=None),
        yOffset=alt.YOffset("origin:N", sort=domain),
        color=alt.Color("origin:N", scale=alt.Scale(domain=domain, range=palette), title="Written by"),
    )
    scale = alt.Scale(zero=False)
    rules = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title="Mean grade", scale=scale), x2="high:Q")
    shape = alt.Shape("origin:N", scale=alt.Scale(domain=domain), title="Written by")
    points = base.mark_point(filled=True, opacity=1, size=55).encode(x=alt.X("mean:Q", scale=scale), shape=shape)
    panel = (rules + points).properties(width=160, height=alt.Step(14))
    return _spec(panel.facet(column=alt.Column("style:N", sort=styles, title=None), data=_data(shown)))


#: Name of the chart: the table that it shows, and how.
CHARTS: dict[str, tuple[str, Callable[[list[Row], Labels, Spec, Spec], Spec]]] = {
    "agreement": ("agreement", _agreement),
    "competence": ("competence", _competence),
    "grades": ("grade_means", _grades),
}
