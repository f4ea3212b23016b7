"""Common functions of charts: labels, data, frame, colours by origin, and output size.

Charts declare the width of a panel on paper. For other sizes, panels are stretched or stacked until the chart fits; the
font size stays the same.
"""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from ..tables import value_labels
from ..tables.rows import Row
from ..tables.value_labels import Questions

Spec = dict[str, Any]
#: Rows of a chart's tables, by table.
Tables = dict[str, list[Row]]


class EmptyChartError(LookupError):
    """The run has no data for this chart."""


@dataclass(frozen=True)
class Labels:
    """Labels of values."""

    dimensions: dict[str, str]
    styles: dict[str, str]
    questions: Questions = field(default_factory=Questions)

    def dimension(self, row: Row) -> str:
        """Return the label of a row's dimension."""
        return self.dimensions.get(row["dimension"], str(row["dimension"]))


def data(rows: list[Any]) -> Any:
    """Return rows as the data of a chart."""
    import altair as alt

    return alt.InlineData(values=rows)


def spec(chart: Any) -> Spec:
    """Return a chart as a specification, with padding."""
    specification: Spec = chart.to_dict()
    # Measured with the fonts of this machine but shown with the reader's: leave room for wider labels.
    return specification | {"padding": {"left": 30, "right": 40, "top": 4, "bottom": 4}}


def category(field: str, order: list[str], **axis: Any) -> Any:
    """Return a vertical axis of categories: all of `order`, even without a value, so that panels are aligned."""
    import altair as alt

    return alt.Y(f"{field}:N", sort=order, scale=alt.Scale(domain=order), title=None, axis=alt.Axis(**axis))


def wrapped(panel: Any, field: str, order: list[str], rows: list[Any], *, columns: int) -> Any:
    """Arrange panels in rows. Each has its own axis: a shared one would also be below a missing panel."""
    import altair as alt

    facet = alt.Facet(f"{field}:N", sort=order, title=None)
    return panel.facet(facet, columns=columns, data=data(rows)).resolve_axis(x="independent")


