"""Plans of a study: the run, its tables, its page."""

import json
from pathlib import Path

import pytest
from django.urls import reverse

from analysis.analyses import services as analyses_services
from analysis.models import ResultTable
from analysis.planning import compute as planning_tables
from analysis.planning import expectations, queries
from analysis.planning import services as planning_services
from analysis.planning.parameters import BadPlanError, PlanParameters
from analysis.stats.planning import MEASURES
from analysis.tables import run_tables
from annotation.campaigns import forecasts, launch
from annotation.campaigns.design import read_design
from annotation.campaigns.problems import NotDraft
from annotation.models import Campaign
from crowdrag.jobs import kinds, lifecycle
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.analysis import small_study
from tests.analysis.archive import exported
from tests.analysis.page_visits import client_of
from tests.annotation import open_campaign
from tests.annotation.campaigns.corpus_to_judge import corpus, draft
from tests.factories import NOW, StudyFactory

pytestmark = pytest.mark.django_db
SAID = {"competence": 0.6, "competence_spread": 0.25, "preferred": 0.7, "neutral": 0.2}
SMALL = {
    "topics": 6, "responses": 4, "k": 3, "more_topics": (12,), "more_k": (5,), "dimensions": 2, "forced": 0, "items": 6,
    "pay": 300, "fee": 100, "simulations": 6,
}  # fmt: skip


@pytest.fixture(autouse=True)
def no_source_is_remembered():
    expectations.source.cache_clear()


def page(study: Study, query: str = "") -> str:
    return f"/studies/{study.slug}/planner/{query}"


def visit(study: Study, query: str = "", role: Role = Role.EDITOR):
    return client_of(study, role).get(page(study, query))


def planned(study: Study, *, seed: int = 0, **asked) -> Run:
    return lifecycle.wait(
        planning_services.start(study=study, parameters=PlanParameters(**SMALL | SAID | asked), seed=seed)
    )


def by_measure(found: list[dict], k: int, topics: int) -> dict[str, dict]:
    return {row["measure"]: row for row in found if (row["k"], row["topics"]) == (k, topics)}


def test_a_plan_says_what_each_design_costs_and_finds():
    run = planned(StudyFactory())
    assert run.state == RunState.DONE
    assert run_tables.names(run) == ["plan", "plan_costs", "plan_next", "plan_goal"]
    found = run_tables.read(run, "plan", "plan_costs", "plan_next")
    assert [(row["k"], row["topics"]) for row in found["plan_costs"]] == [(3, 6), (3, 12), (5, 6), (5, 12)]
    assert [row["present"] for row in found["plan_costs"]] == [True, False, False, False]
    for cost in found["plan_costs"]:
        each = by_measure(found["plan"], cost["k"], cost["topics"])
        assert list(each) == list(MEASURES)
        assert {row["simulations"] for row in each.values()} == {6}
        assert all(row["low"] <= row["value"] <= row["high"] for row in each.values())
    small, large = by_measure(found["plan"], 3, 6), by_measure(found["plan"], 3, 12)
    assert large["difference_width"]["value"] < small["difference_width"]["value"]
    # 6 topics of 6 pairs, a third in both orders: 48 as presented, 8 questionnaires of six, three people each.
    assert found["plan_costs"][0] | {"hours": 0} == {
        "k": 3, "topics": 6, "present": True, "pairs": 36, "presented": 48, "questionnaires": 8, "judgments": 288,
        "people": 24, "hours": 0, "pay": 7200, "fee": 2400, "tax": 0, "writing": 0, "total": 9600, "currency": "USD",
    }  # fmt: skip
    assert {(row["step"], row["k"], row["topics"]) for row in found["plan_next"]} == {("topics", 3, 12), ("k", 5, 6)}


