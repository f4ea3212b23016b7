"""Models as judges: how consistent, how close to people; and what they make of their own responses."""

from textwrap import wrap
from typing import Any

from django.utils.translation import gettext as _

from ..captions import compared
from ..pages import words
from .making import Labels, Spec, Tables, data, refuse_empty, spec

PANEL = 150
ROW = 30
#: Letters of a title that fit over a panel.
TITLE = 20
#: More models than these would make a chart that nobody can take in; the table has all.
MOST_MODELS = 6
#: Where a measure says "nothing": no more agreement than chance, no side preferred.
NOTHING = {"front_preference": 0.5}


def chart(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Each measure with its interval by dimension: a panel a measure, a row a model, a colour a way of asking."""
    import altair as alt

    rows = tables["model_judges"]
    models = list(dict.fromkeys(row["participant"] for row in rows))[:MOST_MODELS]
    inferences = [name for name in compared.INFERENCES if any(row["inference"] == name for row in rows)]
    panels: list[Any] = []
    for model in models:
        across = [
            _panel(
                [row for row in rows if row["participant"] == model], measure, labels, colours, inferences, place == 0
            )
            for place, measure in enumerate(compared.MEASURES)
        ]
        drawn = [panel for panel in across if panel is not None]
        if drawn:
            panels.append(alt.hconcat(*drawn, title=model).resolve_scale(x="independent"))
    refuse_empty(panels)
    return spec(alt.vconcat(*panels))


def _panel(
    rows: list[Any], measure: str, labels: Labels, colours: Spec, inferences: list[str], is_first: bool
) -> Any | None:
    import altair as alt

    shown = [
        {
            "dimension": _("Mean") if row["dimension"] == words.ALL else labels.dimension(row),
            "inference": str(compared.INFERENCES[row["inference"]]),
            "value": row[measure],
            "low": row[f"{measure}_low"],
            "high": row[f"{measure}_high"],
        }
        for row in rows
        if row[measure] is not None
    ]
    if not shown:
        return None
    order = list(dict.fromkeys(row["dimension"] for row in shown))
    if measure == "alpha_inference":  # of both ways of asking: the same in the rows of either
        return _both_ways([row for row in shown if row["inference"] == shown[0]["inference"]], order, colours, is_first)
    domain = [str(compared.INFERENCES[name]) for name in inferences]
    palette = [colours["a"], colours["b"]][: len(domain)]
    legend = alt.Legend(orient="bottom")
    base = alt.Chart(data(shown)).encode(
        y=alt.Y("dimension:N", sort=order, title=None, axis=alt.Axis(labels=is_first, ticks=is_first)),
        yOffset=alt.YOffset("inference:N", sort=domain),
        color=alt.Color("inference:N", scale=alt.Scale(domain=domain, range=palette), title=_("Asked"), legend=legend),
    )
    axis = alt.Axis(tickCount=3, labelFlush=False)
    x = alt.X("low:Q", title=None, axis=axis, scale=alt.Scale(zero=measure not in NOTHING))
    rules = base.mark_rule(strokeWidth=2).encode(x=x, x2="high:Q")
    shape = alt.Shape("inference:N", scale=alt.Scale(domain=domain), title=_("Asked"), legend=legend)
    points = base.mark_point(filled=True, opacity=1, size=50).encode(x="value:Q", shape=shape)
    nothing = alt.Chart().mark_rule(strokeDash=[3, 3]).encode(x=alt.datum(NOTHING.get(measure, 0)))
    title = _title(measure)
    return (nothing + rules + points).properties(width=PANEL, height=ROW * len(order), title=title)


def _title(measure: str) -> list[str]:
    """Over its panel, in as many lines as it takes not to run into the next one."""
    return wrap(str(compared.MEASURES[measure]), width=TITLE)


def _both_ways(shown: list[Any], order: list[str], colours: Spec, is_first: bool) -> Any:
    import altair as alt

    y = alt.Y("dimension:N", sort=order, title=None, axis=alt.Axis(labels=is_first, ticks=is_first))
    base = alt.Chart(data(shown)).encode(y=y)
    x = alt.X("low:Q", title=None, axis=alt.Axis(tickCount=3, labelFlush=False))
    rules = base.mark_rule(strokeWidth=2, color=colours["system"]).encode(x=x, x2="high:Q")
    points = base.mark_point(filled=True, opacity=1, size=50, color=colours["system"], shape="triangle-up")
    nothing = alt.Chart().mark_rule(strokeDash=[3, 3]).encode(x=alt.datum(0))
    title = _title("alpha_inference")
    made = nothing + rules + points.encode(x="value:Q")
    return made.properties(width=PANEL, height=ROW * len(order), title=title)


def own_responses(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """The shares of choices for a model's own response by the model and by the gold label, a panel a way of asking."""
    import altair as alt

    rows = [row for row in tables["model_self_preference"] if row["difference"] is not None]
    refuse_empty(rows)
    models = list(dict.fromkeys(row["participant"] for row in rows))[:MOST_MODELS]
    whose = {"model": _("The model chose"), "gold": _("The gold label")}
    shown = [
        {
            "dimension": _("Mean") if row["dimension"] == words.ALL else labels.dimension(row),
            "panel": str(compared.INFERENCES[row["inference"]]),
            "model": row["participant"],
            "whose": said,
            "share": row[key],
            "low": row[f"{key}_low"],
            "high": row[f"{key}_high"],
        }
        for row in rows
        if row["participant"] in models
        for key, said in whose.items()
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
    axis = alt.Axis(format="%", tickCount=4)
    x = alt.X("low:Q", title=_("Choices for the model's own response"), axis=axis, scale=alt.Scale(zero=False))
    rules = base.mark_rule(strokeWidth=2).encode(x=x, x2="high:Q")
    shape = alt.Shape("whose:N", scale=alt.Scale(domain=domain), title=None)
    points = base.mark_point(filled=True, opacity=1, size=50).encode(x="share:Q", shape=shape)
    half = alt.Chart().mark_rule(strokeDash=[3, 3]).encode(x=alt.datum(0.5))
    panel = (half + rules + points).properties(width=230, height=alt.Step(12))
    column = alt.Column("panel:N", sort=panels, title=None)
    row = alt.Row("model:N", sort=models, title=None) if len(models) > 1 else alt.Undefined
    return spec(panel.facet(column=column, row=row, data=data(shown)))
