"""Answers and viewing times in one statement, which also checks the session, the participant and the questionnaire."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.enums import AssignmentState
from annotation.judging import leases
from annotation.models import Assignment, ItemTime, Judgment
from crowdrag import sessions
from crowdrag.studies.access import forget_participant
from crowdrag.studies.models import Participant, Study
from tests.annotation.judge_actions import answer_all
from tests.annotation.judging.judging_page import JudgingPage
from tests.annotation.shared import made_once

pytestmark = pytest.mark.django_db
stored, sheet = made_once(JudgingPage)


@pytest.fixture
def known(sheet: JudgingPage) -> JudgingPage:
    """A judge whose session this process has read."""
    assert sheet.post("answer", sheet.answer()).status_code == 200
    return sheet


def again(sheet: JudgingPage, name: str = "answer") -> Any:
    """Change the answer, or report times."""
    return sheet.post(name, body_of(sheet, name))


def body_of(sheet: JudgingPage, name: str) -> dict[str, Any]:
    last = Judgment.objects.get()
    return sheet.answer(value=-last.value, revision=last.revision + 1) if name == "answer" else sheet.times()


@pytest.mark.parametrize("name", ["answer", "time"])
def test_one_statement_does_it_all(known: JudgingPage, name: str) -> None:
    body = body_of(known, name)
    with CaptureQueriesContext(connection) as seen:
        response = known.post(name, body)
    assert response.status_code == 200
    assert response.json()["lease_until"]
    assert len(seen) == 1, [query["sql"][:100] for query in seen]
    assert (Judgment.objects.get().revision, ItemTime.objects.count()) == ((2, 0) if name == "answer" else (1, 1))


@pytest.mark.parametrize("is_known", [True, False])
def test_times_that_come_with_an_answer_are_stored_after_it(known: JudgingPage, is_known: bool) -> None:
    if not is_known:
        sessions._remembered.clear()
    body = body_of(known, "answer") | known.times()
    with CaptureQueriesContext(connection) as seen:
        response = known.post("answer", body)
    assert (response.status_code, "times" in response.json()) == (200, False)
    assert (len(seen) == 2) == is_known
    time = ItemTime.objects.get()
    assert (time.assignment, time.looks, Judgment.objects.get().revision) == (known.mine, 2, 2)
    # Sent again because the acknowledgement was lost: nothing counts twice.
    assert known.post("answer", body).json()["saved"]
    assert (ItemTime.objects.get().looks, Judgment.objects.get().revision) == (2, 2)


@pytest.mark.parametrize("times", [{"times": 1}, {"visit": "", "times": []}, {"visit": "a", "times": [{"item": 0}]}])
def test_times_that_cannot_be_stored_do_not_undo_their_answer(known: JudgingPage, times: dict[str, Any]) -> None:
    said = known.post("answer", body_of(known, "answer") | times).json()
    assert (said["saved"], said["revision"], said["times"]["problem"]) == (True, 2, "bad")
    assert (ItemTime.objects.count(), Judgment.objects.get().revision) == (0, 2)


def test_the_first_request_of_a_session_is_stored_too(sheet: JudgingPage) -> None:
    sessions._remembered.clear()
    with CaptureQueriesContext(connection) as seen:
        assert sheet.post("answer", sheet.answer()).status_code == 200
    assert len(seen) > 1


def session_deleted(sheet: JudgingPage) -> None:
    Session.objects.filter(pk=sheet.client.session.session_key).delete()


def session_expired(sheet: JudgingPage) -> None:
    Session.objects.filter(pk=sheet.client.session.session_key).update(expire_date=timezone.now())


def participant_forgotten(sheet: JudgingPage) -> None:
    """Another process takes the participant out of the session."""
    store = sessions.SessionStore(sheet.client.session.session_key)
    request = type("Request", (), {"session": store})()
    forget_participant(request, sheet.judge)
    store.save()


def participant_erased(sheet: JudgingPage) -> None:
    Participant.objects.filter(pk=sheet.judge.pk).update(erased_at=timezone.now())


def participant_withdrew(sheet: JudgingPage) -> None:
    Participant.objects.filter(pk=sheet.judge.pk).update(withdrawn_at=timezone.now())


def study_ends(sheet: JudgingPage) -> None:
    Study.objects.filter(pk=sheet.world.study.pk).update(deletion_requested_at=timezone.now())


def other_address(sheet: JudgingPage) -> None:
    sheet.mine.external_id = "nobody-has-this"


ENDS: list[tuple[Callable[[JudgingPage], None], int]] = [
    (session_deleted, 403),
    (session_expired, 403),
    (participant_forgotten, 403),
    (participant_erased, 403),
    (participant_withdrew, 403),
    (study_ends, 403),
    (other_address, 404),
]


@pytest.mark.parametrize(("end", "status"), ENDS, ids=[end.__name__ for end, _ in ENDS])
@pytest.mark.parametrize("name", ["answer", "time"])
def test_what_has_ended_meanwhile_is_refused_at_once(
    known: JudgingPage, end: Callable[[JudgingPage], None], status: int, name: str
) -> None:
    assert sessions.remembered(known.client.session.session_key)
    end(known)
    before = list(Judgment.objects.values())
    assert again(known, name).status_code == status
    assert (list(Judgment.objects.values()), ItemTime.objects.count()) == (before, 0)


def test_what_was_submitted_meanwhile_is_closed(sheet: JudgingPage) -> None:
    answer_all(sheet.mine, timezone.now())
    sheet.client.get(sheet.address("questionnaire"))
    assert sessions.remembered(sheet.client.session.session_key)
    assert sheet.post("submit", {}).status_code == 200
    before = list(Judgment.objects.order_by("pk").values())
    assert sheet.post("answer", sheet.answer(value=-1, revision=2)).json()["problem"] == "closed"
    assert sheet.post("time", sheet.times()).json()["problem"] == "closed"
    assert (list(Judgment.objects.order_by("pk").values()), ItemTime.objects.count()) == (before, 0)


def test_a_session_of_somebody_else_stores_nothing_here(known: JudgingPage) -> None:
    client, known.judge = known.client, known.world.judge()
    known.client = known.fresh()
    known.client.get(known.address("questionnaire"))
    assert again(known).status_code == 404
    known.client = client
    assert again(known).status_code == 200


def test_who_is_late_is_told(known: JudgingPage) -> None:
    Assignment.objects.filter(pk=known.mine.pk).update(lease_until=timezone.now() - timedelta(minutes=1))
    leases.expire(now=timezone.now())
    assert again(known).json()["late"] is True
    assert again(known, "time").json()["late"] is True


def test_the_lease_is_renewed(known: JudgingPage) -> None:
    soon = timezone.now() + timedelta(minutes=1)
    Assignment.objects.filter(pk=known.mine.pk).update(lease_until=soon, state=AssignmentState.ASSIGNED)
    assert again(known).status_code == 200
    known.mine.refresh_from_db()
    assert known.mine.lease_until is not None
    assert known.mine.lease_until > soon


@pytest.mark.django_db(transaction=True)
def test_an_answer_is_stored_although_the_server_ended_the_connection() -> None:
    sheet = JudgingPage()
    assert sheet.post("answer", sheet.answer()).status_code == 200
    connection.ensure_connection()
    connection.health_check_enabled, connection.health_check_done = True, False
    with psycopg.connect(**connection.get_connection_params(), autocommit=True) as other:
        other.execute("SELECT pg_terminate_backend(%s, 1000)", [connection.connection.info.backend_pid])
    try:
        assert again(sheet).status_code == 200
    finally:
        connection.close()
    assert Judgment.objects.get().revision == 2


def test_only_the_sessions_read_last_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MOST_REMEMBERED", 2)
    monkeypatch.setattr(sessions, "_remembered", {})
    keys = []
    for _ in range(3):
        store = sessions.SessionStore()
        store["participants"] = {}
        store.save()
        keys.append(store.session_key)
        sessions.SessionStore(store.session_key).load()
    sessions.SessionStore(keys[1]).load()
    assert [sessions.remembered(key) is not None for key in keys] == [False, True, True]
    assert sessions.remembered(None) is None
