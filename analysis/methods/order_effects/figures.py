"""Agreement by order, within pairs and within questionnaires."""

from typing import Any

from ...figures.figure import Figure
from ...figures.vega_lite import Labels, Spec, Tables, category, data, refuse_empty, spec
from ...tables import value_labels
from ...tables.rows import Row
from . import tables as declared

#: Height of a dimension, with three or two parts in a panel.
ROW = 40


def chart(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Alpha with its interval by dimension; a colour for each part, a panel for each effect."""
    import altair as alt

    known = [row for row in tables["order_effects"] if row["alpha"] is not None]
    order = list(dict.fromkeys(_name(row, labels) for row in known))
    panels: list[Any] = []
    for effect, parts in declared.PARTS.items():
        shown = [
            {
                "dimension": _name(row, labels),
                "part": str(parts[row["part"]]),
                "alpha": row["alpha"],
                "low": row["low"],
                "high": row["high"],
            }
            for row in known
            if row["effect"] == effect
        ]
        if not shown:
            continue
        domain = [str(label) for label in parts.values()]
        palette = [colours["a"], colours["b"], colours["system"]][: len(domain)]
        legend = alt.Legend(orient="bottom", columns=1)
        colour = alt.Color("part:N", scale=alt.Scale(domain=domain, range=palette), title=None, legend=legend)
        base = alt.Chart(data(shown)).encode(
            y=category("dimension", order, labels=not panels),
            yOffset=alt.YOffset("part:N", sort=domain),
            color=colour,
        )
        x = alt.X("low:Q", title="Krippendorff's alpha", axis=alt.Axis(tickCount=4))
        rules = base.mark_rule(strokeWidth=2).encode(x=x, x2="high:Q")
        shape = alt.Shape("part:N", scale=alt.Scale(domain=domain), title=None, legend=legend)
        points = base.mark_point(filled=True, opacity=1, size=50).encode(x="alpha:Q", shape=shape)
        panel = (rules + points).properties(width=250, height=ROW * len(order), title=str(declared.EFFECTS[effect]))
        panels.append(panel)
    refuse_empty(panels)
    return spec(alt.hconcat(*panels).resolve_scale(color="independent", shape="independent", yOffset="independent"))


def _name(row: Row, labels: Labels) -> str:
    return "Mean" if row["dimension"] == value_labels.ALL else labels.dimension(row)


FIGURES = (
    Figure(
        "order_effects",
        "Order effects",
        (
            "Krippendorff's alpha by dimension, with 95 % intervals over topics and judges. Pairs judged in "
            "both orders: each order alone and both together. Questionnaires: the first {first_positions} "
            "items and the later ones."
        ),
        "Points with intervals: alpha by dimension, one colour for each part and one panel for each kind of order.",
        tables=("order_effects",),
        draw=chart,
    ),
)
