"""The leaderboard: ranks, merits and mean grades with their intervals, and win rates."""

import math
from typing import Any

from ...figures.figure import Figure
from ...figures.vega_lite import Labels, Spec, Tables, data, refuse_empty, spec, whole_ticks, wrapped
from ...tables import value_labels
from ...tables.rows import Row
from .compute import systems

#: Number of systems shown: the best over all dimensions.
MOST = 20
LONGEST = 18
#: Keeps the number in a cell legible on its colour in both themes.
DEEPEST = 0.65
#: Win-rate matrix: cells are wide if there are few systems, so that the chart is not enlarged on a page.
NARROWEST_CELL, WIDEST_MATRIX = 44, 560


def chart(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Rank of each system with its interval; a colour for each origin, a panel for each dimension."""
    import altair as alt

    ranked = _ranked(tables)
    last = math.ceil(max(max(row["rank"], row["rank_high"] or 0) for row in ranked))
    axis = alt.Axis(values=whole_ticks(1, max(last, 2)), format="d")
    scale = alt.Scale(domain=[1, max(last, 2)], nice=False)
    shown = {"value": "rank", "low": "rank_low", "high": "rank_high"}
    return _panels(ranked, labels, colours, shown, alt.X("value:Q", title="Rank", scale=scale, axis=axis))


def merit_chart(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Merit of each system with its interval; a colour for each origin, a panel for each dimension."""
    import altair as alt

    shown = {"value": "merit", "low": "low", "high": "high"}
    axis = alt.X("value:Q", title="Merit", scale=alt.Scale(zero=False), axis=alt.Axis(tickCount=4))
    return _panels(_ranked(tables), labels, colours, shown, axis)


def _ranked(tables: Tables) -> list[Row]:
    ranked = [row for row in tables["leaderboard"] if row["kind"] == "participant" and row["rank"] is not None]
    refuse_empty(ranked)
    return ranked


def _panels(ranked: list[Row], labels: Labels, colours: Spec, columns: dict[str, str], x: Any) -> Spec:
    """Draw points with intervals of the best systems over all dimensions; `columns` names the values drawn."""
    import altair as alt

    best = sorted((row for row in ranked if row["dimension"] == value_labels.ALL), key=lambda row: row["rank"])[:MOST]
    names = names_of([row["participant"] for row in best])
    shown = [
        {
            "dimension": "All dimensions" if row["dimension"] == value_labels.ALL else labels.dimension(row),
            "participant": names[row["participant"]],
            "origin": value_labels.origin(row["origin"]),
            **{name: row[column] for name, column in columns.items()},
        }
        for row in _all_first(ranked)
        if row["participant"] in names
    ]
    panels = list(dict.fromkeys(row["dimension"] for row in shown))
    origins = list(dict.fromkeys(row["origin"] for row in sorted(ranked, key=lambda row: str(row["origin"]))))
    domain = [value_labels.origin(name) for name in origins]
    color = alt.Color(
        "origin:N", scale=alt.Scale(domain=domain, range=[colours[name] for name in origins]), title="Origin"
    )
    shape = alt.Shape("origin:N", scale=alt.Scale(domain=domain), title="Origin")
    base = alt.Chart().encode(y=alt.Y("participant:N", sort=list(names.values()), title=None), color=color)
    rules = base.mark_rule(strokeWidth=2).encode(x=_of(x, "low:Q"), x2="high:Q")
    rules = rules.transform_filter("datum.low != null")
    points = base.mark_point(filled=True, opacity=1, size=50).encode(x=x, shape=shape)
    panel = (rules + points).properties(width=165, height=alt.Step(15))
    return spec(wrapped(panel, "dimension", panels, shown, columns=4))


def _of(x: Any, field: str) -> Any:
    """Return the same axis for another field."""
    copy = x.copy()
    copy.shorthand = field
    return copy


def names_of(participants: list[str]) -> dict[str, str]:
    """Return unique names that are short enough for an axis."""
    short_names: dict[str, str] = {}
    for name in participants:
        short = name if len(name) <= LONGEST else f"{name[:8]}…"
        short_names[name] = short if short not in short_names.values() else name
    return short_names


def _all_first(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: row["dimension"] != value_labels.ALL)


def of_systems(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Mean grade of each system with its interval; a colour for each origin, a panel for each dimension."""
    import altair as alt

    rows = [row for row in systems(tables["leaderboard"]) if row["mean_grade"] is not None]
    refuse_empty(rows)
    shown = [
        {
            "dimension": "All dimensions" if row["dimension"] == value_labels.ALL else labels.dimension(row),
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
    panels = ["All dimensions" if name == value_labels.ALL else labels.dimensions.get(name, name) for name in names]
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


def win_rate_chart(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Share of judgments that each system won against each other one, over all styles and dimensions."""
    import altair as alt

    whole = [
        row
        for row in tables["win_rates"]
        if (row["kind"], row["style"], row["dimension"]) == ("participant", value_labels.ALL, value_labels.ALL)
        and row["share_won"] is not None
    ]
    rows = [row for row in whole if row["judges"] == whole[0]["judges"]]
    refuse_empty(rows)
    sides = [*(row["participant_1"] for row in rows), *(row["participant_2"] for row in rows)]
    names = names_of(list(dict.fromkeys(sides)))
    shown = [
        {
            "participant": names[row[of]],
            "against": names[row[against]],
            "share": row[share],
            "apart": abs((row[share] or 0.0) - (row[other] or 0.0)),
            "side": "more" if (row[share] or 0.0) >= (row[other] or 0.0) else "less",
        }
        for row in rows
        for of, against, share, other in (
            ("participant_1", "participant_2", "share_won", "share_lost"),
            ("participant_2", "participant_1", "share_lost", "share_won"),
        )
    ]
    order = list(names.values())
    base = alt.Chart(data(shown)).encode(
        x=alt.X(
            "against:N",
            sort=order,
            scale=alt.Scale(domain=order),
            title="Against",
            axis=alt.Axis(labelAngle=-40, orient="top", domain=False),
        ),
        y=alt.Y("participant:N", sort=order, scale=alt.Scale(domain=order), title=None, axis=alt.Axis(domain=False)),
    )
    palette = alt.Scale(domain=["more", "less"], range=[colours["a"], colours["b"]])
    boxes = base.mark_rect().encode(
        color=alt.Color("side:N", scale=palette, legend=None),
        opacity=alt.Opacity("apart:Q", scale=alt.Scale(domain=[0, 1], range=[0, DEEPEST]), legend=None),
    )
    numbers = base.mark_text().encode(text=alt.Text("share:Q", format=".0%"))
    width = max(NARROWEST_CELL, WIDEST_MATRIX // len(order))
    return spec((boxes + numbers).properties(width=alt.Step(width), height=alt.Step(28)))


FIGURES = (
    Figure(
        "grades_of_systems",
        "Mean grades of systems",
        (
            "Mean grade of each system, by dimension. Grades are scaled so that the worst possible grade is 1, "
            "and the best possible grade is the same in all topics. With 95 % bootstrap intervals over "
            "topics. All people together count as one system."
        ),
        (
            "Points with intervals, one row for each system, one colour for each origin and one panel for "
            "each dimension."
        ),
        tables=("leaderboard",),
        draw=of_systems,
    ),
    Figure(
        "leaderboard",
        "Ranks of systems",
        (
            "Rank of systems by merit (1 is best), by dimension, with 95 % bootstrap intervals over topics. Each "
            "writer counts as one system. At most the twenty best systems over all dimensions are shown (minimum "
            "number of graded topics: {least_topics}). No interval if graded on one topic only."
        ),
        "Points with intervals: the rank of each system, one panel for each dimension and one colour for each origin.",
        tables=("leaderboard",),
        draw=chart,
    ),
    Figure(
        "merits",
        "Merits of systems",
        (
            "Merit of systems on the log scale (higher is better), by dimension, with 95 % bootstrap intervals over "
            "topics. Each writer counts as one system. At most the twenty best systems over all dimensions are shown "
            "(minimum number of graded topics: {least_topics}). No interval if graded on one topic only."
        ),
        "Points with intervals: the merit of each system, one panel for each dimension and one colour for each origin.",
        tables=("leaderboard",),
        draw=merit_chart,
    ),
    Figure(
        "win_rates",
        "Win rates of systems",
        (
            "Share of judgments that preferred the system in the row to the system in the column, of all judgments "
            "that compared the two, over all styles and dimensions. The rest are ties and losses. Stronger colours "
            "mean a clearer majority. Intervals and numbers of judgments are in the table of win rates."
        ),
        "Matrix with the share of judgments won by each system against each other in a coloured cell.",
        tables=("win_rates",),
        draw=win_rate_chart,
    ),
)
