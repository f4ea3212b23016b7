"""Charts for a page, a telephone and paper: they fit, and say the same."""

import re

import pytest

from analysis.figures import figure, renderer
from analysis.figures.vega_lite import sized
from crowdrag.jobs.models import Run
from tests.analysis.page_visits import client_of, results

pytestmark = pytest.mark.django_db
SCHEMA = f"https://vega.github.io/schema/vega-lite/v{renderer.VEGA_LITE}.json"


def drawn_width(spec: figure.Spec) -> float:
    found = re.search(r'width="([\d.]+)"', renderer.draw(spec, "svg").decode())
    assert found
    return float(found[1])


@pytest.mark.extended
def test_charts_fit_what_they_stand_in(run: Run) -> None:
    """A little wider is shrunk a little; nothing is wider than can be read so."""
    for name, spec in figure.specifications(run):
        assert sized(spec, "paper") is spec
        for size, most in (("wide", 1250), ("narrow", 420)):
            made = sized(spec, size)
            assert drawn_width(made) < most, name
            assert (made["datasets"], made["description"]) == (spec["datasets"], spec["description"])


def test_panels_stand_below_each_other_on_a_telephone() -> None:
    rows = [{"x": 1, "panel": panel, "name": "n"} for panel in ("a", "b", "c")]
    y = {"field": "name", "type": "nominal"}
    panel = {"mark": "point", "encoding": {"y": y}, "width": 200}
    chart = {"datasets": {"d": rows}, "data": {"name": "d"}, "facet": {"column": {"field": "panel"}}, "spec": panel}
    wide, narrow = sized(chart, "wide"), sized(chart, "narrow")
    assert wide["facet"] == chart["facet"]
    assert 3 * wide["spec"]["width"] > 900
    assert (narrow["facet"], narrow["columns"]) == ({"field": "panel"}, 1)
    beside = {"datasets": {"d": rows}, "hconcat": [
        {**panel, "data": {"name": "d"}},
        {**panel, "data": {"name": "d"}, "encoding": {"y": y | {"axis": {"labels": False}}}},
    ]}  # fmt: skip
    below = sized(beside, "narrow")["vconcat"]
    assert "labels" not in below[1]["encoding"]["y"]["axis"]
    assert sized(beside, "wide")["hconcat"][1]["encoding"]["y"]["axis"] == {"labels": False}


@pytest.mark.extended
def test_labels_that_a_chart_has_room_for_are_whole_on_a_wide_page_and_cut_on_a_telephone() -> None:
    axis = {"labelLimit": 260}
    y = {"field": "name", "type": "nominal", "axis": axis}
    panel = {"mark": "point", "data": {"name": "d"}, "encoding": {"y": y}, "width": 200}
    rows = [{"name": "Upper bound: all documents that help"}]
    legend = {"color": {"field": "name", "legend": {"columns": 2}}}
    chart = {"datasets": {"d": rows}, **panel, "encoding": {"y": y, **legend}}
    wide, narrow = sized(chart, "wide"), sized(chart, "narrow")
    assert (wide["encoding"]["y"]["axis"], narrow["encoding"]["y"]["axis"]) == (axis, {})
    assert (wide["encoding"]["color"]["legend"], narrow["encoding"]["color"]["legend"]) == ({"columns": 2}, {})
    whole = ">Upper bound: all documents that help<"
    assert whole in renderer.draw(wide | {"$schema": SCHEMA}, "svg").decode()
    assert whole not in renderer.draw(narrow | {"$schema": SCHEMA}, "svg").decode()
    assert wide["padding"]["left"] > narrow["padding"]["left"] > 14


@pytest.mark.extended
def test_pages_ask_for_both_sizes_in_both_themes(run: Run) -> None:
    client = client_of(run.study)
    page = client.get(results(run.study)).content.decode()
    asked = re.findall(r"agreement\.svg\?run=[^&]+&(?:amp;)?theme=(\w+)&(?:amp;)?size=(\w+)", page)
    assert asked == [("dark", "narrow"), ("light", "narrow"), ("dark", "wide"), ("light", "wide")]
    at = results(run.study, "charts/agreement.svg")
    different = {client.get(f"{at}?run={run.key}&size={size}").content for size in figure.SIZES}
    assert len(different) == 3
