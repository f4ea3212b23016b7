"""Surveys of writers before and after writing."""

import textwrap

from ...figures.figure import Figure
from ...figures.vega_lite import Labels, Spec, Tables, data, refuse_empty, spec

#: Line length and maximum number of lines of a question over its panel, enough to distinguish questions.
QUESTION_WIDTH, QUESTION_LINES, LINE = 34, 4, "|"


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
        x=alt.X("share:Q", title="Share of answers", axis=percent, scale=alt.Scale(domain=[0, 1]))
    )
    rules = base.mark_rule(strokeWidth=2, color=colours["b"]).encode(x="low:Q", x2="high:Q")
    questions = list(dict.fromkeys(row["question"] for row in shown))
    panel = (bars + rules).properties(width=140, height=alt.Step(16))
    header = alt.Header(labelExpr=f"split(datum.label, '{LINE}')", labelLimit=0)
    facet = alt.Facet("question:N", sort=questions, title=None, header=header)
    facets = panel.facet(facet, columns=3, data=data(shown))
    return spec(facets.resolve_scale(y="independent").resolve_axis(x="independent"))


def _wrapped(question: str) -> str:
    """Wrap a question into lines that fit over a panel; very long questions are cut."""
    lines = textwrap.wrap(question.replace(LINE, " "), QUESTION_WIDTH)
    more = len(lines) > QUESTION_LINES
    return LINE.join(lines[:QUESTION_LINES]) + ("…" if more else "")


FIGURES = (
    Figure(
        "survey",
        "Survey",
        "Share of each answer by question, with 95 % intervals over topics.",
        "Bars of the share of each answer, one panel for each question.",
        tables=("survey",),
        draw=survey,
    ),
)
