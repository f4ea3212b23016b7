"""The leaderboard: ranks with their intervals."""

import math

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from ...figures.figure import Figure
from ...figures.vega_lite import Labels, Spec, Tables, refuse_empty, spec, whole_ticks, wrapped
from ...tables import value_labels
from ...tables.rows import Row
from .compute import systems

#: So many participants are shown: the best over all dimensions.
MOST = 20
LONGEST = 18


def chart(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Rank of each participant with its interval, one colour for each origin, one panel for each dimension."""
    import altair as alt

    ranked = [row for row in tables["leaderboard"] if row["kind"] == "participant" and row["rank"] is not None]
    refuse_empty(ranked)
    best = sorted((row for row in ranked if row["dimension"] == value_labels.ALL), key=lambda row: row["rank"])[:MOST]
    names = names_of([row["participant"] for row in best])
    order = list(names.values())
    shown = [
        {
            "dimension": gettext("All dimensions") if row["dimension"] == value_labels.ALL else labels.dimension(row),
            "participant": names[row["participant"]],
            "origin": value_labels.origin(row["origin"]),
            "rank": row["rank"],
            "low": row["rank_low"],
            "high": row["rank_high"],
        }
        for row in _all_first(ranked)
        if row["participant"] in names
    ]
    panels = list(dict.fromkeys(row["dimension"] for row in shown))
    origins = list(dict.fromkeys(row["origin"] for row in sorted(ranked, key=lambda row: str(row["origin"]))))
    domain = [value_labels.origin(name) for name in origins]
    last = max(max(row["rank"], row["rank_high"] or 0) for row in ranked)
    color = alt.Color(
        "origin:N", scale=alt.Scale(domain=domain, range=[colours[name] for name in origins]), title="Origin"
    )
    shape = alt.Shape("origin:N", scale=alt.Scale(domain=domain), title="Origin")
    base = alt.Chart().encode(y=alt.Y("participant:N", sort=order, title=None), color=color)
    scale = alt.Scale(domain=[1, max(last, 2)], nice=False)
    axis = alt.Axis(values=whole_ticks(1, max(math.ceil(last), 2)), format="d")
    rules = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title="Rank", scale=scale, axis=axis), x2="high:Q")
    rules = rules.transform_filter("datum.low != null")
    points = base.mark_point(filled=True, opacity=1, size=50).encode(x=alt.X("rank:Q", scale=scale), shape=shape)
    panel = (rules + points).properties(width=165, height=alt.Step(15))
    return spec(wrapped(panel, "dimension", panels, shown, columns=4))


def names_of(participants: list[str]) -> dict[str, str]:
    """Names short enough for an axis, no two alike."""
    short_names: dict[str, str] = {}
    for name in participants:
        short = name if len(name) <= LONGEST else f"{name[:8]}…"
        short_names[name] = short if short not in short_names.values() else name
    return short_names


def _all_first(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: row["dimension"] != value_labels.ALL)


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
            "Mean grade of each system within its topics (1 is the worst), by dimension, with 95 % bootstrap "
            "intervals over topics. All people together are one row."
        ),
        _(
            "Points with intervals, one row for each system, one colour for each origin and one panel for "
            "each dimension."
        ),
        tables=("leaderboard",),
        draw=of_systems,
    ),
    Figure(
        "leaderboard",
        _("Ranks of participants"),
        _(
            "Rank of participants by merit (1 is the best), by dimension, with 95 % bootstrap intervals over "
            "topics. Shown are the twenty best over all dimensions, of those graded on {least_topics} topics "
            "or more. No interval if graded on one topic only."
        ),
        _(
            "Points with intervals: the rank of each participant, one panel for each dimension and one "
            "colour for each origin."
        ),
        tables=("leaderboard",),
        draw=chart,
    ),
)