def test_a_plan_says_what_a_campaign_needs_until_decided():
    run = planned(StudyFactory(), topics=30, more_topics=(), preferred=0.95, simulations=2)
    rows = run_tables.read(run, "plan_goal")["plan_goal"]
    assert [(row["k"], row["topics"], row["present"]) for row in rows] == [(3, 30, True), (5, 30, False)]
    for row in rows:
        assert row["power"] + row["wrong"] <= 1
        assert row["most"] == 40 * row["k"]  # 240 presented pairs, six in a questionnaire
        assert row["questionnaires"] <= row["most"]
        assert row["cost"] == round(row["questionnaires"] * 400)
        if row["fixed"] is not None:
            assert row["saved"] == pytest.approx(1 - row["questionnaires"] / row["fixed"])
    assert rows[1]["power"] > 0.5
    assert 'id="campaigns"' in visit(run.study).content.decode()


@pytest.mark.extended
def test_equal_seeds_give_equal_tables_whichever_unit_comes_first():
    study, few = StudyFactory(), {"more_topics": ()}
    first = run_tables.read(planned(study, **few), "plan")
    run = planning_services.start(study=study, parameters=PlanParameters(**SMALL | SAID | few))
    units = run.units.filter(payload__has_key="round").order_by("-position")
    parts = [(unit.position, _simulated(run, unit.position)) for unit in units]
    assert len(parts) == 4
    merged = [row for _position, part in sorted(parts, key=lambda each: each[0]) for row in part]
    assert planning_tables.tables(PlanParameters.read(run.parameters), merged)["plan"] == first["plan"]
    assert run_tables.read(planned(study, seed=1, **few), "plan") != first


def _simulated(run: Run, position: int) -> list[dict]:
    """What the work of a unit found."""
    effect = planning_services.work(kinds.Work(run, run.units.get(position=position)))
    return effect.args[2]


def test_a_few_simulations_of_all_designs_come_first():
    run = planning_services.start(study=StudyFactory(), parameters=PlanParameters(**SMALL | SAID | {"simulations": 30}))
    payloads = list(run.units.order_by("position").values_list("payload", flat=True))
    assert [each["simulations"] for each in payloads[:12]] == [5] * 4 + [12] * 4 + [13] * 4
    assert [(each["k"], each["topics"]) for each in payloads[:4]] == [(3, 6), (3, 12), (5, 6), (5, 12)]


@pytest.mark.extended
def test_a_plan_shows_what_it_has_so_far_and_goes_on_after_a_cancel():
    study = StudyFactory()
    run = planning_services.start(study=study, parameters=PlanParameters(**SMALL | SAID))
    before = planning_services.tables(run)
    assert before["plan"] == []
    assert len(before["plan_costs"]) == 4
    ResultTable.objects.create(run=run, name="plan_part_0", rows=_simulated(run, 0))
    partly = by_measure(planning_services.tables(run)["plan"], 3, 6)
    assert {row["simulations"] for row in partly.values()} == {5}
    text = visit(study).content.decode()
    assert f'hx-get="{page(study, f"{run.key}/")}' in text
    assert f"/planner/{run.key}/chart.svg?of=1" in text
    assert visit(study, f"{run.key}/chart.svg").content.startswith(b"<svg")
    ResultTable.objects.filter(run=run).delete()
    run = lifecycle.cancel(run=run)
    assert visit(study).context["run"] == run
    run = lifecycle.wait(lifecycle.resume(run=run))
    assert run.state == RunState.DONE
    assert not ResultTable.objects.filter(run=run, name__startswith=planning_services.PART).exists()


def test_costs_are_those_that_the_campaign_forecasts():
    here = open_campaign.world(topics=4, responses=4, per_questionnaire=5, dimensions=2, k=3)
    campaign = here.campaign
    campaign.pay, campaign.fee, campaign.tax = 400, 120, 30
    campaign.save()
    forecast = forecasts.forecast(campaign)
    asked = PlanParameters(
        topics=4, responses=4, k=campaign.k, dimensions=2, forced=0, items=5, pay=400, fee=120, tax=30,
        both_orders=forecast.both_orders / forecast.units, minutes=campaign.minutes, **SAID,
    )  # fmt: skip
    found = planning_tables.forecast(asked, campaign.k, 4)
    same = ("units", "both_orders", "items", "questionnaires", "people", "hours", "total", "judgments")
    assert {name: getattr(found, name) for name in same} == {name: getattr(forecast, name) for name in same}
    asked = PlanParameters(**SMALL | SAID | {"writing": 500})
    now, then = planning_tables.row(asked, 3, 6), planning_tables.row(asked, 3, 12)
    assert (now["writing"], then["writing"]) == (0, 6 * 2 * 500)  # paid for topics beyond the present ones
    assert then["total"] == 2 * now["total"] + then["writing"]


