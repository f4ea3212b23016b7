"""What writers said, and what their logs say."""

import textwrap

import numpy as np
from django.utils.translation import gettext

from ..captions.behaviour import PROCESS
from .making import Labels, Spec, Tables, data, refuse_empty, spec

#: The measures that are drawn, in this order, where a log says them.
SHOWN = (
    "active_seconds", "pauses", "revisions", "deleted", "at_once_share", "passage_share", "pasted_share",
    "passages_opened", "away_seconds",
)  # fmt: skip
BINS = 20
#: Questions stand over their panel in lines of so many letters; no question needs more lines to be told from others.
QUESTION_WIDTH, QUESTION_LINES, LINE = 34, 4, "|"
#: A few logs that lie open over night would stretch an axis: what lies beyond this quantile is counted at its end.
LAST = 0.98


def survey(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Share of each answer with its interval, a panel for each question."""
    import altair as alt

    shown = [
        {
            "question": _wrapped(labels.questions.text(row)),
            "answer": labels.questions.answer(row),
            "option": row["option"],
            "share": row["value"],
            "low": row["low"],
            "high": row["high"],
        }
        for row in tables["survey"]
        if row["statistic"] == "share" and row["value"] is not None
    ]
    refuse_empty(shown)
    answers = list(dict.fromkeys(row["answer"] for row in sorted(shown, key=lambda row: row["option"])))
    base = alt.Chart().encode(y=alt.Y("answer:N", sort=answers, title=None))
    percent = alt.Axis(format="~%", values=[0, 0.5, 1])
    bars = base.mark_bar(color=colours["a"], opacity=0.8).encode(
        x=alt.X("share:Q", title=gettext("Share of answers"), axis=percent, scale=alt.Scale(domain=[0, 1]))
    )
    rules = base.mark_rule(strokeWidth=2, color=colours["b"]).encode(x="low:Q", x2="high:Q")
    questions = list(dict.fromkeys(row["question"] for row in shown))
    panel = (bars + rules).properties(width=140, height=alt.Step(16))
    header = alt.Header(labelExpr=f"split(datum.label, '{LINE}')", labelLimit=0)
    facet = alt.Facet("question:N", sort=questions, title=None, header=header)
    made = panel.facet(facet, columns=3, data=data(shown))
    return spec(made.resolve_scale(y="independent").resolve_axis(x="independent"))


def _wrapped(question: str) -> str:
    """A question in lines that fit over a panel; a very long one is cut."""
    lines = textwrap.wrap(question.replace(LINE, " "), QUESTION_WIDTH)
    more = len(lines) > QUESTION_LINES
    return LINE.join(lines[:QUESTION_LINES]) + ("…" if more else "")


def writing_process(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """How many logs have which value of a measure, a panel for each; the median as a line."""
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
        y=alt.Y("share:Q", title=gettext("Share of logs"), axis=alt.Axis(format="~%", tickCount=3)),
    )  # fmt: skip
    line = alt.Chart().mark_rule(strokeWidth=2, strokeDash=[4, 3], color=colours["b"]).encode(x="mean(median):Q")
    order = list(dict.fromkeys(str(row["measure"]) for row in shown))
    panel = (bars + line).properties(width=150, height=90)
    facet = alt.Facet("measure:N", sort=order, title=None)
    made = panel.facet(facet, columns=4, data=data(shown)).resolve_scale(x="independent", y="independent")
    return spec(made)
