"""Charts of self-preference experiments: Figure 3 of the paper, and its tables as charts."""

from typing import Any

from ...figures.figure import Figure
from ...figures.vega_lite import Labels, Spec, Tables, data, refuse_empty, spec
from ...tables.rows import Row
from . import tables as words

STEP = 16
WIDTH = 300


def pairs(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Shares of the author's own and of the first passage by pair of authors, a panel for each kind of passages."""
    measures = {"own": "Author preferred", "front": "First preferred"}
    rows = [row for row in tables["self_preference_pairs"] if row["presentation"] == "both" and row["own"] is not None]
    shown = [
        {
            "pair": "{author} and {other}".format(**row),
            "panel": str(words.CASES[row["case"]]),
            "measure": measure_label,
            "value": row[name],
            "low": row[f"{name}_low"],
            "high": row[f"{name}_high"],
        }
        for row in rows
        if row["case"] in {"both_true", "both_false", "as_written"}
        for name, measure_label in measures.items()
    ]
    title = "Share of readings"
    return _points(shown, "measure", list(measures.values()), (colours["model"], colours["human"]), title, 0.5, "~%")


def rating_tests(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Human minus model, for each model; a panel for each comparison, a colour for each prompt."""
    settings = {name: str(label) for name, label in words.SETTINGS.items()}
    shown = [
        {
            "pair": row["author"],
            "panel": str(words.COMPARISONS[row["comparison"]]),
            "measure": settings[row["setting"]],
            "value": row["difference"],
            "low": row["low"],
            "high": row["high"],
        }
        for row in tables["self_preference_rating_tests"]
        if row["difference"] is not None
    ]
    title = "Human minus model"
    return _points(shown, "measure", list(settings.values()), (colours["model"], colours["human"]), title, 0.0, "+~f")


def by_knowledge(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """The true passage's share by level of knowledge."""
    measure = "True passage preferred"
    shown = [
        {
            "pair": str(words.LEVELS[row["level"]]),
            "panel": "",
            "measure": measure,
            "value": row["factual"],
            "low": row["factual_low"],
            "high": row["factual_high"],
        }
        for row in tables["self_preference_by_knowledge"]
        if row["factual"] is not None
    ]
    return _points(shown, "measure", [measure], (colours["model"],), "Share of readings", 0.5, "~%")


def _points(
    shown: list[Row], series: str, domain: list[str], palette: tuple[str, ...], title: str, nothing: float, form: str
) -> Spec:
    """Points with intervals: a row for each pair, a colour for each series, a panel for each group.

    The dashed line marks no effect.
    """
    import altair as alt

    refuse_empty(shown)
    legend = alt.Legend(orient="bottom", title=None) if len(domain) > 1 else None
    scale = alt.Scale(domain=domain, range=list(palette)[: len(domain)])
    base = alt.Chart().encode(
        y=alt.Y("pair:N", sort=list(dict.fromkeys(row["pair"] for row in shown)), title=None),
        yOffset=alt.YOffset(f"{series}:N", sort=domain),
        color=alt.Color(f"{series}:N", scale=scale, legend=legend),
    )
    axis = alt.Axis(format=form, tickCount=5)
    x = alt.X("low:Q", title=title, axis=axis, scale=alt.Scale(zero=False))
    rules = base.mark_rule(strokeWidth=2).encode(x=x, x2="high:Q").transform_filter("datum.low !== null")
    shape = alt.Shape(f"{series}:N", scale=alt.Scale(domain=domain), legend=legend)
    points = base.mark_point(filled=True, opacity=1, size=50).encode(x="value:Q", shape=shape)
    line = alt.Chart().mark_rule(strokeDash=[3, 3]).encode(x=alt.datum(nothing))
    panels = list(dict.fromkeys(row["panel"] for row in shown))
    layers = (line + rules + points).properties(width=WIDTH, height=alt.Step(STEP))
    return spec(layers.facet(row=_panel(panels), data=data(shown)))


def scores(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Distribution of the five ratings: a bar for each author and truth, a panel for each prompt."""
    import altair as alt

    shown = [
        {
            "who": _who(row),
            "panel": str(words.SETTINGS[row["setting"]]),
            "rating": row["score"],
            "share": row["share"],
        }
        for row in tables["self_preference_scores"]
    ]
    refuse_empty(shown)
    scale = alt.Scale(domain=[1, 2, 3, 4, 5], scheme="viridis")
    bars = (
        alt.Chart()
        .mark_bar()
        .encode(
            y=alt.Y("who:N", sort=list(dict.fromkeys(row["who"] for row in shown)), title=None),
            x=alt.X("sum(share):Q", title="Share of passages", axis=alt.Axis(format="~%")),
            color=alt.Color("rating:O", scale=scale, title="Rating", legend=alt.Legend(orient="bottom")),
            order=alt.Order("rating:Q"),
        )
        .properties(width=WIDTH, height=alt.Step(STEP + 4))
    )
    panels = list(dict.fromkeys(row["panel"] for row in shown))
    return spec(bars.facet(row=_panel(panels), data=data(shown)))


def _panel(order: list[str]) -> Any:
    """Panels in one column, with their titles above, because the panels are too low for titles at the side."""
    import altair as alt

    header = alt.Header(labelOrient="top", labelAnchor="start", labelAngle=0, labelFontWeight="bold")
    return alt.Row("panel:N", sort=order, title=None, header=header)


def _who(row: Any) -> str:
    return f"{row['author']}, {words.TRUTHS[row['truth']]}"


FIGURES = (
    Figure(
        "self_preference_pairs",
        "Author preference and position bias",
        (
            "Share of readings that used the author's passage, and the first passage, of two passages with "
            "equal truth, over pairs resolved in both orders. Bars: 95 % intervals over questions. Line: no "
            "preference. As Figure 3 of the paper, with order added."
        ),
        "Shares by pair of authors, one panel for both true and one for both false. The table has the numbers.",
        tables=("self_preference_pairs",),
        draw=pairs,
    ),
    Figure(
        "self_preference_rating_tests",
        "Ratings, human minus model",
        (
            "Difference of mean ratings, human minus model, with 95 % intervals over questions. Left of the "
            "line, the model's passages are rated higher."
        ),
        (
            "Differences by model, one panel for each comparison and one colour for each prompt. The table "
            "has the numbers."
        ),
        tables=("self_preference_rating_tests",),
        draw=rating_tests,
    ),
    Figure(
        "self_preference_scores",
        "Distribution of ratings",
        "Shares of the ratings 1 to 5 by author and truth, one panel for each prompt.",
        "Stacked bars of shares of ratings. The table has the numbers.",
        tables=("self_preference_scores",),
        draw=scores,
    ),
    Figure(
        "self_preference_by_knowledge",
        "Factuality preference by knowledge",
        (
            "Share of readings that used the true passage of a true and a false one, by the evaluator's "
            "knowledge of the question without a passage. Bars: 95 % intervals over questions. Line: no "
            "preference."
        ),
        "Shares by knowledge level. The table has the numbers.",
        tables=("self_preference_by_knowledge",),
        draw=by_knowledge,
    ),
)