def whole_ticks(low: int, high: int, most: int = 5) -> list[int]:
    """Return at most `most` equally spaced integers for an axis, starting at `low`."""
    step = max(1, -(-(high - low) // max(most - 1, 1)))
    return list(range(low, high + 1, step))


def refuse_empty(rows: list[Any]) -> None:
    """Raise `EmptyChartError` if there is nothing to show."""
    if not rows:
        raise EmptyChartError("This run has no data for this chart.")


def coloured_areas(base: Any, field: str, colour: Any, **how: Any) -> list[Any]:
    """Draw an area for each value of a field, in its colour, but not in the legend, which shows lines."""
    import altair as alt

    scale = colour.to_dict()["scale"]
    return [
        base.mark_area(color=shade, **how).transform_filter(alt.datum[field] == name)
        for name, shade in zip(scale["domain"], scale["range"], strict=True)
    ]


def style_label(labels: Labels, name: str) -> str:
    """Return the label of a style."""
    return labels.styles.get(name, name)


def origins_in(rows: list[Row]) -> list[str]:
    """Return the distinct origins of rows."""
    return list(dict.fromkeys(row["origin"] for row in rows))


def origin_colours(rows: list[Row], colours: Spec) -> tuple[list[str], Any]:
    """Return the labels of the origins, and their colours."""
    import altair as alt

    names = origins_in(rows)
    domain = [value_labels.origin(name) for name in names]
    scale = alt.Scale(domain=domain, range=[str(colours.get(name, colours["n"])) for name in names])
    return domain, alt.Color("origin:N", scale=scale, title="Written by")


SIZES = ("paper", "wide", "narrow")
#: Pixels for panels and labels: in a card on a page 1,280 pixels wide, and on a phone 390 pixels wide.
ROOM = {"wide": 1080, "narrow": 290}
#: Wider panels show nothing more, narrower ones are illegible.
WIDEST, NARROWEST = 560, 96
GAP, LETTER, AXIS = 30, 6.6, 34
#: By how much a reader's font may be wider.
WIDER = 0.2
#: Maximum label width in pixels; longer labels end in an ellipsis, so that panels on a phone have enough room.
LABELS = {"wide": 190, "narrow": 150}
_MULTIPLE = ("hconcat", "vconcat", "concat")


def sized(spec: Spec, size: str) -> Spec:
    """Fit a chart to a size: "wide", "narrow", or unchanged ("paper")."""
    if size == "paper":
        return spec
    resized = deepcopy(spec)
    if size == "narrow":
        for axis in _axes(resized):
            axis.pop("labelLimit", None)  # the limit for paper is too wide for a phone
        for encoding in _encodings(resized):
            (encoding.get("color", {}).get("legend") or {}).pop("columns", None)
    resized = _fitted(resized, size, spec, ROOM[size])
    config = resized.get("config", {})
    legend = {
        "orient": "top", "direction": "horizontal" if size == "wide" else "vertical", "offset": 8, "columnPadding": 34,
    }  # fmt: skip
    resized["config"] = config | {
        "legend": config.get("legend", {}) | legend,
        "axisY": config.get("axisY", {}) | {"labelLimit": LABELS[size]},
        "facet": {"spacing": GAP},
        "concat": {"spacing": GAP},
    }
    # The reader's font may be wider than that of this machine: leave room for long labels on the left.
    left = 14 + int(WIDER * _longest(resized, spec, size))
    return resized | {"padding": {"left": left, "right": 20, "top": 4, "bottom": 4}}


def _longest(part: Spec, whole: Spec, size: str) -> float:
    """Estimate the width of the widest labels on any vertical axis."""
    inner = [inner_part for name in _MULTIPLE for inner_part in part.get(name, ())]
    return max(
        (_longest(inner_part, whole, size) for inner_part in inner),
        default=_labels(part.get("spec", part), whole, size),
    )


def _fitted(part: Spec, size: str, whole: Spec, room: float) -> Spec:
    """Resize a part of a chart so that its panels fit the room."""
    if "facet" in part:
        return _faceted(part, size, whole, room)
    for name in _MULTIPLE:
        if name in part:
            return _beside(part, name, size, whole, room)
    width = part.get("width")
    if isinstance(width, int | float):
        part["width"] = _bounded(room - _labels(part, whole, size))
    elif isinstance(width, dict) and "step" in width and size == "narrow":
        count = max(len(_values(part, whole, _field(part, "x"))), 1)
        part["width"] = {"step": max(30, int((room - _labels(part, whole, size)) / count))}
    return part


def _faceted(part: Spec, size: str, whole: Spec, room: float) -> Spec:
    """Resize panels faceted by a field: as many columns as before, or one on a phone."""
    facet = part["facet"]
    by_column = "column" in facet
    field = (facet["column"] if by_column else facet).get("field", "")
    count = max(len(_values(part, whole, field)), 1)
    across = count if by_column else min(int(part.get("columns", count)), count)
    own_axes = part.get("resolve", {}).get("scale", {}).get("y") == "independent"
    labels = _labels(part["spec"], whole, size)
    if size == "narrow":
        across = 2 if labels <= AXIS and not own_axes and _natural(part["spec"]) <= 165 else 1
        if by_column and "row" not in facet:
            part["facet"] = facet["column"]
            part["columns"] = across
        elif not by_column:
            part["columns"] = across
        else:  # rows and columns are kept, with less room for each
            across = count
    if "columns" in part and count % across:  # a shared axis would also be below a missing panel
        part.setdefault("resolve", {}).setdefault("axis", {})["x"] = "independent"
    kept = labels * (across if own_axes else 1)
    part["spec"]["width"] = _bounded((room - kept - GAP * (across - 1)) / across)
    return part


def _beside(part: Spec, name: str, size: str, whole: Spec, room: float) -> Spec:
    """Resize panels in a row, in a column on a phone; repeat a shared axis title there."""
    parts = part[name]
    across = {"hconcat": len(parts), "vconcat": 1}.get(name, min(int(part.get("columns", len(parts))), len(parts)))
    if size == "narrow" and name != "vconcat":
        across = 1
        if name == "hconcat":
            part["vconcat"] = part.pop("hconcat")
            name = "vconcat"
            _label_all(parts)
        else:
            part["columns"] = 1
    hidden = [size == "wide" and across > 1 and position % across > 0 and not _is_labelled(panel)
              for position, panel in enumerate(parts)]  # fmt: skip
    first = max((_labels(panel, whole, size) for panel in parts), default=0.0) if any(hidden) else 0.0
    share = (room - first - GAP * (across - 1)) / across
    part[name] = [_fitted(panel, size, whole, share + (first if first and position % across == 0 else 0))
                  for position, panel in enumerate(parts)]  # fmt: skip
    return part


def _label_all(parts: list[Spec]) -> None:
    """Label every chart, instead of only the first in a row."""
    for axis in (axis for part in parts for axis in _axes(part)):
        axis.pop("labels", None)
        if axis.get("domain") is not False:
            axis.pop("ticks", None)


def _is_labelled(part: Spec) -> bool:
    return all(axis.get("labels") is not False for axis in _axes(part))


def _axes(part: Spec) -> Iterator[Spec]:
    for encoding in _encodings(part):
        axis = encoding.get("y", {}).get("axis")
        if isinstance(axis, dict):
            yield axis


def _encodings(part: Spec) -> Iterator[Spec]:
    if "encoding" in part:
        yield part["encoding"]
    for name in ("layer", *_MULTIPLE):
        for subpart in part.get(name, ()):
            yield from _encodings(subpart)
    if "spec" in part:
        yield from _encodings(part["spec"])


def _field(part: Spec, channel: str) -> str:
    fields = (encoding[channel].get("field") for encoding in _encodings(part) if channel in encoding)
    return next((str(name) for name in fields if name), "")


def _labels(part: Spec, whole: Spec, size: str) -> float:
    """Estimate the width of the labels on the vertical axis."""
    if not _is_labelled(part):
        return 0.0
    for encoding in _encodings(part):
        y = encoding.get("y", {})
        if y.get("type") in {"nominal", "ordinal"}:
            names = _values(part, whole, y.get("field", ""))
            longest = max((len(str(name)) for name in names), default=0)
            limit = float((y.get("axis") or {}).get("labelLimit", LABELS[size]))
            return min(longest * LETTER, limit) + 10
    return AXIS


def _natural(part: Spec) -> float:
    width = part.get("width")
    return float(width) if isinstance(width, int | float) else float("inf")


def _values(part: Spec, whole: Spec, field: str) -> list[Any]:
    """Return the distinct values of a field in a part's own data, or else in all data."""
    sets = whole.get("datasets", {})
    name = part.get("data", {}).get("name")
    values: dict[Any, None] = {}
    for rows in [sets[name]] if name in sets else sets.values():
        values |= dict.fromkeys(row[field] for row in rows if isinstance(row.get(field), str | int | float))
    return list(values)


def _bounded(width: float) -> int:
    return int(min(max(width, NARROWEST), WIDEST))
