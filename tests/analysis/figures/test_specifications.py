"""Every chart, read as a Vega-Lite specification: each value stands at its own category, and its axes can be read."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import pairwise, product
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from analysis.figures import figure, renderer
from analysis.figures.vega_lite import Labels, sized, whole_ticks
from analysis.tables.value_labels import Questions
from tests.analysis.figures import chart_rows

NAMES = {"clear": "Clearness", "deep": "Depth", "whole": "Completeness", "novel": "Novelty"}
LABELS = Labels(NAMES, {"bullet": "Bullet points", "essay": "Essay"}, Questions())
PARAMETERS = {"threshold": 0.5, "spam_threshold": 0.7, "reuse_limit": 20}
MULTIPLE = ("hconcat", "vconcat", "concat", "layer")
LETTER = 6.7


@cache
def on_paper(name: str) -> figure.Spec:
    return figure._draw(name, "light", chart_rows.tables_of(name), PARAMETERS, LABELS)


def made(name: str, size: str = "paper") -> figure.Spec:
    return sized(on_paper(name), size)


def units(part: dict[str, Any], data: str = "", facets: tuple[str, ...] = (), level: dict[str, Any] | None = None,
          titles: tuple[str, ...] = ()) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Every mark with its encoding, data, fields of panels, and the titles above it."""
    data = part.get("data", {}).get("name", data)
    encoding = {**(level or {}), **part.get("encoding", {})}
    title = part.get("title")
    title = title.get("text", "") if isinstance(title, dict) else title
    titles = (*titles, " ".join(title) if isinstance(title, list) else title) if title else titles
    facet = part.get("facet", {})
    fields = [facet] if "field" in facet else list(facet.values())
    facets += tuple(each["field"] for each in fields)
    if "spec" in part:
        yield from units(part["spec"], data, facets, encoding, titles)
    for name in MULTIPLE:
        for inner in part.get(name, ()):
            yield from units(inner, data, facets, encoding, titles)
    if "mark" in part:
        yield {"data": data, "encoding": encoding, "facets": facets, "titles": titles, "mark": part["mark"]}


def panels_beside(part: dict[str, Any]) -> Iterator[list[dict[str, Any]]]:
    """Charts that stand beside each other, of which only the first may be labelled."""
    if "hconcat" in part:
        yield part["hconcat"]
    for name in MULTIPLE:
        for inner in part.get(name, ()):
            yield from panels_beside(inner)


def places(spec: figure.Spec, unit: dict[str, Any]) -> list[Any] | None:
    """The categories of a mark's vertical axis from top to bottom, as Vega-Lite lays them out; None if it has none."""
    y = unit["encoding"].get("y", {})
    if y.get("type") != "nominal":
        return None
    present = {row.get(y["field"]) for row in spec["datasets"].get(unit["data"], [])}
    domain = y.get("scale", {}).get("domain") or [name for name in y.get("sort") or () if name in present]
    assert present - {None} <= set(domain)
    assert len(domain) == len(set(domain))
    return list(domain)


@pytest.mark.extended
def test_each_value_stands_at_its_own_category() -> None:
    for name in figure.FIGURES:
        check_values(made(name), name)


def check_values(spec: figure.Spec, name: str) -> None:
    for unit in units(spec):
        order = places(spec, unit)
        if order is None or unit["mark"].get("type") != "point":
            continue
        # No two values of one panel and series at one place: one of them would be another category's.
        series = [unit["encoding"][each]["field"] for each in ("yOffset", "color", "shape")
                  if "field" in unit["encoding"].get(each, {})]  # fmt: skip
        fields = [unit["encoding"]["y"]["field"], *series, *unit["facets"]]
        at = Counter(tuple(row.get(field) for field in fields) for row in spec["datasets"][unit["data"]])
        assert at.most_common(1)[0][1] == 1, (name, at.most_common(1))
    for panels in panels_beside(spec):
        shown = [[places(spec, unit) for unit in units(panel)] for panel in panels]
        laid = [next((order for order in each if order is not None), None) for each in shown]
        bare = [any(is_bare(unit) for unit in units(panel)) for panel in panels]
        for order, without_labels in zip(laid, bare, strict=True):
            assert not without_labels or order == laid[0], f"{name}: a panel without labels is read by the first's"
        assert not bare[0], f"{name}: the first panel has the labels"


def is_bare(unit: dict[str, Any]) -> bool:
    axis = unit["encoding"].get("y", {}).get("axis") or {}
    return axis.get("labels") is False


