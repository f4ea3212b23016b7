"""The pages about order and dimensions, and about models as judges."""

import re

import pytest
from django.test import Client

from analysis.domain import analysing
from analysis.models import Table
from crowdrag.runs.domain import running
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.analysis import judged_both_ways, small_study
from tests.analysis.judged_both_ways import MODEL, PEOPLE, WRITER
from tests.factories import MembershipFactory

pytestmark = pytest.mark.django_db
QUICK = {"resamples": 30, "restarts": 2, "refine": 0}


@pytest.fixture(autouse=True)
def no_broker(monkeypatch):
    monkeypatch.setattr("crowdrag.runs.tasks.wake", lambda **_: None)


def page(study: Study, part: str, query: str = "") -> str:
    client = Client()
    client.force_login(MembershipFactory(study=study, role=Role.VIEWER).user)
    answer = client.get(f"/studies/{study.slug}/results/{part}/{query}")
    assert answer.status_code == 200
    return answer.content.decode()


def analysed(study: Study, **parameters) -> Study:
    running.wait(analysing.start(study=study, parameters=QUICK | parameters))
    return study


def cells(html: str, row: str) -> list[float | None]:
    """The numbers of the first row of a table that begins so."""
    found = re.search(rf"<th scope=\"row\">{row}</th>(.*?)</tr>", html, re.DOTALL)
    assert found
    return [float(cell) if cell else None for cell in re.findall(r'<td class="num" data-value="([^"]*)"', found[1])]


def test_order_page_shows_each_part_and_how_far_they_are_apart():
    study = analysed(judged_both_ways.people())
    html = page(study, "order")
    rows = Table.objects.get(name="order_effects").rows
    alphas = [row["alpha"] for row in rows if row["dimension"] == "clear" and row["effect"] == "within"]
    assert cells(html, "Clear")[:3] == pytest.approx(alphas)
    for name in ("order_effects", "order_differences", "front_preferences", "interdependence"):
        assert f"/results/tables/{name}.csv?run=" in html
    assert "/results/charts/order_effects.svg?run=" in html
    # One dimension correlates with none: the page says so and shows no empty chart.
    assert "/results/charts/interdependence.svg" not in html
    assert "There is no other dimension with gold labels" in html


def test_order_page_shows_the_matrix_with_its_chart():
    html = page(analysed(small_study.make()), "order")
    assert "/results/charts/interdependence.svg?run=" in html
    rows = {
        (row["dimension_1"], row["dimension_2"]): row["tau"] for row in Table.objects.get(name="interdependence").rows
    }
    matrix = html.split("Interdependence of the dimensions")[-1]
    assert cells(matrix, "Clear") == pytest.approx([rows["clear", "deep"]])


def test_order_page_says_what_cannot_be_said():
    study = analysed(judged_both_ways.people({pair: v for pair, v in PEOPLE.items() if pair[0] < pair[1]}))
    html = page(study, "order")
    assert "What cannot be said from these data" in html
    assert "No pair was judged in both orders on this dimension" in html


def test_models_page_is_laid_out_as_table_9():
    study = judged_both_ways.people()
    judged_both_ways.model(study)
    judged_both_ways.model(study, MODEL, inference="INDIVIDUAL")
    html = page(analysed(study), "models")
    rows = Table.objects.get(name="model_judges").rows
    own = {row["inference"]: row for row in rows if row["dimension"] == "clear"}
    names = ("alpha_orders", "alpha_gold", "mean_rho", "front_preference")
    expected = [own[way][name] for way in ("combined", "individual") for name in names]
    assert cells(html, "Clear") == pytest.approx([*expected, own["combined"]["alpha_inference"]])
    assert "Asked all at once" in html
    assert "Asked one at a time" in html
    assert "/results/charts/model_judges.svg?run=" in html
    assert "/results/charts/model_self_preference.svg?run=" in html


def test_models_page_says_of_a_model_that_wrote_nothing_that_there_is_no_own_response():
    study = judged_both_ways.people()
    judged_both_ways.model(study, name="judge")
    html = page(analysed(study), "models")
    assert "this model wrote none of the responses that it judged" in html
    assert "model_self_preference.svg" not in html


def test_models_page_without_models_says_how_to_get_some():
    html = page(analysed(judged_both_ways.people()), "models")
    assert "No model has judged" in html
    assert "/judges/" in html or "/models/" in html


def test_models_page_of_the_models_own_pool_says_that_it_compares_nothing():
    study = judged_both_ways.people()
    judged_both_ways.model(study, name="one")
    judged_both_ways.model(study, dict.fromkeys(MODEL, ("B", "A")), name="two")
    assert "analysed ones" in page(analysed(study, pool="MODEL"), "models")


@pytest.mark.parametrize("models", [1, 7])
def test_many_models_come_in_pages_and_cost_no_more_queries(models, django_assert_max_num_queries):
    study = judged_both_ways.people()
    for number in range(models):
        judged_both_ways.model(study, name=f"judge-{number}")
    analysed(study)
    with django_assert_max_num_queries(30):
        html = page(study, "models")
    assert html.count("Agreement of judge-") == min(models, 5)
    assert ("?page=2" in html) is (models > 5)
    if models > 5:
        assert "judge-6" in page(study, "models", "?page=2")


def test_an_analysis_from_before_these_tables_has_empty_pages():
    study = judged_both_ways.people()
    judged_both_ways.model(study)
    analysed(study)
    Table.objects.filter(name__in=["order_effects", "interdependence", "model_judges"]).delete()
    assert "Nothing to compare" in page(study, "order")
    assert "No model has judged" in page(study, "models")


def test_names_of_models_are_text():
    study = judged_both_ways.people()
    judged_both_ways.model(study, name="<script>alert(1)</script>")
    html = page(analysed(study), "models")
    assert "<script>alert" not in html
    assert WRITER not in html
