"""Merits of systems: people alone, and assisted by model judges."""

from ...figures.figure import Figure
from ...figures.vega_lite import Labels, Spec, Tables, refuse_empty, spec, wrapped
from ...tables import value_labels
from ...tables.rows import Row
from ..leaderboard.boards import HUMAN, PARTICIPANT
from ..leaderboard.figures import names_of
from .tables import MERIT

#: Number of systems shown: those with the highest merit over all dimensions.
MOST = 15
WAYS = {"people": "People alone", "assisted": "Assisted"}


def chart(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Merit of each system with both intervals; a panel for each dimension."""
    import altair as alt

    rows = shown_rows(tables["assisted_estimates"])
    refuse_empty(rows)
    means = {row["participant"]: row["people"] for row in rows if row["dimension"] == value_labels.ALL}
    best = sorted(means, key=lambda name: (-means[name], name))[:MOST]
    is_origin = rows[0]["kind"] != PARTICIPANT
    names = {name: value_labels.origin(name) for name in best} if is_origin else names_of(best)
    rows = sorted(
        (row for row in rows if row["participant"] in names), key=lambda row: row["dimension"] != value_labels.ALL
    )
    shown = [
        {
            "dimension": "All dimensions" if row["dimension"] == value_labels.ALL else labels.dimension(row),
            "system": names[row["participant"]],
            "way": way,
            "value": row[name],
            "low": row[f"{name}_low"],
            "high": row[f"{name}_high"],
        }
        for row in rows
        for name, way in WAYS.items()
    ]
    panels = list(dict.fromkeys(row["dimension"] for row in shown))
    domain = list(WAYS.values())
    base = alt.Chart().encode(
        y=alt.Y("system:N", sort=list(names.values()), title=None),
        yOffset=alt.YOffset("way:N", sort=domain),
        color=alt.Color(
            "way:N", scale=alt.Scale(domain=domain, range=[colours["human"], colours["model"]]), title="Estimate"
        ),
    )
    axis = alt.Axis(tickCount=4)
    rules = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", title="Merit", scale=alt.Scale(zero=False), axis=axis), x2="high:Q"
    )
    shape = alt.Shape("way:N", scale=alt.Scale(domain=domain), title="Estimate")
    points = base.mark_point(filled=True, opacity=1, size=45).encode(x="value:Q", shape=shape)
    panel = (rules.transform_filter("datum.low != null") + points).properties(width=165, height=alt.Step(11))
    return spec(wrapped(panel, "dimension", panels, data_rows(shown), columns=4))


def data_rows(rows: list[Row]) -> list[Row]:
    """Return rows without missing values."""
    return [row for row in rows if row["value"] is not None]


def shown_rows(rows: list[Row]) -> list[Row]:
    """Return the merits of systems that are no people, or those of origins if there are fewer than two systems."""
    merits = [row for row in rows if row["measure"] == MERIT]
    systems = [row for row in merits if row["kind"] == PARTICIPANT and row["origin"] != HUMAN]
    if len({row["participant"] for row in systems}) > 1:
        return systems
    return [row for row in merits if row["kind"] != PARTICIPANT]


FIGURES = (
    Figure(
        "assisted_estimates",
        "Model-assisted merits",
        (
            "Merit of systems (or of origins), by people's gold labels alone and assisted by model judges, with 95 % "
            "intervals over topics. Both are equal where the models' votes do not help."
        ),
        "Points with intervals by system, one panel for each dimension, one colour for each of the two estimates.",
        tables=("assisted_estimates",),
        draw=chart,
    ),
)
