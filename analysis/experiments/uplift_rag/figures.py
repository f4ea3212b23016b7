"""Uplift RAG: results, ablations, effects of documents, errors and transfer."""

from typing import Any

from ...figures.figure import Figure
from ...figures.vega_lite import Labels, Spec, Tables, data, refuse_empty, spec
from ...tables.rows import Row
from .tables import CATEGORIES, EXCHANGED, MEASURES, METHODS, METRICS, MISSING, with_after_note

WIDTH, STEP = 250, 22
STANDARD = "standard"
SHADES = ("model", "human", "system", "n")
#: Labels longer than this would push the panels off the page.
LABEL_PIXELS = 260


def results(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Scores of the methods with intervals, compared with standard RAG; a panel for each metric (Table 1, Figure 2)."""
    rows = [row for row in tables["uplift_results"] if row["value"] is not None]
    refuse_empty(rows)
    return _panels(rows, "method", "value", "low", "high", colours, rule=STANDARD)


def ablations(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Change of the score without each part; a panel for each metric (Table 2)."""
    rows = [row for row in tables["uplift_ablations"] if row["difference"] is not None]
    refuse_empty(rows)
    return _panels(rows, "variant", "difference", "difference_low", "difference_high", colours, zero=True)


def categories(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Figure 1: the four possible effects of a document on an answer."""
    import altair as alt

    rows = [row for row in tables["uplift_categories"] if row["share"] is not None]
    refuse_empty(rows)
    shown = [row | {"category": str(CATEGORIES[row["category"]])} for row in rows]
    y = alt.Y("category:N", sort=[row["category"] for row in shown], title=None, axis=_axis())
    base = alt.Chart(data(shown)).encode(y=y)
    title = "Share of documents"
    x = alt.X("share:Q", title=title, axis=alt.Axis(format="~%"))
    bars = base.mark_bar(color=colours["human"], height=14).encode(x=x)
    rules = _with_ends(base.mark_rule(strokeWidth=1.5, color=colours["model"]), "low", "high", title)
    return spec((bars + rules).properties(width=2 * WIDTH, height=alt.Step(STEP)))


def thresholds(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Precision and recall of the selected documents by threshold."""
    import altair as alt

    kinds = {kind: str(words) for kind, words in MEASURES.items()}
    shown = [
        {"threshold": row["threshold"], "measure": words, "value": row[kind],
         "low": row[f"{kind}_low"], "high": row[f"{kind}_high"]}
        for kind, words in kinds.items()
        for row in tables["uplift_thresholds"]
        if row[kind] is not None
    ]  # fmt: skip
    refuse_empty(shown)
    scale = alt.Scale(domain=list(kinds.values()), range=[colours["model"], colours["human"]])
    legend = alt.Legend(orient="top", labelLimit=LABEL_PIXELS, symbolOpacity=1)
    shapes = alt.Scale(domain=list(kinds.values()), range=["circle", "square"])
    across, up = "Threshold", "Share of documents"
    whole = alt.Scale(domain=[0, 1])
    base = alt.Chart(data(shown)).encode(
        x=alt.X("threshold:Q", title=across, scale=whole),
        color=alt.Color("measure:N", title=None, scale=scale, legend=legend),
    )
    bands = base.mark_area(opacity=0.2).encode(y=alt.Y("low:Q", title=up, scale=whole), y2="high:Q")
    y = alt.Y("value:Q", title=up, scale=whole, axis=alt.Axis(format="~%"))
    shape = alt.Shape("measure:N", title=None, scale=shapes, legend=legend)
    lines = base.mark_line().encode(y=y) + base.mark_point(filled=True, opacity=1, size=45).encode(y=y, shape=shape)
    least = tables["uplift_thresholds"][0]
    marks = alt.Chart(data([{"at": parameters["threshold"], "all": least["precision"]}]))
    threshold_rule = marks.mark_rule(strokeDash=[4, 3], color=colours["n"]).encode(x=alt.X("at:Q", title=across))
    every = marks.mark_rule(strokeDash=[2, 2], color=colours["n"]).encode(y=alt.Y("all:Q", title=up))
    return spec((bands + lines + threshold_rule + every).properties(width=2 * WIDTH, height=220))


def errors(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Figure 4: what answers worse than the upper bound's lack, stacked by method."""
    import altair as alt

    rows = [row for row in tables["uplift_errors"] if row["share"] is not None and row["errors"]]
    refuse_empty(rows)
    kinds = {kind: str(words) for kind, words in MISSING.items()}
    shown = [
        {"method": _method(row), "missing": kinds[row["missing"]], "share": row["share"],
         "place": list(kinds).index(row["missing"])}
        for row in rows
    ]  # fmt: skip
    names = list(dict.fromkeys(row["method"] for row in shown))
    colour = alt.Color(
        "missing:N",
        sort=list(kinds.values()),
        title=None,
        scale=alt.Scale(domain=list(kinds.values()), range=[colours[shade] for shade in SHADES]),
        legend=alt.Legend(orient="top", columns=2, labelLimit=LABEL_PIXELS),
    )
    bars = (
        alt.Chart(data(shown))
        .mark_bar(height=14)
        .encode(
            y=alt.Y("method:N", sort=names, title=None, axis=_axis()),
            x=alt.X("share:Q", stack=True, title="Share of worse answers", axis=alt.Axis(format="~%")),
            color=colour,
            order=alt.Order("place:Q"),
        )
    )
    return spec(bars.properties(width=2 * WIDTH, height=alt.Step(STEP)))


def transfer(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Figure 5: two models with the documents that help themselves or each other; a panel for each metric."""
    rows = [
        row | {"exchanged": str(EXCHANGED[row["answered_by"], row["documents_for"]])}
        for row in tables["uplift_transfer"]
        if row["value"] is not None
    ]
    refuse_empty(rows)
    return _panels(rows, "exchanged", "value", "low", "high", colours)


def _panels(rows: list[Row], column: str, value: str, low: str, high: str, colours: Spec, *, rule: str = "",
            zero: bool = False) -> Spec:  # fmt: skip
    import altair as alt

    panels: list[Any] = []
    order = list(dict.fromkeys(_method(row, column) for row in rows))
    for metric in dict.fromkeys(row["metric"] for row in rows):
        metric_rows = [row for row in rows if row["metric"] == metric]
        at = next((row[value] for row in metric_rows if row[column] == rule), 0.0 if zero else None)
        shown = [
            {"name": _method(row, column), "value": row[value], "low": row[low], "high": row[high]}
            for row in metric_rows
        ]
        panels.append(_panel(shown, str(METRICS[metric]), at, order, colours, is_first=not panels))
    return spec(alt.hconcat(*panels, spacing=20))


def _panel(rows: list[Row], title: str, at: float | None, order: list[str], colours: Spec, *, is_first: bool) -> Any:
    import altair as alt

    # Only the labels are hidden, not the axis: on narrow screens the panels are stacked and each gets its own.
    axis = _axis() if is_first else _axis(labels=False)
    y = alt.Y("name:N", sort=order, scale=alt.Scale(domain=order), title=None, axis=axis)
    base = alt.Chart(data(rows)).encode(y=y)
    scale = alt.Scale(zero=False)
    rules = _with_ends(base.mark_rule(strokeWidth=1.5, color=colours["human"]), "low", "high", title)
    points = base.mark_point(filled=True, opacity=1, size=55, color=colours["human"]).encode(
        x=alt.X("value:Q", title=title, scale=scale, axis=alt.Axis(tickCount=5))
    )
    layers = rules + points
    if at is not None:
        line = alt.Chart(data([{"at": at}])).mark_rule(strokeDash=[4, 3], color=colours["n"])
        layers = line.encode(x=alt.X("at:Q", title=title, scale=scale)) + layers
    return layers.properties(width=WIDTH, height=alt.Step(STEP))


def _with_ends(rules: Any, low: str, high: str, title: str) -> Any:
    """Intervals; rows without one have none."""
    import altair as alt

    return rules.encode(x=alt.X(f"{low}:Q", title=title), x2=f"{high}:Q").transform_filter(f"datum.{low} !== null")


def _axis(**options: Any) -> Any:
    import altair as alt

    return alt.Axis(labelLimit=LABEL_PIXELS, ticks=False, domain=False, **options)


def _method(row: Row, column: str = "method") -> str:
    return str(METHODS.get(row[column], row[column]))


FIGURES = (
    Figure(
        "uplift_results",
        "Answers by method",
        with_after_note(
            "Means over questions with 95 % intervals over resampled questions. The dashed line is standard RAG."
        ),
        "One panel for each metric, one row for each method. The table of answers by method has the numbers.",
        tables=("uplift_results",),
        draw=results,
    ),
    Figure(
        "uplift_ablations",
        "Ablations",
        "Change of the mean answer score without a part, with 95 % intervals over resampled questions.",
        "One panel for each metric, one row for each part. The table of ablations has the numbers.",
        tables=("uplift_ablations",),
        draw=ablations,
    ),
    Figure(
        "uplift_thresholds",
        "Other thresholds",
        (
            "Precision: share of documents above a threshold that help alone. Recall: share of documents "
            "that help alone that are above it. With 95 % intervals over resampled questions. Dashed lines: "
            "this run's threshold, and the share of all documents that help."
        ),
        "Two curves by threshold. The table of thresholds has the numbers.",
        tables=("uplift_thresholds",),
        draw=thresholds,
    ),
    Figure(
        "uplift_categories",
        "Effect of documents on answers",
        "Shares of the retrieved documents, each used alone, with 95 % intervals over resampled questions.",
        "Four bars, one for each possible change of an answer by a document. The table has the numbers.",
        tables=("uplift_categories",),
        draw=categories,
    ),
    Figure(
        "uplift_errors",
        "Missing documents in worse answers",
        with_after_note(
            "Questions that a method answers worse than the upper bound, by how many helpful documents were missing."
        ),
        "One stacked bar for each method. The table of missing documents has the numbers.",
        tables=("uplift_errors",),
        draw=errors,
    ),
    Figure(
        "uplift_transfer",
        "Exchange of helpful documents between models",
        (
            "Means over questions with 95 % intervals over resampled questions. This model is {generator}, "
            "the other one {other}."
        ),
        "One panel for each metric, one row for each model and set of documents. The table has the numbers.",
        tables=("uplift_transfer",),
        draw=transfer,
    ),
)
