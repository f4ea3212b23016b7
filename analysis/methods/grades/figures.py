"""Grades by dimension, style and origin."""

from ...figures.figure import Figure
from ...figures.vega_lite import Labels, Spec, Tables, data, refuse_empty, spec
from ...tables import value_labels
from .compute import informative


def chart(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Mean grade with its interval by dimension, one colour for each origin, one panel for each style."""
    import altair as alt

    rows = informative(tables["grade_means"])
    named = {row["dimension"]: labels.dimension(row) for row in rows}
    named[value_labels.ALL] = "All dimensions"
    shown = [
        {
            "dimension": named[row["dimension"]],
            "style": labels.styles.get(row["style"], row["style"]),
            "origin": value_labels.origin(row["origin"]),
            "mean": row["mean"],
            "low": row["low"],
            "high": row["high"],
        }
        for row in rows
        if row["origin"] != value_labels.ALL
    ]  # fmt: skip
    refuse_empty(shown)
    order = list(dict.fromkeys(row["dimension"] for row in shown))
    styles = list(dict.fromkeys(row["style"] for row in shown))
    origins = list(dict.fromkeys(row["origin"] for row in rows if row["origin"] != value_labels.ALL))
    domain = [value_labels.origin(name) for name in origins]
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
    return spec(panel.facet(column=alt.Column("style:N", sort=styles, title=None), data=data(shown)))


FIGURES = (
    Figure(
        "grades",
        "Mean grades",
        "Mean grade by dimension, style and origin, with 95 % bootstrap intervals over topics.",
        "Points with intervals: mean grade by dimension, one colour for each origin and one panel for each style.",
        tables=("grade_means",),
        draw=chart,
    ),
)
