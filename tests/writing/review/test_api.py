"""What reviewers see and decide of responses, by scripts: as on the pages of review."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.utils import timezone
from rest_framework.test import APIClient

from crowdrag.audit.models import AccessLogEntry
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Study
from tests.api.conftest import by_token
from tests.factories import MembershipFactory, StudyFactory, StyleFactory, UserFactory
from tests.submitted_responses import submitted, typed
from writing.models import Response, TaskPayment, WritingTask
from writing.review import queue

pytestmark = pytest.mark.django_db
PLAIN = "All of this was typed by hand, letter by letter."


@pytest.fixture
def study() -> Study:
    return StudyFactory()


@pytest.fixture
def client(study: Study) -> APIClient:
    return reviewer(study)


def reviewer(study: Study) -> APIClient:
    return by_token(MembershipFactory(study=study, role=Role.REVIEWER).user)


def of(study: Study, task: WritingTask | None = None, step: str = "") -> str:
    base = f"/api/v1/studies/{study.slug}/review/"
    return f"{base}{task.external_id}/{step}" if task else f"{base}{step}"


def post(client: APIClient, address: str, data: dict[str, Any] | None = None, **headers: str) -> Any:
    return client.post(address, data or {}, format="json", headers=headers)


def refusal(answer: Any) -> tuple[int, str]:
    """The status, and what of the request was wrong."""
    return answer.status_code, answer.json()["errors"][0]["pointer"]


def test_what_waits_is_listed_and_filtered_and_what_was_decided_too(study: Study, client: APIClient) -> None:
    news = StyleFactory(study=study, name="news")
    old, new = submitted(study, minutes=50), submitted(study, minutes=5, style=news, is_trial=True)
    post(client, of(study, old, "accept/"))
    imported = submitted(study)
    WritingTask.objects.filter(pk=imported.pk).update(is_imported=True)
    submitted(StudyFactory())
    rows = client.get(of(study)).json()["results"]
    assert [(row["external_id"], row["state"], row["paid"]) for row in rows] == [
        (old.external_id, "ACCEPTED", 250),
        (new.external_id, "SUBMITTED", 0),
    ]
    for filters, expected in (
        ({"state": "SUBMITTED"}, [new]),
        ({"state": "ACCEPTED"}, [old]),
        ({"style": "news"}, [new]),
        ({"is_trial": "true"}, [new]),
        ({"participant": old.participant.external_id}, [old]),
        ({"is_included": "false"}, []),
    ):
        results = client.get(of(study), filters).json()["results"]
        assert [row["external_id"] for row in results] == [each.external_id for each in expected], filters
    assert client.get(of(study), {"state": "CLAIMED"}).status_code == 400
    assert AccessLogEntry.objects.filter(content=AuditedContent.PEOPLE).exists()


def test_one_is_shown_with_all_that_is_known_and_who_looked_is_noted(study: Study, client: APIClient) -> None:
    task = submitted(study)
    other = submitted(study, participant=task.participant)
    post(client, of(study, other, "reject/"), {"reason": "Copied."})
    shown = client.get(of(study, task)).json()
    assert shown["written"]["text"] == task.response.text
    assert {each["name"] for each in shown["signals"] if each["stands_out"]} >= {"paste_from_elsewhere"}
    record = shown["record"]
    assert (record["written"], record["waiting"], record["rejected"]) == (2, 1, 1)
    assert record["others"] == [other.external_id]
    assert [each["note"] for each in record["notes"]] == ["Copied."]
    looks = AccessLogEntry.objects.filter(content=AuditedContent.REVIEW).values_list("participant", "work_key")
    assert (task.participant_id, task.response.pk) in looks
    assert client.get(f"{of(study)}nobody/").status_code == 404
    assert client.get(of(study, submitted(StudyFactory()))).status_code == 404


def test_what_is_accepted_is_paid_once_however_often_it_is_sent(study: Study, client: APIClient) -> None:
    task = submitted(study)
    for key in ("a", "a", "b"):
        answer = post(client, of(study, task, "accept/"), {"note": "Well done."}, **{"Idempotency-Key": key}).json()
        assert (answer["state"], answer["paid"], answer["history"][-1]["note"]) == ("ACCEPTED", 250, "Well done.")
    assert [(each["about"], each["holds"]) for each in answer["decisions"]] == [("PAY", True), ("INCLUDE", True)]
    assert TaskPayment.objects.get(task=task).amount == 250


@pytest.mark.extended
def test_what_is_rejected_needs_a_reason_and_is_accepted_after_all(study: Study, client: APIClient) -> None:
    task = submitted(study)
    for given, status, pointer in (
        ({"reason": "  "}, 400, "#/reason"),
        ({"reason": "No.", "pay_part": -1}, 400, "#/pay_part"),
        ({"reason": "No.", "pay_part": 251}, 422, "#/pay_part"),
        ({"reason": "No.", "amount": 1}, 400, "#/amount"),
    ):
        assert refusal(post(client, of(study, task, "reject/"), given)) == (status, pointer), given
    early = post(client, of(study, task, "reverse/"), {"note": "So."})
    assert (early.status_code, early.json()["code"]) == (409, "conflict")
    rejected = post(client, of(study, task, "reject/"), {"reason": "No citation fits.", "pay_part": 100}).json()
    assert (rejected["state"], rejected["paid"], rejected["is_included"]) == ("REJECTED", 100, False)
    assert post(client, of(study, task, "accept/")).status_code == 409
    assert refusal(post(client, of(study, task, "reverse/"), {"note": " "}))[1] == "#/note"
    reversed_ = post(client, of(study, task, "reverse/"), {"note": "You were right."}).json()
    assert (reversed_["state"], reversed_["paid"]) == ("ACCEPTED", 250)


@pytest.mark.extended
def test_what_is_sent_back_is_a_new_task_of_its_writer(study: Study, client: APIClient) -> None:
    task = submitted(study)
    assert refusal(post(client, of(study, task, "send-back/")))[1] == "#/note"
    for _ in range(2):
        answer = post(client, of(study, task, "send-back/"), {"note": "Cite every claim."}).json()
        fresh = WritingTask.objects.get(revises=task)
        assert (answer["state"], answer["revision"], answer["is_included"]) == ("REVISION", fresh.external_id, False)
    assert client.get(of(study, fresh)).status_code == 404  # nothing was handed in of it yet
    fresh.delete()
    again = submitted(
        study, topic=task.topic, style=task.style, participant=task.participant, revises=task, events=typed(PLAIN)
    )
    shown = client.get(of(study, again)).json()
    assert shown["revises"] == task.external_id
    assert {each["kind"] for each in shown["changes"]} >= {"gone", "new"}


@pytest.mark.extended
def test_counting_and_paying_are_decisions_of_their_own(study: Study, client: APIClient) -> None:
    task = submitted(study)
    for step, given, is_included, paid in (
        ("inclusion/", {"included": False, "reason": "By a friend."}, False, 0),
        ("pay/", {"amount": 50, "reason": "A passage was broken."}, False, 50),
        ("accept/", {}, False, 300),
        ("inclusion/", {"included": True, "reason": "It was not."}, True, 300),
    ):
        answer = post(client, of(study, task, step), given).json()
        assert (answer["is_included"], answer["paid"]) == (is_included, paid), step
    other = post(client, of(study, task, "pay/"), {"amount": 60, "reason": "A passage was broken."})
    assert refusal(other) == (422, "#/reason")
    assert post(client, of(study, task, "pay/"), {"amount": 0, "reason": "x"}).status_code == 400


@pytest.mark.extended
def test_what_was_erased_can_be_paid_and_nothing_else(study: Study, client: APIClient) -> None:
    task = submitted(study)
    Response.objects.filter(task=task).update(erased_at=timezone.now(), text="", words=0, is_included=False)
    for step, given, status in (
        ("reject/", {"reason": "No."}, 409),
        ("send-back/", {"note": "More."}, 409),
        ("inclusion/", {"included": True, "reason": "I liked it."}, 409),
        ("accept/", {}, 200),
    ):
        assert post(client, of(study, task, step), given).status_code == status, step


@pytest.mark.extended
def test_what_another_reviewer_has_open_is_left_to_them_until_it_is_taken_over(study: Study, client: APIClient) -> None:
    task, colleague = submitted(study), UserFactory()
    assert queue.hold(task=task, by=colleague, now=timezone.now() + timedelta(days=1))

    def holder() -> str | None:
        return client.get(of(study, task)).json()["held_by"]

    for step in ("accept/", "hold/"):
        answer = post(client, of(study, task, step))
        assert (answer.status_code, answer.json()["code"]) == (409, "conflict"), step
    assert client.delete(of(study, task, "hold/")).status_code == 204
    assert holder() == colleague.email
    assert post(client, of(study, task, "hold/"), {"over": True}).json()["held_by"] == holder() != colleague.email
    assert client.delete(of(study, task, "hold/")).status_code == 204
    assert holder() is None
    assert post(client, of(study, task, "accept/")).status_code == 200
    assert post(client, of(study, task, "hold/")).status_code == 409


def test_the_next_one_is_taken_within_what_was_asked_for(study: Study, client: APIClient) -> None:
    cache.clear()
    plain = submitted(study, minutes=9, events=typed(PLAIN))
    flagged = submitted(study, minutes=5)
    colleague = reviewer(study)
    first = post(client, of(study, step="next/"), {"signals": True}).json()
    assert first["external_id"] == flagged.external_id
    assert first["held_by"]
    assert post(colleague, of(study, step="next/")).json()["external_id"] == plain.external_id
    none = post(reviewer(study), of(study, step="next/"))
    assert (none.status_code, none.json()["code"]) == (409, "conflict")
    last = submitted(study, minutes=1)
    behind = post(client, of(study, step="next/"), {"after": flagged.external_id}).json()
    assert behind["external_id"] == last.external_id
    assert post(client, of(study, step="next/"), {"after": "nobody"}).status_code == 404
    assert post(client, of(study, step="next/"), {"sytle": "news"}).status_code == 400
