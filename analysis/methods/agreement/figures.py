"""Agreement by dimension."""

from analysis.enums import Coders, Split

from ...figures.figure import Figure
from ...figures.vega_lite import Labels, Spec, Tables, data, refuse_empty, spec


def chart(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Alpha with its interval by dimension; a colour for each kind of coders, a panel for each split."""
    import altair as alt

    rows = tables["agreement"]
    shown = [
        {
            "dimension": labels.dimension(row),
            "split": str(Split(row["split"]).label),
            "coders": str(Coders(row["coders"]).label),
            "alpha": row["alpha"],
            "low": row["low"],
            "high": row["high"],
        }
        for row in rows
        if row["alpha"] is not None
        and row["coders"] in {"crowd", "corrected", "expert", "model"}
        and row["split"] != Split.EXPERT_PAIRS
    ]
    refuse_empty(shown)
    order = list(dict.fromkeys(row["dimension"] for row in shown))
    coders = [str(kind.label) for kind in Coders if any(row["coders"] == kind.label for row in shown)]
    splits = [str(split.label) for split in Split if any(row["split"] == split.label for row in shown)]
    palette = [colours["b"], colours["a"], colours["system"], colours["n"]][: len(coders)]
    scale = alt.Scale(domain=coders, range=palette)
    base = alt.Chart().encode(
        y=alt.Y("dimension:N", sort=order, title=None),
        yOffset=alt.YOffset("coders:N", sort=coders),
        color=alt.Color("coders:N", scale=scale, title="Judges"),
    )
    axis = alt.Axis(tickCount=4, labelFlush=False)
    rules = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title="Krippendorff's alpha", axis=axis), x2="high:Q")
    shape = alt.Shape("coders:N", scale=alt.Scale(domain=coders), title="Judges")
    points = base.mark_point(filled=True, opacity=1, size=55).encode(x="alpha:Q", shape=shape)
    zero = alt.Chart().mark_rule(strokeDash=[3, 3]).encode(x=alt.datum(0))
    panel = (zero + rules + points).properties(width=205, height=alt.Step(14))
    return spec(panel.facet(column=alt.Column("split:N", sort=splits, title=None), data=data(shown)))


FIGURES = (
    Figure(
        "agreement",
        "Agreement by dimension",
        (
            "Krippendorff's alpha by dimension, judges and split of the pairs, with 95 % intervals over topics "
            "and judges."
        ),
        (
            "Points with intervals: alpha by dimension, one colour for each group of judges and one panel "
            "for each split."
        ),
        tables=("agreement",),
        draw=chart,
    ),
)
