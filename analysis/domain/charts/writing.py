"""How long responses are, what they cite where, and how easy they read (crowdrag25, Figures 1, 2, 4 and 5)."""

from collections import Counter
from typing import Any

from django.utils.translation import gettext

from ..captions.behaviour import EASES, LENGTHS, PASSAGES
from ..pages import words
from ..results.margins import ALL
from ..results.schema import Row
from .making import Labels, Spec, Tables, data, refuse_empty, spec

BOX = ("words", "statements", "cited_passages")
#: Reading ease is shown in classes of so many points; what lies beyond the ends is counted there.
EASE_STEP, EASE_FROM, EASE_TO = 5, -30, 100


def lengths(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Box plots of words, statements and cited passages, a panel for each."""
    import altair as alt

    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for row in tables["lengths"]:
        if row["measure"] in BOX and row["style"] != ALL and row["value"] is not None:
            found.setdefault((row["measure"], row["style"], row["origin"]), {})[row["statistic"]] = row["value"]
    shown = [
        {"measure": str(LENGTHS[measure]), "style": _style(labels, style), "origin": words.origin(origin)} | values
        for (measure, style, origin), values in found.items()
    ]
    refuse_empty(shown)
    origins, colour = _origins(tables["lengths"], colours)
    base = alt.Chart().encode(
        y=alt.Y("style:N", sort=list(dict.fromkeys(row["style"] for row in shown)), title=None),
        yOffset=alt.YOffset("origin:N", sort=origins),
        color=colour,
    )
    zero = alt.Scale(zero=True, nice=True)
    rule = base.mark_rule(strokeWidth=1.5).encode(x=alt.X("p05:Q", title=None, scale=zero), x2="p95:Q")
    box = base.mark_bar(size=13).encode(x=alt.X("lower_quartile:Q", title=None), x2="upper_quartile:Q")
    tick = base.mark_tick(thickness=2.5, size=13, color=colours["ground"]).encode(
        x="median:Q", color=alt.value(colours["ground"])
    )
    panel = (rule + box + tick).properties(width=205, height=alt.Step(20))
    column = alt.Column("measure:N", sort=[str(LENGTHS[name]) for name in BOX], title=None)
    return spec(panel.facet(column=column, data=data(shown)).resolve_scale(x="independent"))


def ranks(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Probability of being cited over rank, a panel for each style."""
    return _lines(
        tables["citation_ranks"], labels, colours, x="rank", y="probability", x_title=gettext("Rank"),
        y_title=gettext("Probability of being cited"),
    )  # fmt: skip


def density(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Density of citations over the text, a panel for each style."""
    rows = [row | {"middle": (row["start"] + row["end"]) / 2} for row in tables["citation_density"]]
    return _lines(
        rows, labels, colours, x="middle", y="density", x_title=gettext("Position in the text"),
        y_title=gettext("Density of citations"), even=1.0,
    )  # fmt: skip


def rank_medians(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Median ranks of cited and uncited passages, a panel for each style."""
    import altair as alt

    rows = [row for row in tables["citation_rank_medians"] if row["median_rank"] is not None]
    shown = [
        {
            "style": _style(labels, row["style"]),
            "origin": words.origin(row["origin"]),
            "passages": str(PASSAGES[row["passages"]]),
            "rank": row["median_rank"],
            "low": row["low"],
            "high": row["high"],
        }
        for row in rows
    ]
    refuse_empty(shown)
    origins, colour = _origins(rows, colours)
    base = alt.Chart().encode(y=alt.Y("origin:N", sort=origins, title=None), color=colour)
    rules = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=gettext("Median rank")), x2="high:Q")
    names = [str(name) for name in PASSAGES.values()]
    outlined = alt.Legend(symbolFillColor="transparent", symbolStrokeColor=colours["n"], symbolStrokeWidth=2)
    shapes = alt.Scale(domain=names, range=["circle", "square"])
    shape = alt.Shape("passages:N", scale=shapes, title=gettext("Passages"), legend=outlined)
    here = base.encode(x="rank:Q", shape=shape)
    filled = here.mark_point(filled=True, size=70, opacity=1).transform_filter(alt.datum.passages == names[0])
    hollow = here.mark_point(filled=False, size=70, opacity=1, strokeWidth=2)
    hollow = hollow.encode(fill=alt.value(colours["ground"])).transform_filter(alt.datum.passages == names[1])
    panel = (rules + filled + hollow).properties(width=150, height=alt.Step(24))
    styles = list(dict.fromkeys(row["style"] for row in shown))
    return spec(panel.facet(column=alt.Column("style:N", sort=styles, title=None), data=data(shown)))


