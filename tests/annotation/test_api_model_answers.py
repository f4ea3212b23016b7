"""What models answered when they were asked to judge, by scripts: as on the page of their run."""

from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from annotation.enums import JudgingOutcome
from annotation.models import Campaign, JudgingAnswer
from crowdrag.llm.domain import erasing
from crowdrag.llm.models import Call
from crowdrag.runs.models import Run
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study
from tests.factories import StudyFactory
from tests.pages.judged import furnish_model_judges

from . import asked_again
from .test_api import script

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return StudyFactory(slug="mine")


@pytest.fixture
def source(study: Study) -> Campaign:
    made = asked_again.campaign(study)
    for _pair in range(3):
        asked_again.pair(made, a="A text.", b="Other.")
    return made


@pytest.fixture
def run(source: Campaign) -> Run:
    return furnish_model_judges(source)[0]


@pytest.fixture
def client(study: Study) -> APIClient:
    return script(study)


def at(run: Run, study: str = "mine") -> str:
    return f"/api/v1/studies/{study}/judges/runs/{run.key}/answers/"


def rows(client: APIClient, run: Run, **filters: Any) -> list[dict[str, Any]]:
    answer = client.get(at(run), filters)
    assert answer.status_code == 200, answer.content
    found: list[dict[str, Any]] = answer.json()["results"]
    return found


def test_each_answer_is_shown_with_what_was_said_and_what_was_stored_of_it(
    source: Campaign, run: Run, client: APIClient
) -> None:
    found = rows(client, run)
    kept = list(JudgingAnswer.objects.filter(run=run).order_by("pk"))
    assert [row["outcome"] for row in found] == [one.outcome for one in kept] == list(JudgingOutcome)
    first, second = found[0], found[1]
    pair, call = kept[0].item.pair, Call.objects.get(digest=kept[0].digest)
    assert pair is not None
    assert (first["response_a"], first["response_b"], first["response"]) == (
        pair.a.external_id,
        pair.b.external_id,
        None,
    )
    assert (first["item"], first["campaign"]) == (kept[0].item_id, kept[0].item.campaign_id)
    assert (first["topic"], first["participant"]) == (pair.a.topic.external_id, kept[0].participant.external_id)
    assert (first["dimension"], first["repeat"], first["is_own"], first["said"]) == (None, 0, True, call.text)
    asked = [each.dimension for each in source.asked.select_related("dimension").order_by("position")]
    assert sorted(first["judgments"], key=lambda row: row["dimension"]) == sorted(
        ({"dimension": one.name, "version": 1, "value": -1, "justification": "It names the moon."} for one in asked),
        key=lambda row: str(row["dimension"]),
    )
    assert (second["outcome"], second["judgments"], second["is_own"]) == ("REFUSED", [], False)
    for row in found:
        told = client.get("/api/v1/studies/mine/judgments/", {"participant": row["participant"]}).json()["results"]
        assert {each["dimension"]: each["value"] for each in told if each["item"] == row["item"]} == {
            each["dimension"]: each["value"] for each in row["judgments"]
        }


def test_what_was_asked_by_itself_or_again_shows_its_own_judgments(run: Run, client: APIClient) -> None:
    kept = JudgingAnswer.objects.get(run=run, outcome="JUDGED")
    dimension = kept.item.judgments.order_by("pk")[0].dimension
    JudgingAnswer.objects.filter(pk=kept.pk).update(dimension=dimension)
    JudgingAnswer.objects.create(
        run=run, participant=kept.participant, item=kept.item, dimension=dimension, repeat=1, outcome="JUDGED",
        digest="0" * 64, answered_at=timezone.now(),
    )  # fmt: skip
    alone, again = rows(client, run, outcome="JUDGED")
    assert (alone["dimension"], [each["dimension"] for each in alone["judgments"]]) == (
        dimension.name,
        [dimension.name],
    )
    assert (again["repeat"], again["judgments"], again["said"]) == (1, [], None)


def test_they_are_filtered_and_what_is_no_filter_is_refused(run: Run, client: APIClient) -> None:
    assert [row["outcome"] for row in rows(client, run, outcome="REFUSED")] == ["REFUSED"]
    assert [row["outcome"] for row in rows(client, run, is_own="true")] == ["JUDGED"]
    topic = rows(client, run)[0]["topic"]
    assert {row["topic"] for row in rows(client, run, topic=topic)} == {topic}
    assert rows(client, run, topic="nothing") == []
    for filters, parameter in (({"outcome": "GOOD"}, "outcome"), ({"outcom": "JUDGED"}, "outcom")):
        answer = client.get(at(run), filters)
        assert (answer.status_code, answer.json()["errors"][0]["parameter"]) == (400, parameter)


def test_page_after_page_they_are_all_there(run: Run, client: APIClient) -> None:
    whole, found, address = rows(client, run), [], at(run) + "?limit=2"
    while address:
        page = client.get(address).json()
        found += page["results"]
        address = page["next"]
    assert (len(found), found) == (len(JudgingOutcome), whole)


def test_what_a_model_said_goes_with_the_call_and_its_judgments_stay(run: Run, client: APIClient) -> None:
    before = rows(client, run)
    erasing.erase(calls=Call.objects.all())
    after = rows(client, run)
    assert {row["said"] for row in after} == {None}
    assert [row["judgments"] for row in after] == [row["judgments"] for row in before]


def test_a_run_of_another_study_or_of_another_kind_has_none(study: Study, run: Run, client: APIClient) -> None:
    strange = StudyFactory(slug="other")
    assert script(strange).get(at(run, "other")).status_code == 404
    Run.objects.filter(pk=run.pk).update(kind="import.topics")
    assert client.get(at(run)).status_code == 404


def test_editors_see_them_as_on_the_page(study: Study, run: Run) -> None:
    assert script(study, Role.REVIEWER).get(at(run)).status_code == 403
    assert script(study, Role.EDITOR).get(at(run)).status_code == 200