#: Of charts that show a table's estimates as they are: the table, its figures, and the keys that tell them apart.
SHOWN = {
    "agreement": (("alpha",), ("dimension",)), "model_judges": (
        ("alpha_orders", "alpha_gold", "alpha_inference", "mean_rho", "front_preference"), ("dimension",)),
    "grades": (("mean",), ("dimension", "style")), "order_effects": (("alpha",), ("dimension",)),
    "reference_metrics": (("rho",), ("dimension",)), "model_self_preference": (("model", "gold"), ("dimension",)),
    "leaderboard": (("rank",), ("dimension",)), "citation_rank_medians": (("median_rank",), ("style",)),
    "merits": (("merit",), ("dimension",)), "grades_of_systems": (("mean_grade",), ("dimension",)),
    "interdependence": (("tau",), ("dimension_1", "dimension_2")),
}  # fmt: skip


@pytest.mark.parametrize("name", SHOWN)
def test_the_category_of_a_value_is_that_of_its_row_in_the_table(name: str) -> None:
    figures, keys = SHOWN[name]
    table = chart_rows.rows_of(figure.FIGURES[name].tables[0])
    words = NAMES | LABELS.styles | {"all": None}
    rows_with = {row[figure]: row for row in table for figure in figures if row[figure] is not None}
    spec = made(name)
    drawn = 0
    for unit in units(spec):
        for row in spec["datasets"].get(unit["data"], []):
            for value in (value for value in row.values() if isinstance(value, float) and value in rows_with):
                labels = {words.get(rows_with[value][key]) for key in keys} - {None}
                assert labels <= set(map(str, row.values()))
                drawn += 1
    assert drawn


@pytest.mark.extended
def test_no_axis_stands_without_its_panel() -> None:
    """Vega-Lite draws a shared axis below each column, also where the last row of panels has none."""
    for name, size in product(figure.FIGURES, figure.SIZES):
        spec = made(name, size)
        for part in (each for each in faceted(spec) if "columns" in each and "field" in each["facet"]):
            panels = {row.get(part["facet"]["field"]) for rows in spec["datasets"].values() for row in rows} - {None}
            is_whole = len(panels) % part["columns"] == 0
            own = [part.get("resolve", {}).get(each, {}).get("x") for each in ("axis", "scale")]
            assert is_whole or "independent" in own, (name, size)


def faceted(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "facet" in part:
        yield part
    for name in MULTIPLE:
        for inner in part.get(name, ()):
            yield from faceted(inner)


# On paper there is the least room for labels.
@pytest.mark.parametrize(
    "size", [size if size == "paper" else pytest.param(size, marks=pytest.mark.extended) for size in figure.SIZES]
)
@pytest.mark.extended
def test_labels_of_an_axis_are_different_and_do_not_touch(size: str) -> None:
    assert {name: labels for name in figure.FIGURES if (labels := touching_labels(name, size))} == {}


def touching_labels(name: str, size: str) -> list[tuple[str, ...]]:
    """Labels of one axis that are the same, or of one line that overlap: "4.5" and "5.0" would read as one number."""
    axes = list(axes_of(renderer.draw(made(name, size), "svg").decode()))
    found: list[tuple[str, ...]] = []
    for labels in axes:
        found += [(text,) for text, count in Counter(text for _x, _y, text, _anchor in labels).items() if count > 1]
    lines: dict[float, list[tuple[float, float, str]]] = defaultdict(list)
    for x, y, text, anchor in (label for labels in axes for label in labels):
        width = LETTER * len(text)
        start = x - {"end": width, "middle": width / 2}.get(anchor, 0)
        lines[round(y)].append((start, start + width, text))
    for line in lines.values():
        for (_start, end, one), (start, _end, other) in pairwise(sorted(line)):
            found += [(one, other)] if end > start else []
    return found


def axes_of(svg: str) -> Iterator[list[tuple[float, float, str, str]]]:
    """The labels of each horizontal axis: x and y in the picture, text, anchor."""
    for group, x, y in elements(ET.fromstring(svg), 0.0, 0.0):
        if "role-axis-label" in (group.get("class") or ""):
            labels = [
                (left, top, "".join(text.itertext()), text.get("text-anchor") or "")
                for text, left, top in elements(group, x, y)
                if text.tag.endswith("}text")
                and text.get("opacity") != "0"
                and "rotate" not in text.get("transform", "")
            ]
            if labels and len({top for _x, top, _text, _anchor in labels}) == 1:
                yield labels


def elements(parent: ET.Element, x: float, y: float) -> Iterator[tuple[ET.Element, float, float]]:
    """Everything in an element, with its place in the picture."""
    for child in parent:
        moved = re.search(r"translate\(([-\d.]+)[, ]([-\d.]+)\)", child.get("transform") or "")
        left, top = (x + float(moved[1]), y + float(moved[2])) if moved else (x, y)
        yield child, left, top
        yield from elements(child, left, top)


def test_ticks_of_ranks_and_counts_are_whole_and_different() -> None:
    assert whole_ticks(1, 3) == [1, 2, 3]
    assert whole_ticks(0, 1, 4) == [0, 1]
    assert whole_ticks(1, 20) == [1, 6, 11, 16]
    assert all(len(whole_ticks(1, last)) <= 5 for last in range(1, 300))
