"""Interdependence of the dimensions: a matrix."""

from ...figures.figure import Figure
from ...figures.vega_lite import Labels, Spec, Tables, data, refuse_empty, spec
from ...tables import value_labels

# Keeps the number in a cell legible on its colour in both themes.
DEEPEST = 0.65


def chart(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Kendall's tau of every two dimensions as coloured cells with numbers; negative values in the other colour."""
    import altair as alt

    known = [
        row for row in tables["interdependence"] if row["tau"] is not None and row["dimension_1"] != value_labels.ALL
    ]
    cells = [row for row in known if row["dimension_2"] != value_labels.ALL]
    refuse_empty(cells)
    shown = [
        {
            "one": labels.dimensions.get(row["dimension_1"], row["dimension_1"]),
            "other": labels.dimensions.get(row["dimension_2"], row["dimension_2"]),
            "tau": row["tau"],
            "strength": abs(row["tau"]),
            "sign": "negative" if row["tau"] < 0 else "positive",
        }
        for row in cells
    ]
    order = list(dict.fromkeys(row["one"] for row in shown))
    base = alt.Chart(data(shown)).encode(
        x=alt.X("other:N", sort=order, title=None, axis=alt.Axis(labelAngle=-40, orient="top", domain=False)),
        y=alt.Y("one:N", sort=order, title=None, axis=alt.Axis(domain=False)),
    )
    signs = alt.Scale(domain=["positive", "negative"], range=[colours["a"], colours["b"]])
    strength = alt.Scale(domain=[0, 1], range=[0, DEEPEST])
    boxes = base.mark_rect().encode(
        color=alt.Color("sign:N", scale=signs, legend=None),
        opacity=alt.Opacity("strength:Q", scale=strength, legend=None),
    )
    numbers = base.mark_text().encode(text=alt.Text("tau:Q", format=".2f"))
    return spec((boxes + numbers).properties(width=alt.Step(62), height=alt.Step(38)))


FIGURES = (
    Figure(
        "interdependence",
        "Interdependence of the dimensions",
        "Kendall's tau-b between the gold labels of two dimensions. Stronger colours mean higher correlation.",
        "Matrix with the correlation of each two dimensions in a coloured cell.",
        tables=("interdependence",),
        draw=chart,
    ),
)
