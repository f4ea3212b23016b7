"""Language models as judges: consistency, agreement with people, and self-preference."""

from textwrap import wrap
from typing import Any

from ...figures.figure import Figure
from ...figures.vega_lite import Labels, Spec, Tables, category, data, refuse_empty, spec
from ...tables import value_labels
from ...tables.rows import Row
from . import tables as declared

PANEL = 150
ROW = 30
#: Number of characters of a title that fit over a panel.
TITLE = 20
#: Charts with more models would be unreadable; the table has all.
MOST_MODELS = 6
#: The measure that compares both prompt types.
BOTH_WAYS = "alpha_inference"
#: Value of a measure without an effect: no more agreement than by chance, or no preferred side.
NOTHING = {"front_preference": 0.5}


def chart(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Measures by dimension, with intervals: a panel per measure, a row per model, a colour per prompt type."""
    import altair as alt

    rows = tables["model_judges"]
    models = list(dict.fromkeys(row["participant"] for row in rows))[:MOST_MODELS]
    inferences = [name for name in declared.INFERENCES if any(row["inference"] == name for row in rows)]
    panels: list[Any] = []
    for model in models:
        model_rows = [row for row in rows if row["participant"] == model]
        order = list(dict.fromkeys(_name(row, labels) for row in model_rows))
        drawn: list[Any] = []
        for measure in declared.MEASURES:
            shown = _bars(model_rows, measure, labels)
            if not shown:
                continue
            y = category("dimension", order, labels=not drawn, ticks=not drawn)
            drawn.append(_panel(shown, measure, colours, inferences, y, ROW * len(order)))
        if drawn:
            panels.append(alt.hconcat(*drawn, title=model).resolve_scale(x="independent"))
    refuse_empty(panels)
    return spec(alt.vconcat(*panels))


def _name(row: Row, labels: Labels) -> str:
    return "Mean" if row["dimension"] == value_labels.ALL else labels.dimension(row)


def _bars(rows: list[Row], measure: str, labels: Labels) -> list[Row]:
    """Return a measure by dimension and prompt type; values about both ways are in the rows of either."""
    points = [
        {
            "dimension": _name(row, labels),
            "inference": str(declared.INFERENCES[row["inference"]]),
            "value": row[measure],
            "low": row[f"{measure}_low"],
            "high": row[f"{measure}_high"],
        }
        for row in rows
        if row[measure] is not None
    ]
    return list({row["dimension"]: row for row in reversed(points)}.values()) if measure == BOTH_WAYS else points


def _panel(shown: list[Row], measure: str, colours: Spec, inferences: list[str], y: Any, height: int) -> Any:
    import altair as alt

    if measure == BOTH_WAYS:
        return _both_ways(shown, colours, y, height)
    domain = [str(declared.INFERENCES[name]) for name in inferences]
    palette = [colours["a"], colours["b"]][: len(domain)]
    legend = alt.Legend(orient="bottom")
    base = alt.Chart(data(shown)).encode(
        y=y,
        yOffset=alt.YOffset("inference:N", sort=domain),
        color=alt.Color(
            "inference:N", scale=alt.Scale(domain=domain, range=palette), title="Prompt type", legend=legend
        ),
    )
    axis = alt.Axis(tickCount=3, labelFlush=False)
    x = alt.X("low:Q", title=None, axis=axis, scale=alt.Scale(zero=measure not in NOTHING))
    rules = base.mark_rule(strokeWidth=2).encode(x=x, x2="high:Q")
    shape = alt.Shape("inference:N", scale=alt.Scale(domain=domain), title="Prompt type", legend=legend)
    points = base.mark_point(filled=True, opacity=1, size=50).encode(x="value:Q", shape=shape)
    nothing = alt.Chart().mark_rule(strokeDash=[3, 3]).encode(x=alt.datum(NOTHING.get(measure, 0)))
    title = _title(measure)
    return (nothing + rules + points).properties(width=PANEL, height=height, title=title)


def _title(measure: str) -> list[str]:
    """Break the title of a panel into lines that do not run into the next panel."""
    return wrap(str(declared.MEASURES[measure]), width=TITLE)


def _both_ways(shown: list[Row], colours: Spec, y: Any, height: int) -> Any:
    import altair as alt

    base = alt.Chart(data(shown)).encode(y=y)
    x = alt.X("low:Q", title=None, axis=alt.Axis(tickCount=3, labelFlush=False))
    rules = base.mark_rule(strokeWidth=2, color=colours["system"]).encode(x=x, x2="high:Q")
    points = base.mark_point(filled=True, opacity=1, size=50, color=colours["system"], shape="triangle-up")
    nothing = alt.Chart().mark_rule(strokeDash=[3, 3]).encode(x=alt.datum(0))
    title = _title(BOTH_WAYS)
    layers = nothing + rules + points.encode(x="value:Q")
    return layers.properties(width=PANEL, height=height, title=title)


def own_responses(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Shares of choices for the model's own response, by model and by gold label; a panel for each prompt type."""
    import altair as alt

    rows = [row for row in tables["model_self_preference"] if row["difference"] is not None]
    refuse_empty(rows)
    models = list(dict.fromkeys(row["participant"] for row in rows))[:MOST_MODELS]
    whose = {"model": "Model", "gold": "Gold label"}
    shown = [
        {
            "dimension": _name(row, labels),
            "panel": str(declared.INFERENCES[row["inference"]]),
            "model": row["participant"],
            "whose": chooser,
            "share": row[key],
            "low": row[f"{key}_low"],
            "high": row[f"{key}_high"],
        }
        for row in rows
        if row["participant"] in models
        for key, chooser in whose.items()
    ]
    order = list(dict.fromkeys(row["dimension"] for row in shown))
    panels = list(dict.fromkeys(row["panel"] for row in shown))
    domain = list(whose.values())
    scale = alt.Scale(domain=domain, range=[colours["model"], colours["human"]])
    base = alt.Chart().encode(
        y=alt.Y("dimension:N", sort=order, title=None),
        yOffset=alt.YOffset("whose:N", sort=domain),
        color=alt.Color("whose:N", scale=scale, title=None),
    )
    axis = alt.Axis(format="~%", tickCount=4)
    x = alt.X("low:Q", title="Share of choices for the model's own response", axis=axis, scale=alt.Scale(zero=False))
    rules = base.mark_rule(strokeWidth=2).encode(x=x, x2="high:Q")
    shape = alt.Shape("whose:N", scale=alt.Scale(domain=domain), title=None)
    points = base.mark_point(filled=True, opacity=1, size=50).encode(x="share:Q", shape=shape)
    half = alt.Chart().mark_rule(strokeDash=[3, 3]).encode(x=alt.datum(0.5))
    panel = (half + rules + points).properties(width=230, height=alt.Step(12))
    column = alt.Column("panel:N", sort=panels, title=None)
    row = alt.Row("model:N", sort=models, title=None) if len(models) > 1 else alt.Undefined
    return spec(panel.facet(column=column, row=row, data=data(shown)))


FIGURES = (
    Figure(
        "model_judges",
        "Language model judges",
        (
            "Agreement of models with themselves and with people, correlation between dimensions and "
            "position bias, by dimension. With 95 % intervals over topics (none for agreement with the gold "
            "label). Dashed lines: chance level."
        ),
        "Points with intervals by dimension, one panel for each measure and one colour for each prompt type.",
        tables=("model_judges",),
        draw=chart,
    ),
    Figure(
        "model_self_preference",
        "Self-preference of models",
        (
            "Share of choices for a model's own response, by the model and by the gold label of people, on "
            "the same pairs, by dimension. With 95 % intervals over topics. Dashed line: one half."
        ),
        "Points with intervals by dimension, one colour for the model and one for the gold label.",
        tables=("model_self_preference",),
        draw=own_responses,
    ),
)