def readability(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Distribution of reading ease of responses and of what they cite, a panel for each origin."""
    import altair as alt

    rows = tables["responses"]
    counts: dict[tuple[str, str], Counter[int]] = {}
    for row in rows:
        for name in ("flesch", "source_flesch"):
            if row[name] is not None:
                place = min(max(row[name], EASE_FROM), EASE_TO - 1e-9)
                counts.setdefault((row["origin"], name), Counter())[int((place - EASE_FROM) // EASE_STEP)] += 1
    shown = [
        {
            "origin": words.origin(origin),
            "text": str(EASES[name]),
            "ease": EASE_FROM + EASE_STEP * (place + 0.5),
            "share": of_class[place] / of_class.total(),
        }
        for (origin, name), of_class in counts.items()
        for place in range((EASE_TO - EASE_FROM) // EASE_STEP)
    ]
    refuse_empty(shown)
    names = [str(EASES[name]) for name in ("flesch", "source_flesch")]
    scale = alt.Scale(domain=names, range=[colours["a"], colours["b"]])
    base = alt.Chart().encode(
        x=alt.X(
            "ease:Q", title=gettext("Flesch reading ease"), scale=alt.Scale(domain=[EASE_FROM, EASE_TO], nice=False)
        ),
        y=alt.Y("share:Q", title=gettext("Share of responses"), axis=alt.Axis(format="~%", tickCount=4), stack=None),
    )
    text = alt.Color("text:N", scale=scale, title=None)
    areas = _areas(base, "text", text, opacity=0.18, interpolate="monotone")
    line = base.mark_line(interpolate="monotone").encode(
        color=text,
        strokeDash=alt.StrokeDash("text:N", scale=alt.Scale(domain=names, range=[[1, 0], [5, 3]]), title=None),
    )
    panel = alt.layer(*areas, line).properties(width=300, height=170)
    origins = [words.origin(name) for name in _named(rows)]
    return spec(panel.facet(column=alt.Column("origin:N", sort=origins, title=None), data=data(shown)))


def _lines(
    rows: list[Row],
    labels: Labels,
    colours: Spec,
    *,
    x: str,
    y: str,
    x_title: str,
    y_title: str,
    even: float | None = None,
) -> Spec:
    """A line with its interval for each origin, a panel for each style; a dashed rule where all would be even."""
    import altair as alt

    rows = [row for row in rows if row[y] is not None]
    shown = [
        {"style": _style(labels, row["style"]), "origin": words.origin(row["origin"])}
        | {"x": row[x], "y": row[y], "low": row["low"], "high": row["high"]}
        for row in rows
    ]
    refuse_empty(shown)
    origins, colour = _origins(rows, colours)
    base = alt.Chart().encode(x=alt.X("x:Q", title=x_title, axis=alt.Axis(tickCount=5)))
    limits: Spec = {"y": alt.Y("low:Q", title=y_title, axis=alt.Axis(tickCount=5)), "y2": "high:Q"}
    bands = _areas(base.encode(**limits), "origin", colour, opacity=0.2)
    dash = alt.StrokeDash(
        "origin:N",
        scale=alt.Scale(domain=origins, range=[[1, 0], [6, 3], [2, 2]][: len(origins)]),
        title=gettext("Written by"),
    )
    line = base.mark_line().encode(y="y:Q", color=colour, strokeDash=dash)
    layers = alt.layer(*bands, line)
    if even is not None:
        layers = alt.Chart().mark_rule(strokeDash=[3, 3]).encode(y=alt.datum(even)) + layers
    styles = list(dict.fromkeys(row["style"] for row in shown))
    panel = layers.properties(width=165, height=170)
    return spec(panel.facet(column=alt.Column("style:N", sort=styles, title=None), data=data(shown)))


def _areas(base: Any, field: str, colour: Any, **how: Any) -> list[Any]:
    """An area for each value of a field, in its colour. They are no part of the legend, which shows lines."""
    import altair as alt

    scale = colour.to_dict()["scale"]
    return [
        base.mark_area(color=shade, **how).transform_filter(alt.datum[field] == name)
        for name, shade in zip(scale["domain"], scale["range"], strict=True)
    ]


def _style(labels: Labels, name: str) -> str:
    return labels.styles.get(name, name)


def _named(rows: list[Row]) -> list[str]:
    return list(dict.fromkeys(row["origin"] for row in rows))


def _origins(rows: list[Row], colours: Spec) -> tuple[list[str], Any]:
    """The origins in words, and their colours."""
    import altair as alt

    names = _named(rows)
    domain = [words.origin(name) for name in names]
    scale = alt.Scale(domain=domain, range=[str(colours.get(name, colours["n"])) for name in names])
    return domain, alt.Color("origin:N", scale=scale, title=gettext("Written by"))
