"""Figure of reading ease (docs/methods/readability.md)."""

from collections import Counter

from ...figures.figure import Figure
from ...figures.vega_lite import Labels, Spec, Tables, coloured_areas, data, origins_in, refuse_empty, spec
from ...tables import value_labels
from .tables import EASES

#: Bin width of the histogram; values beyond its ends are counted in the outer bins.
EASE_STEP, EASE_FROM, EASE_TO = 5, -30, 100


def readability(tables: Tables, labels: Labels, colours: Spec, parameters: Spec) -> Spec:
    """Distribution of reading ease of responses and cited passages, a panel for each origin."""
    import altair as alt

    rows = tables["responses"]
    counts: dict[tuple[str, str], Counter[int]] = {}
    for row in rows:
        for name in ("flesch", "source_flesch"):
            if row[name] is not None:
                ease = min(max(row[name], EASE_FROM), EASE_TO - 1e-9)
                counts.setdefault((row["origin"], name), Counter())[int((ease - EASE_FROM) // EASE_STEP)] += 1
    shown = [
        {
            "origin": value_labels.origin(origin),
            "text": str(EASES[name]),
            "ease": EASE_FROM + EASE_STEP * (bin_index + 0.5),
            "share": of_class[bin_index] / of_class.total(),
        }
        for (origin, name), of_class in counts.items()
        for bin_index in range((EASE_TO - EASE_FROM) // EASE_STEP)
    ]
    refuse_empty(shown)
    names = [str(EASES[name]) for name in ("flesch", "source_flesch")]
    scale = alt.Scale(domain=names, range=[colours["a"], colours["b"]])
    base = alt.Chart().encode(
        x=alt.X("ease:Q", title="Flesch reading ease", scale=alt.Scale(domain=[EASE_FROM, EASE_TO], nice=False)),
        y=alt.Y("share:Q", title="Share of responses", axis=alt.Axis(format="~%", tickCount=4), stack=None),
    )
    text = alt.Color("text:N", scale=scale, title=None)
    areas = coloured_areas(base, "text", text, opacity=0.18, interpolate="monotone")
    line = base.mark_line(interpolate="monotone").encode(
        color=text,
        strokeDash=alt.StrokeDash("text:N", scale=alt.Scale(domain=names, range=[[1, 0], [5, 3]]), title=None),
    )
    panel = alt.layer(*areas, line).properties(width=300, height=170)
    origins = [value_labels.origin(name) for name in origins_in(rows)]
    return spec(panel.facet(column=alt.Column("origin:N", sort=origins, title=None), data=data(shown)))


FIGURES = (
    Figure(
        "readability",
        "Reading ease",
        (
            "Share of responses by Flesch reading ease of the response's statements and of the passages that "
            "they cite, by origin. Higher values are easier to read."
        ),
        "Distributions of reading ease of responses and cited passages, one panel for each origin.",
        tables=("responses",),
        draw=readability,
    ),
)