def test_the_form_is_filled_with_the_studys_own_design(run):
    study = run.study
    known = queries.default_parameters(study)
    assert (known["topics"], known["responses"], known["styles"], known["dimensions"], known["k"]) == (2, 3, 2, 2, 5)
    assert queries.default_parameters(small_study.make())["source"] is None
    assert queries.default_parameters(study)["source"] == str(run.key)
    context = visit(study).context
    assert (context["form"]["topics"].value(), context["run"]) == (2, None)


@pytest.mark.extended
def test_what_to_expect_comes_from_an_earlier_analysis(run):
    study, source = run.study, run
    asked = PlanParameters(**SMALL | {"source": str(source.key)})
    expected = expectations.expectation(asked, study_id=study.pk, seed=0)
    assert expected.competence.spam.shape == (4, 2)
    run = lifecycle.wait(planning_services.start(study=study, parameters=asked))
    assert run.state == RunState.DONE
    assert set(run.summary["expected"]) >= {"competence", "preferred", "neutral"}
    said = {"preferred": 0.9, "neutral": 0.1, "competence": 0.8, "competence_spread": 0.1}
    surer = expectations.expectation(
        PlanParameters(**SMALL | {"source": str(source.key)} | said), study_id=study.pk, seed=0
    )
    assert expectations.expectation_in_numbers(asked, surer)["preferred"] == pytest.approx(0.9)
    assert surer.neutral == 0.1
    assert (1 - surer.competence.spam).mean() == pytest.approx(0.8, abs=0.02)


def test_a_source_that_is_gone_is_refused():
    study = StudyFactory()
    run = planned(study, source="7c9e6679-7425-40de-944b-e07fc1f90ae7", **dict.fromkeys(SAID))
    assert (run.state, len(run.problems)) == (RunState.FAILED, 1)
    assert visit(study).context["run"] == run


def test_plans_are_read_as_they_were_written_if_they_can_be_made():
    asked = PlanParameters(**SMALL | SAID)
    assert PlanParameters.read(json.loads(json.dumps(asked.write()))) == asked
    for wrong, named in (
        ({"k": 1}, r"\bk\b.*\b2\b.*\b100\b"), ({"preferred": None}, None),
        ({"topics": 5000, "responses": 20}, "100,000"), ({"more_topics": tuple(range(7, 50))}, "40"),
        ({"forced": 3}, None),
    ):  # fmt: skip
        with pytest.raises(BadPlanError, match=named):
            PlanParameters(**SMALL | SAID | wrong)
    for wrong, named in (({"topics": 3, "responses": 3, "colour": 1}, "colour"), ({"topics": 3}, "responses")):
        with pytest.raises(BadPlanError, match=named):
            PlanParameters.read(wrong)


FORM = {
    "topics": "6", "more_topics": "12", "k": "3", "more_k": "", "responses": "4", "styles": "1", "dimensions": "2",
    "forced": "0", "pairs": "", "both_orders": "33.33", "items": "6", "questionnaires_per_person": "1", "minutes": "20",
    "pay": "3.00", "fee": "1", "tax": "0", "writing": "0", "source": "", "competence": "0.6",
    "competence_spread": "0.25", "preferred": "70", "neutral": "20", "simulations": "3", "seed": "0",
}  # fmt: skip


