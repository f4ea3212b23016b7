"""What reviewers see and decide of responses, by scripts: as on the pages of review."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.utils import timezone
from rest_framework.test import APIClient

from crowdrag.api.enums import Scope
from crowdrag.audit.models import Look
from crowdrag.studies.enums import Role, Shown
from crowdrag.studies.models import Study
from tests.api.conftest import by_token
from tests.factories import MembershipFactory, StudyFactory, StyleFactory, UserFactory
from tests.submitted import pasted, submitted, typed
from writing.domain.reviewing import queue
from writing.enums import TaskState as S
from writing.models import Response, TaskPayment, WritingTask

pytestmark = pytest.mark.django_db
PLAIN = "All of this was typed by hand, letter by letter."


@pytest.fixture
def study() -> Study:
    return StudyFactory()


@pytest.fixture
def client(study: Study) -> APIClient:
    return script(study, Role.REVIEWER)


def script(study: Study, role: Role, *scopes: Scope) -> APIClient:
    return by_token(MembershipFactory(study=study, role=role).user, *scopes)


def of(study: Study, task: WritingTask | None = None, step: str = "") -> str:
    base = f"/api/v1/studies/{study.slug}/review/"
    return f"{base}{task.external_id}/{step}" if task else f"{base}{step}"


def post(client: APIClient, address: str, data: dict[str, Any] | None = None, **headers: str) -> Any:
    return client.post(address, data or {}, format="json", headers=headers)


def state(task: WritingTask) -> str:
    return WritingTask.objects.values_list("state", flat=True).get(pk=task.pk)


def paid(task: WritingTask) -> int:
    return sum(TaskPayment.objects.filter(task=task).values_list("amount", flat=True))


def test_what_waits_is_listed_and_filtered_and_what_was_decided_too(study: Study, client: APIClient) -> None:
    news = StyleFactory(study=study, name="news")
    old, new = submitted(study, minutes=50), submitted(study, minutes=5, style=news, is_trial=True)
    post(client, of(study, old, "accept/"))
    imported = submitted(study)
    WritingTask.objects.filter(pk=imported.pk).update(is_imported=True)
    submitted(StudyFactory())
    rows = client.get(of(study)).json()["results"]
    assert [row["external_id"] for row in rows] == [old.external_id, new.external_id]
    assert (rows[0]["state"], rows[0]["paid"], rows[1]["pay"], rows[1]["paid"]) == ("ACCEPTED", 250, 250, 0)
    assert rows[0]["response"] == old.response.external_id
    for filters, expected in (
        ({"state": "SUBMITTED"}, [new]),
        ({"state": "ACCEPTED"}, [old]),
        ({"style": "news"}, [new]),
        ({"is_trial": "true"}, [new]),
        ({"participant": old.participant.external_id}, [old]),
        ({"is_included": "false"}, []),
    ):
        found = client.get(of(study), filters).json()["results"]
        assert [row["external_id"] for row in found] == [each.external_id for each in expected], filters
    assert client.get(of(study), {"state": "CLAIMED"}).status_code == 400
    assert Look.objects.filter(what=Shown.PEOPLE).exists()


def test_one_is_shown_with_all_that_is_known_and_who_looked_is_noted(study: Study, client: APIClient) -> None:
    task = submitted(study)
    other = submitted(study, participant=task.participant)
    post(client, of(study, other, "reject/"), {"reason": "Copied."})
    shown = client.get(of(study, task)).json()
    assert shown["written"]["text"] == task.response.text
    assert {each["name"] for each in shown["signals"] if each["stands_out"]} >= {"paste_from_elsewhere"}
    assert all(each["innocent"] and each["explanation"] for each in shown["signals"])
    record = shown["record"]
    assert (record["written"], record["waiting"], record["rejected"]) == (2, 1, 1)
    assert record["others"] == [other.external_id]
    assert [each["note"] for each in record["notes"]] == ["Copied."]
    assert (shown["decisions"], shown["payments"], shown["changes"]) == ([], [], [])
    looks = Look.objects.filter(what=Shown.REVIEW).values_list("participant", "thing")
    assert (task.participant_id, task.response.pk) in looks
    assert client.get(f"{of(study)}nobody/").status_code == 404
    assert client.get(of(study, submitted(StudyFactory()))).status_code == 404


def test_what_is_accepted_is_paid_once_however_often_it_is_sent(study: Study, client: APIClient) -> None:
    task = submitted(study)
    for key in ("a", "a", "b"):
        answer = post(client, of(study, task, "accept/"), {"note": "Well done."}, **{"Idempotency-Key": key})
        assert (answer.status_code, answer.json()["state"], answer.json()["paid"]) == (200, "ACCEPTED", 250)
    decisions = answer.json()["decisions"]
    assert [(each["about"], each["holds"], each["reason"]) for each in decisions] == [
        ("PAY", True, "Well done."),
        ("INCLUDE", True, "Well done."),
    ]
    assert all(each["by"] for each in decisions)
    assert answer.json()["history"][-1]["note"] == "Well done."
    assert paid(task) == 250


def test_what_is_rejected_needs_a_reason_and_is_accepted_after_all(study: Study, client: APIClient) -> None:
    task = submitted(study)
    for given, status, pointer in (
        ({}, 400, "#/reason"),
        ({"reason": "  "}, 400, "#/reason"),
        ({"reason": "No.", "pay_part": -1}, 400, "#/pay_part"),
        ({"reason": "No.", "pay_part": 251}, 422, "#/pay_part"),
        ({"reason": "No.", "amount": 1}, 400, "#/amount"),
    ):
        answer = post(client, of(study, task, "reject/"), given)
        assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (status, pointer), given
        assert answer.json()["remedy"]
    assert state(task) == S.SUBMITTED
    early = post(client, of(study, task, "reverse/"), {"note": "So."})
    assert (early.status_code, early.json()["code"]) == (409, "conflict")
    rejected = post(client, of(study, task, "reject/"), {"reason": "No citation fits.", "pay_part": 100}).json()
    assert (rejected["state"], rejected["paid"], rejected["is_included"]) == ("REJECTED", 100, False)
    assert post(client, of(study, task, "accept/")).status_code == 409
    assert post(client, of(study, task, "reverse/"), {"note": " "}).json()["errors"][0]["pointer"] == "#/note"
    reversed_ = post(client, of(study, task, "reverse/"), {"note": "You were right."}).json()
    assert (reversed_["state"], reversed_["paid"]) == ("ACCEPTED", 250)


def test_what_is_sent_back_is_a_new_task_of_its_writer(study: Study, client: APIClient) -> None:
    task = submitted(study)
    assert post(client, of(study, task, "send-back/")).json()["errors"][0]["pointer"] == "#/note"
    for _ in range(2):
        answer = post(client, of(study, task, "send-back/"), {"note": "Cite every claim."}).json()
        fresh = WritingTask.objects.get(revises=task)
        assert (answer["state"], answer["revision"], answer["is_included"]) == ("REVISION", fresh.external_id, False)
    assert (fresh.state, fresh.participant_id, fresh.draft) == (S.CLAIMED, task.participant_id, task.response.text)
    assert client.get(of(study, fresh)).status_code == 404  # nothing was handed in of it yet
    fresh.delete()
    again = submitted(
        study, topic=task.topic, style=task.style, participant=task.participant, revises=task, events=typed(PLAIN)
    )
    shown = client.get(of(study, again)).json()
    assert (shown["revises"], {each["kind"] for each in shown["changes"]} >= {"gone", "new"}) == (
        task.external_id,
        True,
    )


def test_counting_and_paying_are_decisions_of_their_own(study: Study, client: APIClient) -> None:
    task = submitted(study)
    left = post(client, of(study, task, "inclusion/"), {"included": False, "reason": "By a friend."}).json()
    assert (left["is_included"], left["state"]) == (False, "SUBMITTED")
    beside = post(client, of(study, task, "pay/"), {"amount": 50, "reason": "A passage was broken."})
    assert (beside.status_code, beside.json()["paid"]) == (200, 50)
    other = post(client, of(study, task, "pay/"), {"amount": 60, "reason": "A passage was broken."})
    assert (other.status_code, other.json()["errors"][0]["pointer"]) == (422, "#/reason")
    assert post(client, of(study, task, "pay/"), {"amount": 0, "reason": "x"}).status_code == 400
    accepted = post(client, of(study, task, "accept/")).json()
    assert (accepted["state"], accepted["is_included"], accepted["paid"]) == ("ACCEPTED", False, 300)
    back = post(client, of(study, task, "inclusion/"), {"included": True, "reason": "It was not."}).json()
    assert back["is_included"] is True


def test_what_was_erased_can_be_paid_and_nothing_else(study: Study, client: APIClient) -> None:
    task = submitted(study)
    Response.objects.filter(task=task).update(erased_at=timezone.now(), text="", words=0, is_included=False)
    for step, given in (
        ("reject/", {"reason": "No."}),
        ("send-back/", {"note": "More."}),
        ("inclusion/", {"included": True, "reason": "I liked it."}),
    ):
        answer = post(client, of(study, task, step), given)
        assert (answer.status_code, "erased" in answer.json()["detail"]) == (409, True), step
    accepted = post(client, of(study, task, "accept/")).json()
    assert (accepted["state"], accepted["paid"], accepted["is_included"]) == ("ACCEPTED", 250, False)


def test_what_another_reviewer_has_open_is_left_to_them_until_it_is_taken_over(study: Study, client: APIClient) -> None:
    task, colleague = submitted(study), UserFactory()
    assert queue.hold(task=task, by=colleague, now=timezone.now() + timedelta(days=1))
    assert client.get(of(study, task)).json()["held_by"] == colleague.email
    for step in ("accept/", "hold/"):
        answer = post(client, of(study, task, step))
        assert (answer.status_code, answer.json()["code"]) == (409, "conflict"), step
    assert client.delete(of(study, task, "hold/")).status_code == 204
    assert client.get(of(study, task)).json()["held_by"] == colleague.email
    mine = post(client, of(study, task, "hold/"), {"over": True}).json()["held_by"]
    assert mine not in (None, colleague.email)
    assert client.delete(of(study, task, "hold/")).status_code == 204
    assert client.get(of(study, task)).json()["held_by"] is None
    assert post(client, of(study, task, "accept/")).status_code == 200
    assert post(client, of(study, task, "hold/")).status_code == 409


def test_the_next_one_is_taken_within_what_was_asked_for(study: Study, client: APIClient) -> None:
    cache.clear()
    plain = submitted(study, minutes=9, events=typed(PLAIN))
    foreign = pasted("A long text from who knows where that no passage of this topic holds at all.", ms=5, at=0)
    flagged = submitted(study, minutes=5, events=foreign)
    colleague = script(study, Role.REVIEWER)
    first = post(client, of(study, step="next/"), {"signals": True}).json()
    assert first["external_id"] == flagged.external_id
    assert first["held_by"]
    assert post(colleague, of(study, step="next/")).json()["external_id"] == plain.external_id
    none = post(script(study, Role.REVIEWER), of(study, step="next/"))
    assert (none.status_code, none.json()["code"]) == (409, "conflict")
    last = submitted(study, minutes=1)
    behind = post(client, of(study, step="next/"), {"after": flagged.external_id}).json()
    assert behind["external_id"] == last.external_id
    assert post(client, of(study, step="next/"), {"after": "nobody"}).status_code == 404
    assert post(client, of(study, step="next/"), {"sytle": "news"}).status_code == 400


def test_only_reviewers_see_and_only_scripts_that_may_write_decide(study: Study) -> None:
    task = submitted(study)
    viewer, reader = script(study, Role.VIEWER), script(study, Role.OWNER, Scope.READ)
    for address in (of(study), of(study, task)):
        assert (viewer.get(address).status_code, reader.get(address).status_code) == (403, 200), address
    for step in ("accept/", "reject/", "send-back/", "reverse/", "inclusion/", "pay/", "hold/"):
        assert post(reader, of(study, task, step)).status_code == 403, step
    assert state(task) == S.SUBMITTED
