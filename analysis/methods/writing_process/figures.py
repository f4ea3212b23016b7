"""Figure of the writing process."""

import numpy as np

from ...figures.figure import Figure
from ...figures.vega_lite import Labels, Spec, Tables, data, refuse_empty, spec
from .tables import PROCESS

#: Measures to draw, in this order, if logs have them.
SHOWN = (
    "active_seconds", "pauses", "revisions", "deleted", "at_once_share", "passage_share", "pasted_share",
    "passages_opened", "away_seconds",
)  # fmt: skip
BINS = 20
#: A few logs left open overnight would stretch an axis: values above this quantile are counted at its end.
LAST = 0.98


def writing_process(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Histogram of the logs by value of a measure, a panel for each measure; the median as a line."""
    import altair as alt

    shown = []
    for measure in SHOWN:
        values = np.array(
            [row[measure] for row in tables["writing_process"] if row.get(measure) is not None], dtype=float
        )
        if not values.size:
            continue
        title = str(PROCESS[measure])
        end = float(np.quantile(values, LAST))
        edges = np.linspace(0, end if end > 0 else 1, BINS + 1)
        counts, _edges = np.histogram(np.minimum(values, edges[-1]), edges)
        median = float(np.median(values))
        shown += [
            {"measure": title, "from": float(low), "to": float(high), "share": int(n) / values.size, "median": median}
            for low, high, n in zip(edges[:-1], edges[1:], counts, strict=True)
        ]
    refuse_empty(shown)
    bars = alt.Chart().mark_bar(binSpacing=1, color=colours["a"]).encode(
        x=alt.X("from:Q", bin="binned", title=None, axis=alt.Axis(tickCount=4)),
        x2="to:Q",
        y=alt.Y("share:Q", title="Share of logs", axis=alt.Axis(format="~%", tickCount=3)),
    )  # fmt: skip
    line = alt.Chart().mark_rule(strokeWidth=2, strokeDash=[4, 3], color=colours["b"]).encode(x="mean(median):Q")
    order = list(dict.fromkeys(str(row["measure"]) for row in shown))
    panel = (bars + line).properties(width=150, height=90)
    facet = alt.Facet("measure:N", sort=order, title=None)
    facets = panel.facet(facet, columns=4, data=data(shown)).resolve_scale(x="independent", y="independent")
    return spec(facets)


FIGURES = (
    Figure(
        "writing_process",
        "Writing process",
        "Share of writing logs by measure, with the median as a line.",
        "Histograms of measures of writing logs, one panel for each measure, with a line at the median.",
        tables=("writing_process",),
        draw=writing_process,
    ),
)
