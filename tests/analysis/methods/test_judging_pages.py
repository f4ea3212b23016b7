"""The pages about order and dimensions, and about models as judges."""

import pytest

from analysis.models import ResultTable
from crowdrag.studies.models import Study
from tests.analysis import small_study
from tests.analysis.methods import judged_both_ways
from tests.analysis.methods.judged_both_ways import MODEL, PEOPLE, WRITER
from tests.analysis.page_visits import visit
from tests.analysis.small_study import analyse

pytestmark = pytest.mark.django_db


def page(study: Study, name: str) -> str:
    """A page of a new analysis of the study."""
    analyse(study)
    return visit(study, name).content.decode()


def judged(votes=MODEL, **given) -> Study:
    study = judged_both_ways.people()
    judged_both_ways.model(study, votes, **given)
    return study


@pytest.mark.extended
def test_charts_of_order_and_dimensions_stand_where_there_is_something_to_draw():
    """What the pages show of the demo study is golden."""
    one, two = page(judged_both_ways.people(), "order/"), page(small_study.make(), "order/")
    assert "/results/charts/order_effects.svg?run=" in one
    assert "/results/charts/interdependence.svg" not in one  # one dimension correlates with none
    assert "/results/charts/interdependence.svg?run=" in two
    study = judged_both_ways.people({pair: v for pair, v in PEOPLE.items() if pair[0] < pair[1]})
    analyse(study)
    notes = dict(visit(study, "order/").context["notes"])
    rows = ResultTable.objects.filter(name="order_effects").latest("pk").rows
    assert {row["note"] for row in rows if "note" in row} <= set(notes)


def test_models_page_of_a_model_that_wrote_nothing_has_no_own_responses_and_its_name_is_a_text():
    html = page(judged(name="<script>alert(1)</script>"), "models/")
    assert "model_judges.svg" in html
    assert "model_self_preference.svg" not in html
    assert "<script>alert" not in html
    assert WRITER not in html


@pytest.mark.extended
def test_models_page_shows_none_where_nothing_is_compared():
    analyse(judged_both_ways.people())
    study = judged(name="one")
    analyse(study, pool="MODEL")
    old = judged()
    run = analyse(old)
    ResultTable.objects.filter(run=run, name__in=["order_effects", "interdependence", "model_judges"]).delete()
    for each in (study, old, Study.objects.earliest("pk")):
        context = visit(each, "models/").context
        assert (context["run"] is None, len(context["models"])) == (False, 0)
    assert not visit(old, "order/").context["effects"]


@pytest.mark.extended
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
