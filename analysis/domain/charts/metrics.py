"""How far responses copy what they cite, and how well metrics rank them (crowdrag25, Figure 3 and Table 8)."""

import numpy as np
from django.utils.translation import gettext

from ..captions.written import METRICS, RANKINGS
from ..pages import words
from ..results.schema import Row
from .making import Labels, Spec, Tables, data, refuse_empty, spec

#: Cumulative shares are drawn at each whole BLEU: finer than a curve of this size can show.
BLEUS = np.arange(101)
#: As crowdrag25, Table 8, has them.
ORDER = ("best_worst", "full")
DASHES = ([1, 0], [6, 3], [2, 2])
SHAPES = ("circle", "square", "diamond")


def text_reuse(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Cumulative share of pairs by BLEU, a curve for each origin, a panel for each style."""
    import altair as alt

    scores = _scores(tables)
    shown = [
        {"style": labels.styles.get(style, style), "origin": words.origin(origin), "bleu": int(bleu), "share": share}
        for (style, origin), values in scores.items()
        for bleu, share in zip(BLEUS, _cumulative(values), strict=True)
    ]
    refuse_empty(shown)
    origins = sorted({origin for _style, origin in scores}, key=list(colours).index)
    domain = [words.origin(name) for name in origins]
    title = gettext("Written by")
    line = (
        alt.Chart()
        .mark_line()
        .encode(
            x=alt.X("bleu:Q", title=gettext("Sentence-BLEU"), axis=alt.Axis(tickCount=5)),
            y=alt.Y("share:Q", title=gettext("Share of pairs"), axis=alt.Axis(format="~%", tickCount=5)),
            color=alt.Color(
                "origin:N", scale=alt.Scale(domain=domain, range=[colours[name] for name in origins]), title=title
            ),
            strokeDash=alt.StrokeDash(
                "origin:N", scale=alt.Scale(domain=domain, range=list(DASHES[: len(domain)])), title=title
            ),
        )
    )
    limit = alt.Chart().mark_rule(strokeDash=[3, 3]).encode(x=alt.datum(parameters.get("reuse_limit", 0)))
    panel = (limit + line if "reuse_limit" in parameters else line).properties(width=165, height=170)
    styles = list(dict.fromkeys(str(row["style"]) for row in shown))
    return spec(panel.facet(column=alt.Column("style:N", sort=styles, title=None), data=data(shown)))


def reference_metrics(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Rho with its interval by dimension, a mark for each metric, a panel for each ranking."""
    import altair as alt

    rows = [row for row in tables["reference_metrics"] if row["rho"] is not None]
    refuse_empty(rows)
    shown = [
        {
            "dimension": labels.dimension(row),
            "metric": METRICS[row["metric"]],
            "ranking": str(RANKINGS[row["ranking"]]),
            "rho": row["rho"],
            "low": row["low"],
            "high": row["high"],
        }
        for row in rows
    ]
    metrics = [name for label, name in METRICS.items() if any(row["metric"] == label for row in rows)]
    scale = alt.Scale(domain=metrics, range=[colours[name] for name in ("a", "b", "system")][: len(metrics)])
    title = gettext("Metric")
    base = alt.Chart().encode(
        y=alt.Y("dimension:N", sort=list(dict.fromkeys(row["dimension"] for row in shown)), title=None),
        yOffset=alt.YOffset("metric:N", sort=metrics),
        color=alt.Color("metric:N", scale=scale, title=title),
    )
    x = alt.X("low:Q", title=gettext("Spearman's rho with the grades"), axis=alt.Axis(tickCount=5))
    rules = base.mark_rule(strokeWidth=2).encode(x=x, x2="high:Q")
    shapes = alt.Scale(domain=metrics, range=list(SHAPES[: len(metrics)]))
    points = base.mark_point(filled=True, opacity=1, size=50).encode(
        x="rho:Q", shape=alt.Shape("metric:N", scale=shapes, title=title)
    )
    chance = alt.Chart().mark_rule(strokeDash=[3, 3]).encode(x=alt.datum(0))
    panel = (chance + rules + points).properties(width=260, height=alt.Step(12))
    column = alt.Column("ranking:N", sort=[str(RANKINGS[name]) for name in ORDER], title=None)
    return spec(panel.facet(column=column, data=data(shown)))


def _scores(tables: Tables) -> dict[tuple[str, str], list[float]]:
    """The scores of pairs by style and origin, in the order in which the responses have them."""
    about: dict[str, Row] = {row["response"]: row for row in tables["responses"]}
    found: dict[tuple[str, str], list[float]] = {}
    for row in tables["text_reuse"]:
        if row["bleu"] is not None:
            own = about[row["response"]]
            found.setdefault((own["style"], own["origin"]), []).append(row["bleu"])
    return dict(sorted(found.items()))


def _cumulative(values: list[float]) -> list[float]:
    """What share of the values is at most each of `BLEUS`."""
    ranked = np.sort(np.asarray(values))
    shares: list[float] = (np.searchsorted(ranked, BLEUS, side="right") / len(ranked)).tolist()
    return shares
