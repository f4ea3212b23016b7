"""A token anew for a sitting: nothing is opened or fenced, and what was kept can still be sent."""

from datetime import datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from crowdrag.studies.models import Consent, Participant
from tests.factories import NOW, ParticipantFactory
from tests.participants import as_participant
from writing.domain import sittings
from writing.enums import TaskState
from writing.models import Sitting, WritingTask

from .typist import Editor

pytestmark = pytest.mark.django_db


def _renew(editor: Editor, number: int = 0, client: Client | None = None) -> dict[str, object]:
    client = client or editor.client
    answer = client.post(editor.url("writing_sitting"), {"renew": number}, content_type="application/json")
    return {"status": answer.status_code} | (answer.json() if answer["Content-Type"] == "application/json" else {})


def test_a_new_token_serves_like_the_old_one() -> None:
    editor = Editor()
    editor.open()
    editor.type("kept")
    told = _renew(editor)

    assert (told["sitting"], told["next_batch"], told["next_event"], told["fenced"]) == (0, 1, 4, False)
    editor.told["token"] = told["token"]
    assert editor.type(" and sent").status_code == 200
    assert (sittings.text(editor.task), Sitting.objects.count()) == ("kept and sent", 1)


def test_it_gives_the_writer_more_time() -> None:
    editor = Editor()
    editor.open()
    soon = timezone.now() + timedelta(minutes=5)
    WritingTask.objects.update(lease_until=soon)
    until = datetime.fromisoformat(str(_renew(editor)["lease_until"]))
    editor.task.refresh_from_db()
    assert editor.task.lease_until is not None
    assert abs(editor.task.lease_until - until) < timedelta(milliseconds=1)
    assert until > soon + timedelta(hours=1)
    WritingTask.objects.update(state=TaskState.RETURNED, lease_until=None)
    assert _renew(editor)["lease_until"] is None  # what went back is not taken again by this


def test_a_fenced_sitting_is_told_so() -> None:
    editor = Editor()
    editor.open()
    Editor(editor.task, editor.client).open()
    assert _renew(editor)["fenced"] is True
    assert _renew(editor, 1)["fenced"] is False


def test_there_is_none_for_a_sitting_that_is_not_there_or_a_task_that_is_over() -> None:
    editor = Editor()
    editor.open()
    assert _renew(editor, 1) == {"status": 409, "problem": "unknown", "message": "This task has no such sitting."}
    assert _renew(editor, -1)["problem"] == "bad"
    WritingTask.objects.update(state=TaskState.SUBMITTED)
    assert _renew(editor)["problem"] == "closed"


def test_nobody_else_gets_one() -> None:
    editor = Editor()
    editor.open()
    other, client = ParticipantFactory(study=editor.task.study), Client()
    as_participant(client, other)
    assert isinstance(other, Participant)
    assert _renew(editor, client=client)["status"] == 403
    Consent.objects.create(participant=other, text=editor.task.study.writing_plan.consent_text, given_at=NOW)
    assert _renew(editor, client=client)["status"] == 404
    assert _renew(editor, client=Client())["status"] == 403
