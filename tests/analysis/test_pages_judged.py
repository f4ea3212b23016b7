"""The pages about order and dimensions, and about models as judges."""

import re

import pytest

from analysis.models import Table
from crowdrag.studies.models import Study
from tests.analysis import judged_both_ways, small_study
from tests.analysis.judged_both_ways import MODEL, PEOPLE, WRITER
from tests.analysis.small_study import analyse

from .visits import visit

pytestmark = pytest.mark.django_db


def page(study: Study, name: str) -> str:
    """A page of a new analysis of the study."""
    analyse(study)
    return visit(study, name).content.decode()


def judged(votes=MODEL, **given) -> Study:
    study = judged_both_ways.people()
    judged_both_ways.model(study, votes, **given)
    return study


def cells(html: str, row: str) -> list[float | None]:
    """The numbers of the first row of a table that begins so."""
    found = re.search(rf"<th scope=\"row\">{row}</th>(.*?)</tr>", html, re.DOTALL)
    assert found
    return [float(cell) if cell else None for cell in re.findall(r'<td class="num" data-value="([^"]*)"', found[1])]


def test_order_page_shows_each_part_and_the_matrix_where_there_is_one():
    html = page(judged_both_ways.people(), "order/")
    rows = Table.objects.get(name="order_effects").rows
    alphas = [row["alpha"] for row in rows if row["dimension"] == "clear" and row["effect"] == "within"]
    assert cells(html, "Clear")[:3] == pytest.approx(alphas)
    for name in ("order_effects", "order_differences", "front_preferences", "interdependence"):
        assert f"/results/tables/{name}.csv?run=" in html
    assert "/results/charts/order_effects.svg?run=" in html
    assert "/results/charts/interdependence.svg" not in html  # one dimension correlates with none
    html = page(small_study.make(), "order/")
    assert "/results/charts/interdependence.svg?run=" in html
    table = Table.objects.filter(name="interdependence").latest("pk")
    rows = {(row["dimension_1"], row["dimension_2"]): row["tau"] for row in table.rows}
    assert cells(html.split("/results/charts/interdependence.svg")[-1], "Clear") == pytest.approx(
        [rows["clear", "deep"]]
    )


def test_order_page_tells_what_cannot_be_computed():
    study = judged_both_ways.people({pair: v for pair, v in PEOPLE.items() if pair[0] < pair[1]})
    analyse(study)
    notes = dict(visit(study, "order/").context["notes"])
    assert {row["note"] for row in Table.objects.get(name="order_effects").rows if "note" in row} <= set(notes)


def test_models_page_is_laid_out_as_table_9():
    study = judged()
    judged_both_ways.model(study, MODEL, inference="INDIVIDUAL")
    html = page(study, "models/")
    rows = Table.objects.get(name="model_judges").rows
    own = {row["inference"]: row for row in rows if row["dimension"] == "clear"}
    names = ("alpha_orders", "alpha_gold", "mean_rho", "front_preference")
    expected = [own[way][name] for way in ("combined", "individual") for name in names]
    assert cells(html, "Clear") == pytest.approx([*expected, own["combined"]["alpha_inference"]])
    assert "/results/charts/model_judges.svg?run=" in html
    assert "/results/charts/model_self_preference.svg?run=" in html


def test_models_page_of_a_model_that_wrote_nothing_has_no_own_responses_and_its_name_is_a_text():
    html = page(judged(name="<script>alert(1)</script>"), "models/")
    assert "model_judges.svg" in html
    assert "model_self_preference.svg" not in html
    assert "<script>alert" not in html
    assert WRITER not in html


def test_models_page_shows_none_where_nothing_is_compared():
    analyse(judged_both_ways.people())
    study = judged(name="one")
    analyse(study, pool="MODEL")
    old = judged()
    run = analyse(old)
    Table.objects.filter(run=run, name__in=["order_effects", "interdependence", "model_judges"]).delete()
    for each in (study, old, Study.objects.earliest("pk")):
        context = visit(each, "models/").context
        assert (context["run"] is None, len(context["models"])) == (False, 0)
    assert not visit(old, "order/").context["effects"]


@pytest.mark.parametrize("models", [1, 7])
def test_many_models_come_in_pages_and_cost_no_more_queries(models, django_assert_max_num_queries):
    study = judged_both_ways.people()
    for number in range(models):
        judged_both_ways.model(study, name=f"judge-{number}")
    analyse(study)
    with django_assert_max_num_queries(30):
        answer = visit(study, "models/")
    assert len(answer.context["models"]) == min(models, 5)
    assert ("?page=2" in answer.content.decode()) is (models > 5)
    if models > 5:
        assert "judge-6" in visit(study, "models/?page=2").content.decode()
