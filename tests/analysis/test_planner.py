"""Plans of a study: the run, its tables, its page."""

import json
from pathlib import Path

import pytest
from django.test import Client

from analysis.domain import analysing, tables
from analysis.domain.planning import costs, expecting, prefilling, rows, working
from analysis.domain.planning.asked import Asked, BadPlanError
from analysis.models import Table
from analysis.stats.planning import MEASURES
from annotation.domain import campaigns as drafting
from crowdrag.runs import kinds
from crowdrag.runs.domain import running
from crowdrag.runs.enums import RunState
from crowdrag.runs.models import Run
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.analysis import exported, small_study
from tests.annotation import campaigns
from tests.factories import MembershipFactory, StudyFactory

pytestmark = pytest.mark.django_db
SAID = {"competence": 0.6, "competence_spread": 0.25, "preferred": 0.7, "neutral": 0.2}
SMALL = {
    "topics": 6, "responses": 4, "k": 3, "more_topics": (12,), "more_k": (5,), "dimensions": 2, "forced": 0, "items": 6,
    "pay": 300, "fee": 100, "simulations": 6,
}  # fmt: skip


@pytest.fixture(autouse=True)
def no_broker(monkeypatch):
    monkeypatch.setattr("crowdrag.runs.tasks.wake", lambda **_: None)
    expecting.source.cache_clear()


def member_of(study: Study, role: Role = Role.EDITOR) -> Client:
    client = Client()
    client.force_login(MembershipFactory(study=study, role=role).user)
    return client


def planned(study: Study, *, seed: int = 0, **asked) -> Run:
    return running.wait(working.start(study=study, asked=Asked(**SMALL | SAID | asked), seed=seed))


def plans():
    return Run.objects.filter(kind=working.KIND)


def by_measure(found: list[dict], k: int, topics: int) -> dict[str, dict]:
    return {row["measure"]: row for row in found if (row["k"], row["topics"]) == (k, topics)}


def test_a_plan_says_what_each_design_costs_and_finds():
    run = planned(StudyFactory())
    assert run.state == RunState.DONE
    assert tables.names(run) == ["plan", "plan_costs", "plan_next"]
    found = tables.read(run, "plan", "plan_costs", "plan_next")
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


def test_equal_seeds_give_equal_tables_whichever_unit_comes_first():
    study, few = StudyFactory(), {"more_topics": ()}
    first = tables.read(planned(study, **few), "plan")
    run = working.start(study=study, asked=Asked(**SMALL | SAID | few))
    parts = [(unit.position, _simulated(run, unit.position)) for unit in run.units.order_by("-position")]
    assert len(parts) == 4
    merged = [row for _position, part in sorted(parts, key=lambda each: each[0]) for row in part]
    assert rows.tables(Asked.read(run.parameters), merged)["plan"] == first["plan"]
    assert tables.read(planned(study, seed=1, **few), "plan") != first


def _simulated(run: Run, position: int) -> list[dict]:
    """What the work of a unit found."""
    effect = working.work(kinds.Work(run, run.units.get(position=position)))
    return effect.args[2]


def test_a_few_simulations_of_all_designs_come_first():
    run = working.start(study=StudyFactory(), asked=Asked(**SMALL | SAID | {"simulations": 30}))
    payloads = list(run.units.order_by("position").values_list("payload", flat=True))
    assert [each["simulations"] for each in payloads] == [5] * 4 + [12] * 4 + [13] * 4
    assert [(each["k"], each["topics"]) for each in payloads[:4]] == [(3, 6), (3, 12), (5, 6), (5, 12)]


