"""Figure of response lengths (crowdrag25, Figures 1 and 5)."""

from typing import Any

from ...figures.figure import Figure
from ...figures.vega_lite import Labels, Spec, Tables, data, origin_colours, refuse_empty, spec, style_label
from ...tables import value_labels
from ..response_groups import ALL
from .tables import MEASURES

BOX = ("words", "statements", "cited_passages")


def lengths(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Box plots of words, statements and cited passages, a panel for each."""
    import altair as alt

    statistics: dict[tuple[str, str, str], dict[str, Any]] = {}
    for row in tables["lengths"]:
        if row["measure"] in BOX and row["style"] != ALL and row["value"] is not None:
            statistics.setdefault((row["measure"], row["style"], row["origin"]), {})[row["statistic"]] = row["value"]
    shown = [
        {"measure": str(MEASURES[measure]), "style": style_label(labels, style), "origin": value_labels.origin(origin)}
        | values
        for (measure, style, origin), values in statistics.items()
    ]
    refuse_empty(shown)
    origins, colour = origin_colours(tables["lengths"], colours)
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
    column = alt.Column("measure:N", sort=[str(MEASURES[name]) for name in BOX], title=None)
    return spec(panel.facet(column=column, data=data(shown)).resolve_scale(x="independent"))


FIGURES = (
    Figure(
        "lengths",
        "Lengths of responses",
        (
            "Words, statements and distinct cited passages of responses by style and origin: median, quartiles (box) "
            "and 5th to 95th percentile (line). Responses under {min_words} words are left out."
        ),
        "Box plots of words, statements and cited passages, one row for each style and one box for each origin.",
        tables=("lengths",),
        draw=lengths,
    ),
)
