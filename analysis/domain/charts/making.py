"""What makes of charts share: names in words, data, the frame."""

from dataclasses import dataclass, field
from typing import Any

from ..pages.questions import Questions
from ..results.schema import Row

Spec = dict[str, Any]
#: Rows of the tables that a chart shows, by table.
Tables = dict[str, list[Row]]


class EmptyChartError(LookupError):
    """The run holds nothing that this chart could show."""


@dataclass(frozen=True)
class Labels:
    """Names in words."""

    dimensions: dict[str, str]
    styles: dict[str, str]
    questions: Questions = field(default_factory=Questions)

    def dimension(self, row: Row) -> str:
        """Return the label of a row's dimension."""
        return self.dimensions.get(row["dimension"], str(row["dimension"]))


def data(rows: list[Any]) -> Any:
    """Rows as the data of a chart."""
    import altair as alt

    return alt.InlineData(values=rows)


def spec(chart: Any) -> Spec:
    """A chart as a specification, with room around it."""
    found: Spec = chart.to_dict()
    # Drawn with the fonts of this machine, read with those of the reader's: room for labels that come out wider.
    return found | {"padding": {"left": 30, "right": 40, "top": 4, "bottom": 4}}


def category(field: str, order: list[str], **axis: Any) -> Any:
    """Vertical places of categories: all of `order`, also those without a value, so that panels agree on them."""
    import altair as alt

    return alt.Y(f"{field}:N", sort=order, scale=alt.Scale(domain=order), title=None, axis=alt.Axis(**axis))


def wrapped(panel: Any, field: str, order: list[str], rows: list[Any], *, columns: int) -> Any:
    """Panels in rows of so many. Each has its own axis: a shared one also stands where the last row has no panel."""
    import altair as alt

    facet = alt.Facet(f"{field}:N", sort=order, title=None)
    return panel.facet(facet, columns=columns, data=data(rows)).resolve_axis(x="independent")


def whole_ticks(low: int, high: int, most: int = 5) -> list[int]:
    """At most `most` whole numbers for an axis, at equal distances, from `low` on."""
    step = max(1, -(-(high - low) // max(most - 1, 1)))
    return list(range(low, high + 1, step))


def refuse_empty(rows: list[Any]) -> None:
    """Raise `EmptyChartError` if there is nothing to show."""
    if not rows:
        raise EmptyChartError("This run holds nothing that the chart could show.")
