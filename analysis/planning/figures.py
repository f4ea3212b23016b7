"""Interval width, power and accuracy of designs against their cost."""

from typing import Any

from crowdrag.studies import money

from ..figures.figure import Figure
from ..figures.vega_lite import Labels, Spec, Tables, data, refuse_empty, spec
from ..tables.rows import Row
from .tables import MEASURES

#: Measures to draw, one panel each.
PANELS = ("difference_width", "power_all", "rank_width", "power", "alpha_width", "label_accuracy")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
COLUMNS = 2
#: The table on the page has all comparisons.
MOST_GOAL_PANELS = 12


def chart(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """A panel for each measure, a line for each number of judges, a point for each number of topics."""
    import altair as alt

    shown = _points(tables)
    refuse_empty(shown)
    panels = [
        _panel([row for row in shown if row["measure"] == name], name, shown[0]["unit"], colours)
        for name in PANELS
        if any(row["measure"] == name for row in shown)
    ]
    return spec(alt.concat(*panels, columns=COLUMNS, align="all", spacing=25))


def goal_chart(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """A panel for each difference or mean grade: its estimate and interval by the number of votes."""
    import altair as alt

    shown = tables["campaign_goal"]
    refuse_empty(shown)
    names = list(dict.fromkeys(row["label"] for row in shown))
    title = "Difference of mean grades" if shown[0]["is_difference"] else "Mean grade"
    panels = []
    for name in names[:MOST_GOAL_PANELS]:
        rows = [row for row in shown if row["label"] == name]
        base = alt.Chart(data(rows)).encode(x=alt.X("votes:Q", title="Votes", scale=alt.Scale(nice=False, zero=False)))
        y = alt.Y("low:Q", title=title, scale=alt.Scale(domain=_domain(rows), nice=False))
        layers = base.mark_area(opacity=0.2, color=colours["model"], clip=True).encode(y=y, y2="high:Q")
        layers += base.mark_line(color=colours["model"]).encode(y="value:Q")
        layers += base.mark_point(filled=True, opacity=1, size=25, color=colours["model"]).encode(y="value:Q")
        if shown[0]["is_difference"]:
            layers += base.mark_rule(strokeDash=[4, 3], color=colours["n"]).encode(y="mean(margin):Q", x=alt.X())
        panels.append(
            layers.properties(width=330, height=150, title=alt.TitleParams(name, frame="group", anchor="start"))
        )
    return spec(alt.concat(*panels, columns=COLUMNS, spacing=25))


def _domain(rows: list[Row]) -> list[float]:
    """Return the range of the intervals but those of the first quarter of the votes, which are far wider."""
    late = [row for row in rows if row["low"] is not None and row["votes"] >= rows[-1]["votes"] / 4]
    shown = [row[name] for row in late or rows for name in ("low", "high") if row[name] is not None]
    if late and late[0]["is_difference"]:
        shown.append(late[0]["margin"])
    low, high = min(shown, default=0.0), max(shown, default=1.0)
    pad = 0.05 * (high - low) or 0.5
    return [low - pad, high + pad]


def _points(tables: Tables) -> list[Row]:
    """Return each measure of each design with the cost of the design, or with hours if nothing is paid."""
    costs = {(row["k"], row["topics"]): row for row in tables["plan_costs"]}
    present = {row["k"] for row in costs.values() if row["present"]}
    is_paid = any(row["total"] for row in costs.values())
    points = []
    for row in tables["plan"]:
        if row["measure"] not in PANELS or row["value"] is None:
            continue
        cost = costs[row["k"], row["topics"]]
        x = float(money.to_major(cost["total"], cost["currency"])) if is_paid else cost["hours"]
        unit = "Cost in {currency}".format(currency=cost["currency"]) if is_paid else "Hours"
        judges = "{k} judges".format(k=row["k"])
        kept = {name: row[name] for name in ("measure", "topics", "value", "low", "high")}
        marks = {"present": cost["present"], "named": row["k"] in present}
        points.append(kept | marks | {"x": x, "unit": unit, "judges": judges})
    return points


def _panel(rows: list[Row], name: str, unit: str, colours: Spec) -> Any:
    import altair as alt

    series = list(dict.fromkeys(row["judges"] for row in rows))
    palette = [colours[colour_name] for colour_name in ("human", "model", "system", "n")]
    domain = alt.Scale(domain=series, range=[palette[i % len(palette)] for i in range(len(series))])
    shapes = alt.Scale(domain=series, range=[SHAPES[i % len(SHAPES)] for i in range(len(series))])
    axis = alt.Axis(format=",~f", tickCount=5)
    base = alt.Chart(data(rows)).encode(
        x=alt.X("x:Q", title=unit, axis=axis, scale=alt.Scale(zero=False, nice=False, padding=14)),
        color=alt.Color("judges:N", scale=domain, title="Judges per pair", sort=series),
    )
    y = alt.Y("value:Q", title=None, scale=alt.Scale(zero=False))
    lines = base.mark_line(strokeWidth=1.5).encode(y=y, order="x:Q")
    rules = base.mark_rule(strokeWidth=2, opacity=0.6).encode(y=alt.Y("low:Q", title=None), y2="high:Q")
    rules = rules.transform_filter("datum.low !== null")
    points = base.mark_point(filled=True, opacity=1, size=45).encode(
        y=y, shape=alt.Shape("judges:N", scale=shapes, title="Judges per pair", sort=series)
    )
    # Label the numbers of topics on one line only: they are the same on the others.
    counts = base.mark_text(dy=-15, fontSize=11).encode(y=y, text="topics:Q").transform_filter("datum.named")
    ring = (
        base.mark_point(filled=False, size=260, strokeWidth=2, shape="circle")
        .encode(y=y)
        .transform_filter("datum.present")
    )
    layers = lines + rules + points + counts + ring
    return layers.properties(
        width=330, height=170, title=alt.TitleParams(str(MEASURES[name]), frame="group", anchor="start")
    )


FIGURES = (
    Figure(
        "plan",
        "Precision by cost",
        (
            "Expected interval widths, power and accuracy by cost, with one line for each number of judges "
            "per pair and one point for each number of topics. Bars: 95 % simulation intervals. Ring: "
            "current design. The width of models minus humans is for one dimension over all styles. Tests "
            "are for all styles together or for one style each, corrected for their number (Benjamini and "
            "Hochberg). Effects in one style therefore cost more to detect."
        ),
        (
            "Panels by cost: the width of the difference between models and humans, the share of tests "
            "that detect it over all styles and in one style, the width of a response's grade, the width of "
            "alpha's interval, and the accuracy of gold labels. The table below has the numbers."
        ),
        tables=("plan", "plan_costs"),
        draw=chart,
    ),
    Figure(
        "campaign_goal",
        "Estimates by number of votes",
        (
            "Differences of mean grades, or mean grades, by the number of votes, with intervals that hold at all looks "
            "together. Dashed: the difference that decides."
        ),
        "A panel for each two systems, or each system: the estimate and its interval become narrower with more votes.",
        tables=("campaign_goal",),
        draw=goal_chart,
    ),
)
