"""What models answered when they were asked to judge, by scripts: as on the page of their run."""

from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from annotation.enums import JudgingOutcome
from annotation.models import JudgingAnswer
from crowdrag.jobs.models import Run
from crowdrag.llm import erasure
from crowdrag.llm.models import Call
from tests.annotation.campaigns.test_api import script
from tests.annotation.llm_judges import source_campaign
from tests.annotation.shared import made_once
from tests.factories import StudyFactory
from tests.pages.llm_judge_rows import furnish_model_judges

pytestmark = pytest.mark.django_db


def judged_by_models() -> Run:
    source = source_campaign.campaign(StudyFactory(slug="mine"))
    for _pair in range(3):
        source_campaign.pair(source, a="A text.", b="Other.")
    return furnish_model_judges(source)[0]


stored, run = made_once(judged_by_models)


@pytest.fixture
def client(run: Run) -> APIClient:
    return script(run.study)


def at(run: Run, study: str = "mine") -> str:
    return f"/api/v1/studies/{study}/judges/runs/{run.key}/answers/"


def rows(client: APIClient, run: Run, **filters: Any) -> list[dict[str, Any]]:
    answer = client.get(at(run), filters)
    assert answer.status_code == 200, answer.content
    found: list[dict[str, Any]] = answer.json()["results"]
    return found


def test_each_answer_is_shown_with_what_was_said_and_what_was_stored_of_it(run: Run, client: APIClient) -> None:
    answers = rows(client, run)
    kept = list(JudgingAnswer.objects.filter(run=run).order_by("pk"))
    assert [row["outcome"] for row in answers] == [one.outcome for one in kept] == list(JudgingOutcome)
    first, second = answers[:2]
    pair, call = kept[0].item.pair, Call.objects.get(digest=kept[0].digest)
    expected = {
        "response_a": pair.a.external_id, "response_b": pair.b.external_id, "response": None, "item": kept[0].item_id,
        "campaign": kept[0].item.campaign_id, "topic": pair.a.topic.external_id, "dimension": None, "repeat": 0,
        "participant": kept[0].participant.external_id, "is_own": True, "said": call.text,
    }  # fmt: skip
    assert first.items() >= expected.items()
    names = sorted(kept[0].item.campaign.source.campaign_dimensions.values_list("dimension__name", flat=True))
    assert sorted(first["judgments"], key=lambda row: row["dimension"]) == [
        {"dimension": name, "version": 1, "value": -1, "justification": "It names the moon."} for name in names
    ]
    assert (second["outcome"], second["judgments"], second["is_own"]) == ("REFUSED", [], False)
    for row in answers:
        judged = client.get("/api/v1/studies/mine/judgments/", {"participant": row["participant"]}).json()["results"]
        assert {each["dimension"]: each["value"] for each in judged if each["item"] == row["item"]} == {
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


def test_what_a_model_said_goes_with_the_call_and_its_judgments_stay(run: Run, client: APIClient) -> None:
    before = rows(client, run)
    erasure.erase(calls=Call.objects.all())
    after = rows(client, run)
    assert {row["said"] for row in after} == {None}
    assert [row["judgments"] for row in after] == [row["judgments"] for row in before]


def test_a_run_of_another_study_or_of_another_kind_has_none(run: Run, client: APIClient) -> None:
    assert script(StudyFactory(slug="other")).get(at(run, "other")).status_code == 404
    Run.objects.filter(pk=run.pk).update(kind="import.topics")
    assert client.get(at(run)).status_code == 404
