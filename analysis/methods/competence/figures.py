"""Competence of participants."""

from ...figures.figure import Figure
from ...figures.vega_lite import Labels, Spec, Tables, refuse_empty, spec, whole_ticks, wrapped

BINS = 20


def chart(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Histogram of spam probabilities by dimension, with the threshold of the corrected crowd as a line."""
    import altair as alt

    rows = tables["competence"]
    known = [row for row in rows if row["spam_probability"] is not None]
    refuse_empty(known)
    counts: dict[tuple[str, int], int] = {}
    for row in known:
        bin_index = min(int(row["spam_probability"] * BINS), BINS - 1)
        key = (labels.dimension(row), bin_index)
        counts[key] = counts.get(key, 0) + 1
    order = list(dict.fromkeys(labels.dimension(row) for row in known))
    shown = [
        {"dimension": name, "from": bin_index / BINS, "to": (bin_index + 1) / BINS, "participants": n}
        for (name, bin_index), n in sorted(counts.items(), key=lambda item: (order.index(item[0][0]), item[0][1]))
    ]
    ticks = whole_ticks(0, max(counts.values()), 4)
    bars = alt.Chart().mark_bar(binSpacing=1).encode(
        x=alt.X("from:Q", bin="binned", title="Spam probability", scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(values=[0, 0.5, 1])),
        x2="to:Q",
        y=alt.Y("participants:Q", title="Participants", axis=alt.Axis(values=ticks, format="d")),
    )  # fmt: skip
    limit = alt.Chart().mark_rule(strokeDash=[4, 3], strokeWidth=1.5, color=colours["b"])
    limit = limit.encode(x=alt.datum(parameters.get("spam_threshold", 0.7)))
    panel = (bars + limit).properties(width=140, height=90)
    return spec(wrapped(panel, "dimension", order, shown, columns=4))


FIGURES = (
    Figure(
        "competence",
        "Competence of judges",
        (
            "Participants by spam probability on each dimension (MACE). Competence is 1 minus spam "
            "probability. The corrected crowd leaves out participants above the dashed line at {spam_threshold}."
        ),
        "Histograms of the participants' spam probability, one for each dimension.",
        tables=("competence",),
        draw=chart,
    ),
)