def test_a_plan_shows_what_it_has_so_far_and_goes_on_after_a_cancel():
    study = StudyFactory()
    run = working.start(study=study, asked=Asked(**SMALL | SAID))
    before = working.tables(run)
    assert before["plan"] == []
    assert len(before["plan_costs"]) == 4
    Table.objects.create(run=run, name="plan_part_0", rows=_simulated(run, 0))
    partly = by_measure(working.tables(run)["plan"], 3, 6)
    assert {row["simulations"] for row in partly.values()} == {5}
    client = member_of(study)
    text = client.get(f"/studies/{study.slug}/planner/").content.decode()
    assert "every 3s" in text
    assert f"/planner/{run.key}/chart.svg?of=1" in text
    assert client.get(f"/studies/{study.slug}/planner/{run.key}/chart.svg").content.startswith(b"<svg")
    Table.objects.filter(run=run).delete()
    run = running.cancel(run=run)
    assert "what was simulated before stands below" in client.get(f"/studies/{study.slug}/planner/").content.decode()
    run = running.wait(running.resume(run=run))
    assert run.state == RunState.DONE
    assert not Table.objects.filter(run=run, name__startswith=working.PART).exists()


def test_costs_are_those_that_the_campaign_forecasts():
    here = campaigns.world(topics=4, responses=4, per_questionnaire=5, dimensions=2, k=3)
    campaign = here.campaign
    campaign.pay, campaign.fee, campaign.tax = 400, 120, 30
    campaign.save()
    forecast = drafting.forecast(campaign)
    asked = Asked(
        topics=4, responses=4, k=campaign.k, dimensions=2, forced=0, items=5, pay=400, fee=120, tax=30,
        both_orders=forecast.both_orders / forecast.units, minutes=campaign.minutes, **SAID,
    )  # fmt: skip
    found = costs.forecast(asked, campaign.k, 4)
    same = ("units", "both_orders", "items", "questionnaires", "people", "hours", "total", "judgments")
    assert {name: getattr(found, name) for name in same} == {name: getattr(forecast, name) for name in same}


def test_writing_is_paid_for_topics_beyond_the_present_ones():
    asked = Asked(**SMALL | SAID | {"writing": 500})
    now, then = costs.row(asked, 3, 6), costs.row(asked, 3, 12)
    assert (now["writing"], then["writing"]) == (0, 6 * 2 * 500)
    assert then["total"] == 2 * now["total"] + then["writing"]


def test_the_form_is_filled_with_the_studys_own_design(run):
    study = run.study
    known = prefilling.prefilled(study)
    assert (known["topics"], known["responses"], known["styles"], known["dimensions"], known["k"]) == (2, 3, 2, 2, 5)
    assert prefilling.prefilled(small_study.make())["source"] is None
    assert prefilling.prefilled(study)["source"] == str(run.key)
    answer = member_of(study).get(f"/studies/{study.slug}/planner/")
    assert answer.context["form"]["topics"].value() == 2
    assert answer.context["run"] is None


def test_what_to_expect_comes_from_an_earlier_analysis(run):
    study, source = run.study, run
    asked = Asked(**SMALL | {"source": str(source.key)})
    expected = expecting.expectation(asked, study_id=study.pk, seed=0)
    assert expected.competence.spam.shape == (4, 2)
    run = running.wait(working.start(study=study, asked=asked))
    assert run.state == RunState.DONE
    assert set(run.summary["expected"]) >= {"competence", "preferred", "neutral"}
    said = {"preferred": 0.9, "neutral": 0.1, "competence": 0.8, "competence_spread": 0.1}
    surer = expecting.expectation(Asked(**SMALL | {"source": str(source.key)} | said), study_id=study.pk, seed=0)
    assert expecting.told(asked, surer)["preferred"] == pytest.approx(0.9)
    assert surer.neutral == 0.1
    assert (1 - surer.competence.spam).mean() == pytest.approx(0.8, abs=0.02)


def test_a_source_that_is_gone_is_refused_with_its_cure():
    study = StudyFactory()
    run = running.wait(
        working.start(study=study, asked=Asked(**SMALL | {"source": "7c9e6679-7425-40de-944b-e07fc1f90ae7"}))
    )
    assert run.state == RunState.FAILED
    assert "not there any more" in run.problems[0]["message"]
    assert "not there any more" in member_of(study).get(f"/studies/{study.slug}/planner/").content.decode()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"k": 1}, "k must lie between 2 and 100"),
        ({"preferred": None}, "Without an earlier analysis it must be said what to expect"),
        ({"topics": 5000, "responses": 20}, "at most 100,000"),
        ({"more_topics": tuple(range(7, 50))}, "at most 40"),
        ({"forced": 3}, "There is no such design"),
    ],
)
def test_plans_that_cannot_be_made_say_why(wrong, message):
    with pytest.raises(BadPlanError, match=message):
        Asked(**SMALL | SAID | wrong)


