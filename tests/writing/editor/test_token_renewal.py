"""A token anew for a session: nothing is opened or fenced, and what was kept can still be sent."""

from datetime import datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from crowdrag.studies.models import Consent
from tests.factories import NOW, ParticipantFactory
from tests.participants import as_participant
from tests.writing.editor.typist import Editor
from writing.editor import logs
from writing.enums import TaskState
from writing.models import EditingSession, WritingTask

pytestmark = pytest.mark.django_db


@pytest.fixture
def editor() -> Editor:
    made = Editor()
    made.open()
    return made


def renew(editor: Editor, number: int = 0, client: Client | None = None) -> dict[str, object]:
    client = client or editor.client
    answer = client.post(editor.url("writing_session"), {"renew": number}, content_type="application/json")
    return {"status": answer.status_code} | (answer.json() if answer["Content-Type"] == "application/json" else {})


def test_a_new_token_serves_like_the_old_one_until_the_session_is_fenced(editor: Editor) -> None:
    editor.type("kept")
    renewed = renew(editor)
    assert (renewed["session"], renewed["next_batch"], renewed["next_event"], renewed["fenced"]) == (0, 1, 4, False)
    editor.told["token"] = renewed["token"]
    assert editor.type(" and sent").status_code == 200
    assert (logs.current_text(editor.task), EditingSession.objects.count()) == ("kept and sent", 1)
    Editor(editor.task, editor.client).open()
    assert [renew(editor, number)["fenced"] for number in (0, 1)] == [True, False]


def test_it_gives_the_writer_more_time(editor: Editor) -> None:
    soon = timezone.now() + timedelta(minutes=5)
    WritingTask.objects.update(lease_until=soon)
    until = datetime.fromisoformat(str(renew(editor)["lease_until"]))
    editor.task.refresh_from_db()
    assert abs(editor.task.lease_until - until) < timedelta(milliseconds=1)
    assert until > soon + timedelta(hours=1)
    WritingTask.objects.update(state=TaskState.RETURNED, lease_until=None)
    assert renew(editor)["lease_until"] is None  # what went back is not taken again by this


def test_there_is_none_for_others_for_no_session_or_for_a_task_that_is_over(editor: Editor) -> None:
    assert [renew(editor, number)["problem"] for number in (1, -1)] == ["unknown", "bad"]
    other, client = ParticipantFactory(study=editor.task.study), Client()
    as_participant(client, other)
    assert [renew(editor, client=who)["status"] for who in (Client(), client)] == [403, 403]
    Consent.objects.create(participant=other, text=editor.task.study.writing_plan.consent_text, given_at=NOW)
    assert renew(editor, client=client)["status"] == 404
    WritingTask.objects.update(state=TaskState.SUBMITTED)
    assert renew(editor)["problem"] == "closed"
