"""Grades by dimension, style and origin."""

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from ...figures.figure import Figure
from ...figures.vega_lite import Labels, Spec, Tables, data, refuse_empty, spec, wrapped
from ...tables import value_labels
from ..leaderboard.compute import systems
from .compute import informative


def chart(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Mean grade with its interval by dimension, one colour for each origin, one panel for each style."""
    import altair as alt

    rows = informative(tables["grade_means"])
    named = {row["dimension"]: labels.dimension(row) for row in rows}
    named[value_labels.ALL] = gettext("All dimensions")
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


def of_systems(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Mean grade of each system with its interval, one colour for each origin, one panel for each dimension."""
    import altair as alt

    rows = [row for row in systems(tables["leaderboard"]) if row["mean_grade"] is not None]
    refuse_empty(rows)
    shown = [
        {
            "dimension": gettext("All dimensions") if row["dimension"] == value_labels.ALL else labels.dimension(row),
            "system": value_labels.system(row),
            "origin": value_labels.origin(row["origin"]),
            "mean": row["mean_grade"],
            "low": row["mean_low"],
            "high": row["mean_high"],
        }
        for row in rows
    ]
    order = list(dict.fromkeys(row["system"] for row in sorted(shown, key=lambda row: -row["mean"])))
    names = sorted(dict.fromkeys(row["dimension"] for row in rows), key=lambda name: name != value_labels.ALL)
    panels = [
        gettext("All dimensions") if name == value_labels.ALL else labels.dimensions.get(name, name) for name in names
    ]
    origins = list(dict.fromkeys(row["origin"] for row in rows))
    domain = [value_labels.origin(name) for name in origins]
    palette = alt.Scale(domain=domain, range=[colours[name] for name in origins])
    base = alt.Chart().encode(
        y=alt.Y("system:N", sort=order, title=None), color=alt.Color("origin:N", scale=palette, title="Origin")
    )
    scale = alt.Scale(zero=False)
    rules = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title="Mean grade", scale=scale), x2="high:Q")
    rules = rules.transform_filter("datum.low !== null")
    shape = alt.Shape("origin:N", scale=alt.Scale(domain=domain), title="Origin")
    points = base.mark_point(filled=True, opacity=1, size=55).encode(x=alt.X("mean:Q", scale=scale), shape=shape)
    panel = (rules + points).properties(width=165, height=alt.Step(18))
    return spec(wrapped(panel, "dimension", panels, shown, columns=4))


FIGURES = (
    Figure(
        "grades_of_systems",
        _("Mean grades of systems"),
        _(
            "Mean grade of each system within its topics (1 is the worst), by dimension, with 95 % bootstrap intervals "
            "over topics. People are one row."
        ),
        _("Points with intervals, a row for each system, one colour for each origin, a panel for each dimension."),
        tables=("leaderboard",),
        draw=of_systems,
    ),
    Figure(
        "grades",
        _("Mean grades"),
        _("Mean grade by dimension, style and origin, with 95 % bootstrap intervals over topics."),
        _("Points with intervals: mean grade by dimension, one colour for each origin, one panel for each style."),
        tables=("grade_means",),
        draw=chart,
    ),
)
