"""Fair RAG: disparity by alpha, and the trade-off curves (fair_rag, Figures 3 to 5)."""

from typing import Any

from analysis.rag.fair_rag import ALL

from ...figures.figure import Figure
from ...figures.vega_lite import Labels, Spec, Tables, data, refuse_empty, spec
from ...tables.rows import Row

SIZE = 190
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [1, 3])
SHADES = ("human", "model", "system", "n")
UNIT = [0.0, 1.0]


def disparity(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Figure 3: normalised disparity of every question, with a column for each alpha and a panel for each retriever."""
    import altair as alt

    rows = [
        row for row in tables["fair_queries"] if row["rank"] == "sampled" and row["disparity_normalised"] is not None
    ]
    refuse_empty(rows)
    shown = [
        {"retriever": row["retriever"], "alpha": f"{row['alpha']:g}", "disparity": row["disparity_normalised"]}
        for row in rows
    ]
    order = [f"{alpha:g}" for alpha in sorted({row["alpha"] for row in rows})]
    x = alt.X("alpha:N", sort=order, title="Alpha", axis=alt.Axis(labelAngle=0))
    y = alt.Y("disparity:Q", title="EE-D, normalised", scale=alt.Scale(domain=UNIT), axis=alt.Axis(tickCount=5))
    base = alt.Chart().encode(x=x)
    points = base.mark_tick(thickness=1.5, opacity=0.45, width=26, color=colours["human"]).encode(y=y)
    means = base.mark_line(color=colours["model"], point=alt.OverlayMarkDef(filled=True, size=50)).encode(
        y=alt.Y("mean(disparity):Q", title="EE-D, normalised")
    )
    panel = (points + means).properties(width=max(120, 45 * len(order)), height=SIZE)
    names = list(dict.fromkeys(row["retriever"] for row in shown))
    return spec(panel.facet(column=alt.Column("retriever:N", sort=names, title=None), data=data(shown)))


def tradeoffs(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Figure 4: ranking quality and utility by disparity."""
    across = "Disparity (EE-D)", "Ranking quality (EE-R)", "Disparity (EE-D)"
    up = "Ranking quality (EE-R)", "Utility (EU)", "Utility (EU)"
    return _panels(tables, colours, zip(("DR", "RU", "DU"), across, up, strict=True))


def attribution(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Figure 5: attribution rate, and disparity among attributed documents."""
    across = "Disparity (EE-D)", "Ranking quality (EE-R)", "Disparity (EE-D)"
    up = "Attribution rate (EAR)", "Attribution rate (EAR)", "Attributed disparity (EAE-D)"
    return _panels(tables, colours, zip(("DA", "RA", "DD"), across, up, strict=True))


def _panels(tables: Tables, colours: Spec, panels: Any) -> Spec:
    import altair as alt

    rows = tables["fair_curves"]
    # All retrievers together (`ALL`) are a separate series.
    names = list(dict.fromkeys(row["retriever"] for row in rows))
    charts = []
    for curve, across, up in panels:
        curve_rows = [row for row in rows if row["curve"] == curve]
        if curve_rows:
            charts.append(_panel(curve_rows, names, across, up, colours, diagonal=curve == "DD"))
    refuse_empty(charts)
    return spec(alt.hconcat(*charts, spacing=25))


def _panel(rows: list[Row], names: list[str], across: str, up: str, colours: Spec, *, diagonal: bool) -> Any:
    import altair as alt

    title = "Retriever"
    words = {name: "all retrievers" if name == ALL else name for name in names}
    shown = [row | {"retriever": words[row["retriever"]]} for row in rows]
    series = list(words.values())
    shades = [colours[SHADES[i % len(SHADES)]] for i in range(len(series))]
    shapes = [SHAPES[i % len(SHAPES)] for i in range(len(series))]
    dashes = [DASHES[i % len(DASHES)] for i in range(len(series))]
    y = alt.Y("y:Q", title=up, scale=alt.Scale(domain=UNIT, clamp=True), axis=alt.Axis(tickCount=5))
    base = alt.Chart(data(shown)).encode(
        x=alt.X("x:Q", title=across, scale=alt.Scale(domain=UNIT, clamp=True), axis=alt.Axis(tickCount=5)),
        color=alt.Color("retriever:N", scale=alt.Scale(domain=series, range=shades), sort=series, title=title),
    )
    lines = base.mark_line(strokeWidth=1.5).encode(
        y=y, strokeDash=alt.StrokeDash("retriever:N", scale=alt.Scale(domain=series, range=dashes), title=title)
    )
    rules = base.mark_rule(strokeWidth=1.5, opacity=0.5).encode(y=alt.Y("low:Q", title=up), y2="high:Q")
    rules = rules.transform_filter("datum.low !== null")
    points = base.mark_point(filled=True, opacity=1, size=45).encode(
        y=y, shape=alt.Shape("retriever:N", scale=alt.Scale(domain=series, range=shapes), title=title)
    )
    layers = rules + lines + points
    if diagonal:
        corner = alt.Chart(data([{"x": 0.0, "y": 0.0}, {"x": 1.0, "y": 1.0}]))
        line = corner.mark_line(strokeDash=[3, 3], strokeWidth=1, color=colours["n"])
        layers = line.encode(x=alt.X("x:Q", title=across), y=alt.Y("y:Q", title=up)) + layers
    return layers.properties(width=SIZE, height=SIZE)


FIGURES = (
    Figure(
        "fair_disparity",
        "Disparity by alpha",
        (
            "Normalised disparity of each question's sampled rankings by alpha. The line is the mean. "
            "Rankings become fairer with lower alpha."
        ),
        (
            "One column of points for each alpha, with one point for each question. Columns of greater "
            "alphas are higher."
        ),
        tables=("fair_queries",),
        draw=disparity,
    ),
    Figure(
        "fair_tradeoffs",
        "Fairness, ranking quality and utility",
        (
            "Means of five intervals, all normalised: ranking quality by disparity, utility by ranking "
            "quality, utility by disparity. Bars: 95 % intervals over resampled questions."
        ),
        "Three panels with one line for each retriever. The table of curves has the numbers.",
        tables=("fair_curves",),
        draw=tradeoffs,
    ),
    Figure(
        "fair_attribution",
        "Fairness and attribution",
        (
            "Means of five intervals, with normalised disparity and ranking quality: attribution rate by "
            "disparity, attribution rate by ranking quality, and disparity of attributed sources by "
            "disparity of retrieved sources, with the diagonal. Bars: 95 % intervals over resampled "
            "questions."
        ),
        "Three panels with one line for each retriever. The table of curves has the numbers.",
        tables=("fair_curves",),
        draw=attribution,
    ),
)
