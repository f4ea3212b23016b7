"""Figure of rank correlations between metrics and grades (crowdrag25, Table 8)."""

from ...figures.figure import Figure
from ...figures.vega_lite import Labels, Spec, Tables, data, refuse_empty, spec
from .tables import METRICS, RANKINGS

#: As in crowdrag25, Table 8.
ORDER = ("best_worst", "full")
DASHES = ([1, 0], [6, 3], [2, 2])
SHAPES = ("circle", "square", "diamond", "triangle-up", "cross")
COLOURS = ("a", "b", "system", "n", "human")


def reference_metrics(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Rho with its interval by dimension; a mark for each metric, a panel for each ranking."""
    import altair as alt

    rows = [row for row in tables["reference_metrics"] if row["rho"] is not None]
    refuse_empty(rows)
    shown = [
        {
            "dimension": labels.dimension(row),
            "metric": METRICS[row["metric"]].label,
            "ranking": str(RANKINGS[row["ranking"]]),
            "rho": row["rho"],
            "low": row["low"],
            "high": row["high"],
        }
        for row in rows
    ]
    metrics = [metric.label for name, metric in METRICS.items() if any(row["metric"] == name for row in rows)]
    scale = alt.Scale(domain=metrics, range=[colours[name] for name in COLOURS[: len(metrics)]])
    title = "Metric"
    base = alt.Chart().encode(
        y=alt.Y("dimension:N", sort=list(dict.fromkeys(row["dimension"] for row in shown)), title=None),
        yOffset=alt.YOffset("metric:N", sort=metrics),
        color=alt.Color("metric:N", scale=scale, title=title),
    )
    x = alt.X("low:Q", title="Spearman's rho with the grades", axis=alt.Axis(tickCount=5))
    rules = base.mark_rule(strokeWidth=2).encode(x=x, x2="high:Q")
    shapes = alt.Scale(domain=metrics, range=list(SHAPES[: len(metrics)]))
    points = base.mark_point(filled=True, opacity=1, size=50).encode(
        x="rho:Q", shape=alt.Shape("metric:N", scale=shapes, title=title)
    )
    chance = alt.Chart().mark_rule(strokeDash=[3, 3]).encode(x=alt.datum(0))
    panel = (chance + rules + points).properties(width=260, height=alt.Step(12))
    column = alt.Column("ranking:N", sort=[str(RANKINGS[name]) for name in ORDER], title=None)
    return spec(panel.facet(column=column, data=data(shown)))


FIGURES = (
    Figure(
        "reference_metrics",
        "Metrics against grades",
        (
            "Spearman's rho between metrics and grades by dimension, with 95 % bootstrap intervals over "
            "topics. 1 means that the metric ranks responses as people do, 0 that it ranks them at random."
        ),
        "Points with intervals by dimension, one panel for each ranking, one mark and colour for each metric.",
        tables=("reference_metrics",),
        draw=reference_metrics,
    ),
)
