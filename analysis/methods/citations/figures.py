"""Citations by passage rank and by text position (crowdrag25, Figures 2 and 4)."""

from ...figures.figure import Figure
from ...figures.vega_lite import (
    Labels,
    Spec,
    Tables,
    coloured_areas,
    data,
    origin_colours,
    refuse_empty,
    spec,
    style_label,
)
from ...tables import value_labels
from ...tables.rows import Row
from .tables import PASSAGES


def ranks(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Citation probability by rank, a panel for each style."""
    return _lines(
        tables["citation_ranks"], labels, colours, x="rank", y="probability", x_title="Rank",
        y_title="Probability of being cited",
    )  # fmt: skip


def density(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Citation density by text position, a panel for each style."""
    rows = [row | {"middle": (row["start"] + row["end"]) / 2} for row in tables["citation_density"]]
    return _lines(
        rows, labels, colours, x="middle", y="density", x_title="Position in the text",
        y_title="Density of citations", even=1.0,
    )  # fmt: skip


def rank_medians(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Median ranks of cited and uncited passages, a panel for each style."""
    import altair as alt

    rows = [row for row in tables["citation_rank_medians"] if row["median_rank"] is not None]
    shown = [
        {
            "style": style_label(labels, row["style"]),
            "origin": value_labels.origin(row["origin"]),
            "passages": str(PASSAGES[row["passages"]]),
            "rank": row["median_rank"],
            "low": row["low"],
            "high": row["high"],
        }
        for row in rows
    ]
    refuse_empty(shown)
    origins, colour = origin_colours(rows, colours)
    base = alt.Chart().encode(y=alt.Y("origin:N", sort=origins, title=None), color=colour)
    rules = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title="Median rank"), x2="high:Q")
    names = [str(name) for name in PASSAGES.values()]
    outlined = alt.Legend(symbolFillColor="transparent", symbolStrokeColor=colours["n"], symbolStrokeWidth=2)
    shapes = alt.Scale(domain=names, range=["circle", "square"])
    shape = alt.Shape("passages:N", scale=shapes, title="Passages", legend=outlined)
    here = base.encode(x="rank:Q", shape=shape)
    filled = here.mark_point(filled=True, size=70, opacity=1).transform_filter(alt.datum.passages == names[0])
    hollow = here.mark_point(filled=False, size=70, opacity=1, strokeWidth=2)
    hollow = hollow.encode(fill=alt.value(colours["ground"])).transform_filter(alt.datum.passages == names[1])
    panel = (rules + filled + hollow).properties(width=150, height=alt.Step(24))
    styles = list(dict.fromkeys(row["style"] for row in shown))
    return spec(panel.facet(column=alt.Column("style:N", sort=styles, title=None), data=data(shown)))


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
    """Line with interval for each origin, a panel for each style; a dashed line marks an even distribution."""
    import altair as alt

    rows = [row for row in rows if row[y] is not None]
    shown = [
        {"style": style_label(labels, row["style"]), "origin": value_labels.origin(row["origin"])}
        | {"x": row[x], "y": row[y], "low": row["low"], "high": row["high"]}
        for row in rows
    ]
    refuse_empty(shown)
    origins, colour = origin_colours(rows, colours)
    base = alt.Chart().encode(x=alt.X("x:Q", title=x_title, axis=alt.Axis(tickCount=5)))
    limits: Spec = {"y": alt.Y("low:Q", title=y_title, axis=alt.Axis(tickCount=5)), "y2": "high:Q"}
    bands = coloured_areas(base.encode(**limits), "origin", colour, opacity=0.2)
    dash = alt.StrokeDash(
        "origin:N",
        scale=alt.Scale(domain=origins, range=[[1, 0], [6, 3], [2, 2]][: len(origins)]),
        title="Written by",
    )
    line = base.mark_line().encode(y="y:Q", color=colour, strokeDash=dash)
    layers = alt.layer(*bands, line)
    if even is not None:
        layers = alt.Chart().mark_rule(strokeDash=[3, 3]).encode(y=alt.datum(even)) + layers
    styles = list(dict.fromkeys(row["style"] for row in shown))
    panel = layers.properties(width=165, height=170)
    return spec(panel.facet(column=alt.Column("style:N", sort=styles, title=None), data=data(shown)))


FIGURES = (
    Figure(
        "citation_ranks",
        "Citations by rank",
        (
            "Probability that the passage at a rank (from 0) is cited, by origin and style, with 95 % "
            "intervals over topics."
        ),
        "Lines of citation probability over rank, a panel for each style and a line for each origin.",
        tables=("citation_ranks",),
        draw=ranks,
    ),
    Figure(
        "citation_rank_medians",
        "Median rank of cited passages",
        (
            "Median rank of the passages that responses cite (filled) and do not cite (open): mean over "
            "responses, by style and origin. With 95 % bootstrap intervals over topics."
        ),
        "Points of the median rank of cited and uncited passages, a panel for each style.",
        tables=("citation_rank_medians",),
        draw=rank_medians,
    ),
    Figure(
        "citation_density",
        "Citation positions",
        (
            "Relative density of citations over the normalised text, by style and origin, with 95 % "
            "bootstrap intervals over topics. A density of 1 throughout means evenly spread citations."
        ),
        "Lines of citation density from the beginning to the end of the text, a panel for each style.",
        tables=("citation_density",),
        draw=density,
    ),
)