def test_plans_are_read_as_they_were_written():
    asked = Asked(**SMALL | SAID)
    assert Asked.read(json.loads(json.dumps(asked.write()))) == asked
    with pytest.raises(BadPlanError, match="no parameter 'colour'"):
        Asked.read({"topics": 3, "responses": 3, "colour": 1})
    with pytest.raises(BadPlanError, match="needs responses"):
        Asked.read({"topics": 3})


FORM = {
    "topics": "6", "more_topics": "12", "k": "3", "more_k": "", "responses": "4", "styles": "1", "dimensions": "2",
    "forced": "0", "pairs": "", "both_orders": "33.33", "items": "6", "questionnaires_per_person": "1", "minutes": "20",
    "pay": "3.00", "fee": "1", "tax": "0", "writing": "0", "source": "", "competence": "0.6",
    "competence_spread": "0.25", "preferred": "70", "neutral": "20", "simulations": "3", "seed": "0",
}  # fmt: skip


def test_an_editor_plans_from_the_page_and_sees_what_comes_of_it():
    study = StudyFactory()
    client = member_of(study)
    address = f"/studies/{study.slug}/planner/"
    answer = client.post(address, FORM)
    run = Run.objects.get(kind=working.KIND)
    assert answer.url == f"{address}?run={run.key}"
    assert (run.parameters["pay"], run.parameters["preferred"], run.parameters["more_topics"]) == (300, 0.7, [12])
    run = running.wait(run)
    answer = client.get(answer.url)
    text = answer.content.decode()
    assert "96 USD on" in text
    assert "12 topics, 3 judges" in text
    assert "every 3s" not in text
    assert client.get(f"/studies/{study.slug}/results/tables/plan.csv?run={run.key}").content.startswith(b"k,topics,")
    assert client.get(f"{address}{run.key}/chart.exe").status_code == 404
    assert client.get(f"{address}?run=nonsense").status_code == 404


def test_a_form_that_cannot_be_says_so_beside_the_field_and_viewers_have_none():
    study = StudyFactory()
    client = member_of(study)
    address = f"/studies/{study.slug}/planner/"
    answer = client.post(address, FORM | {"more_topics": "many"})
    assert (answer.status_code, plans().exists()) == (422, False)
    assert "more_topics" in answer.context["form"].errors
    assert client.post(address, FORM | {"preferred": ""}).context["form"].errors
    viewer = member_of(study, Role.VIEWER)
    assert "<form class" not in viewer.get(address).content.decode()
    assert viewer.post(address, FORM).status_code == 200
    assert not plans().exists()


def test_studies_do_not_see_each_others_plans():
    run = planned(StudyFactory(), simulations=2)
    other = StudyFactory()
    assert member_of(other).get(f"/studies/{other.slug}/planner/?run={run.key}").status_code == 404
    assert member_of(other).get(f"/studies/{other.slug}/planner/{run.key}/chart.svg").status_code == 404


def test_a_study_planned_is_not_taken_for_one_analysed():
    study = StudyFactory()
    planned(study, simulations=2)
    assert analysing.state(study).run is None
    assert member_of(study).get(f"/studies/{study.slug}/results/tables/plan.csv").status_code == 404


def test_a_plan_goes_into_the_archive_and_comes_out_again(tmp_path, settings, one_transaction):
    settings.MEDIA_ROOT, settings.DATA_DIR = tmp_path / "files", tmp_path
    study = StudyFactory()
    run = planned(study, simulations=2)
    other = StudyFactory()
    assert exported.import_archive(other, Path(exported.export(study).file.path)).state == RunState.DONE
    again = Run.objects.get(study=other, kind=working.KIND)
    assert working.tables(again) == working.tables(run)
    answer = member_of(other).get(f"/studies/{other.slug}/planner/")
    assert answer.context["run"] == again
    assert "What was expected" in answer.content.decode()