def test_an_editor_plans_from_the_page_and_sees_what_comes_of_it():
    study, other = StudyFactory(), StudyFactory()
    client = client_of(study, Role.EDITOR)
    answer = client.post(page(study), FORM)
    run = Run.objects.get(kind=planning_services.KIND)
    assert answer.url == page(study, f"?run={run.key}")
    assert (run.parameters["pay"], run.parameters["preferred"], run.parameters["more_topics"]) == (300, 0.7, [12])
    run = lifecycle.wait(run)
    answer = client.get(answer.url)
    (block,) = answer.context["next"]
    assert block["first"]["money"] == 96
    assert f'hx-get="{page(study)}' not in answer.content.decode()
    table = client.get(f"/studies/{study.slug}/results/tables/plan.csv?run={run.key}")
    assert table.content.startswith(b"k,topics,")
    assert client.get(page(study, f"{run.key}/chart.exe")).status_code == 404
    assert client.get(page(study, "?run=nonsense")).status_code == 404
    # Of another study it is not found, and of this one it is no analysis.
    for query in (f"?run={run.key}", f"{run.key}/chart.svg"):
        assert visit(other, query).status_code == 404
    assert analyses_services.state(study).run is None
    assert client.get(f"/studies/{study.slug}/results/tables/plan.csv").status_code == 404


def test_a_form_that_cannot_be_is_refused_by_its_field_and_viewers_have_none():
    study = StudyFactory()
    client, viewer = client_of(study, Role.EDITOR), client_of(study)
    answer = client.post(page(study), FORM | {"more_topics": "many"})
    assert (answer.status_code, set(answer.context["form"].errors)) == (422, {"more_topics"})
    assert client.post(page(study), FORM | {"preferred": ""}).context["form"].errors
    assert "<form class" not in viewer.get(page(study)).content.decode()
    assert viewer.post(page(study), FORM).status_code == 200
    assert not Run.objects.filter(kind=planning_services.KIND).exists()


@pytest.mark.extended
@pytest.mark.usefixtures("own_files", "one_transaction")
def test_a_plan_goes_into_the_archive_and_comes_out_again():
    study = StudyFactory()
    run = planned(study, simulations=2)
    other = StudyFactory()
    assert exported.import_archive(other, Path(exported.export(study).file.path)).state == RunState.DONE
    again = Run.objects.get(study=other, kind=planning_services.KIND)
    assert planning_services.tables(again) == planning_services.tables(run)
    assert visit(other).context["run"] == again


def test_a_plan_fills_in_the_setup_of_a_draft() -> None:
    study = corpus(topics=8)
    campaign = draft(study, pay=550)
    run = planning_services.start(study=study, parameters=PlanParameters(**SMALL | SAID | {"pairs": 4}))
    client, page = client_of(study, Role.EDITOR), reverse("planner_use", args=[study.slug, run.key])
    shown = client.get(reverse("planner", args=[study.slug]), {"run": run.key, "campaign": campaign.pk})
    assert page in shown.content.decode()
    for topics, sample in ((6, 6), (12, None)):  # the study has eight
        answer = client.post(page, {"campaign": campaign.pk, "k": 5, "topics": topics})
        assert answer.url == reverse("campaign_setup", args=[study.slug, campaign.pk])
        campaign.refresh_from_db()
        kept = read_design(campaign.design)
        assert (campaign.k, campaign.pay, campaign.fee, campaign.minutes) == (5, 300, 100, 25)
        assert (kept.topic_sample, kept.pairs_per_topic, kept.items_per_questionnaire) == (sample, 4, 6)


def test_a_plan_fills_in_nothing_else() -> None:
    study = corpus(topics=4)
    campaign = draft(study)
    run = planning_services.start(study=study, parameters=PlanParameters(**SMALL | SAID))
    page = reverse("planner_use", args=[study.slug, run.key])
    before = Campaign.objects.filter(pk=campaign.pk).values().get()
    wrong = {"campaign": campaign.pk, "k": 4, "topics": 6}
    assert client_of(study, Role.EDITOR).post(page, wrong).status_code == 302
    assert client_of(study, Role.VIEWER).post(page, wrong | {"k": 5}).status_code == 403
    assert Campaign.objects.filter(pk=campaign.pk).values().get() == before
    launch.open_campaign(campaign=campaign, now=NOW)
    with pytest.raises(NotDraft):
        planning_services.fill_in(run=run, campaign=campaign, k=5, topics=6, now=NOW)
    with pytest.raises(BadPlanError):
        planning_services.fill_in(run=run, campaign=draft(corpus(topics=2)), k=5, topics=6, now=NOW)
