"""Figure of text reuse (crowdrag25, Figure 3)."""

import numpy as np

from ...figures.figure import Figure
from ...figures.vega_lite import Labels, Spec, Tables, data, refuse_empty, spec
from ...tables import value_labels
from ...tables.rows import Row
from ..reference_metrics.figures import DASHES

#: Cumulative shares are drawn at integer BLEU scores, more finely than the size of the chart can show.
BLEUS = np.arange(101)


def text_reuse(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Cumulative share of pairs by BLEU, a curve for each origin, a panel for each style."""
    import altair as alt

    scores = _scores(tables)
    shown = [
        {
            "style": labels.styles.get(style, style),
            "origin": value_labels.origin(origin),
            "bleu": int(bleu),
            "share": share,
        }
        for (style, origin), values in scores.items()
        for bleu, share in zip(BLEUS, _cumulative(values), strict=True)
    ]
    refuse_empty(shown)
    origins = sorted({origin for _style, origin in scores}, key=list(colours).index)
    domain = [value_labels.origin(name) for name in origins]
    title = "Written by"
    line = (
        alt.Chart()
        .mark_line()
        .encode(
            x=alt.X("bleu:Q", title="Sentence-BLEU", axis=alt.Axis(tickCount=5)),
            y=alt.Y("share:Q", title="Share of pairs", axis=alt.Axis(format="~%", tickCount=5)),
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


def _scores(tables: Tables) -> dict[tuple[str, str], list[float]]:
    """Return the scores of pairs by style and origin, in table order."""
    about: dict[str, Row] = {row["response"]: row for row in tables["responses"]}
    scores: dict[tuple[str, str], list[float]] = {}
    for row in tables["text_reuse"]:
        if row["bleu"] is not None:
            response = about[row["response"]]
            scores.setdefault((response["style"], response["origin"]), []).append(row["bleu"])
    return dict(sorted(scores.items()))


def _cumulative(values: list[float]) -> list[float]:
    """Return the share of values that are at most each of `BLEUS`."""
    ranked = np.sort(np.asarray(values))
    shares: list[float] = (np.searchsorted(ranked, BLEUS, side="right") / len(ranked)).tolist()
    return shares


FIGURES = (
    Figure(
        "text_reuse",
        "Text reuse",
        (
            "Cumulative share of pairs of a statement and a cited passage by sentence-BLEU (orders up to 8), "
            "by style and origin. A curve that rises late means much copying. From the dashed line at {reuse_limit} "
            "on, a statement counts as copied."
        ),
        (
            "Curves of cumulative shares over BLEU from 0 to 100, one panel for each style and one curve for "
            "each origin."
        ),
        tables=("text_reuse", "responses"),
        draw=text_reuse,
    ),
)
