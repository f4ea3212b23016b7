"""Sessions: opened on a task, fenced by later ones, finished when the log rebuilds the text."""

from copy import deepcopy
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from crowdrag.studies.models import Consent, Participant
from tests.factories import NOW, WritingTaskFactory
from tests.participants import as_participant
from tests.writing.editor.typist import Editor, digest
from writing.editor import logs
from writing.enums import LONGEST_TEXT, SurveyKind, TaskState
from writing.models import EditingSession, LogBatch, Survey, SurveyAnswers, WritingLog, WritingPlan, WritingTask

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def opened(shared_rows: None) -> Editor:
    made = Editor()
    assert made.open(width=390, height=844, touch=True).status_code == 201
    return made


@pytest.fixture
def editor(opened: Editor, db: None) -> Editor:
    return deepcopy(opened)


def test_the_first_opening_begins_the_log() -> None:
    editor = Editor()
    answer = editor.open()
    log = WritingLog.objects.get(task=editor.task)
    assert answer.json() == {
        "session": 0, "token": editor.told["token"], "log_url": "/writing/log/", "text": "", "elapsed": 0,
        "next_batch": 0, "next_event": 0, "lease_until": "2036-01-01T00:00:00Z", "others": [],
        "max_text": LONGEST_TEXT,
    }  # fmt: skip
    assert (log.source, log.started_at) == ("EDITOR", log.sessions.get().opened_at)


def test_a_later_opening_goes_on_with_the_text(editor: Editor) -> None:
    editor.type("Hello 🧊")
    again = Editor(editor.task, editor.client)
    told = again.open().json()

    assert (told["session"], told["text"], told["next_batch"], told["next_event"]) == (1, "Hello 🧊", 0, 0)
    # Its time goes on behind what is recorded, though the typing was quicker than the clock.
    assert told["elapsed"] == 6 * 150
    again.type(" again")
    assert logs.current_text(editor.task) == "Hello 🧊 again"
    assert [text for _, text in logs.snapshots(editor.task.log)][-1] == "Hello 🧊 again"
    assert list(logs.rebuild_texts([editor.task.log])) == [(editor.task.log, "Hello 🧊 again")]


def test_a_fenced_session_is_heard_but_makes_no_text_and_leaves_the_task_finished(editor: Editor) -> None:
    editor.type("begun")
    here = Editor(editor.task, editor.client)
    here.open()
    assert here.type(" here").json()["fenced"] is False
    here.finish()
    late = editor.type(" there")
    assert (late.status_code, late.json()["fenced"]) == (200, True)
    editor.task.refresh_from_db()
    assert editor.task.finished_at is not None
    assert logs.current_text(editor.task) == "begun here"
    third = Editor(editor.task, editor.client).open().json()
    assert (third["text"], third["others"]) == ("begun here", [{"session": 0, "text": "begun there"}])
    chain = logs.session_history(editor.task.log)
    assert [(placed.session, placed.number) for placed in chain.events] == [(n, i) for n in (0, 1) for i in range(5)]
    (branch,) = chain.branches
    assert (branch.session, branch.first, len(branch.events), branch.text) == (0, 5, 6, "begun there")


def test_a_branch_is_offered_until_it_is_taken_over_and_carets_alone_are_none(editor: Editor) -> None:
    here = Editor(editor.task, editor.client)
    here.open()
    editor.send([["f", 1, 0], ["c", 2, 0, 0]])
    here.type("text")
    assert here.open().json()["others"] == []
    editor.type("typed elsewhere")
    assert here.open().json()["others"] == [{"session": 0, "text": "typed elsewhere"}]
    here.send([["s", 9, 0, 4, "typed elsewhere", "restored", ""]])
    here.type(", and on")
    assert here.open().json()["others"] == []
    assert here.text == "typed elsewhere, and on"


def test_a_chain_of_many_sessions_with_a_branch_each(editor: Editor) -> None:
    tabs = [editor]
    for n in range(4):
        tabs[-1].type(f"{n} ")
        tab = Editor(editor.task, editor.client)
        tab.open()
        tabs[-1].type("lost")
        tabs.append(tab)
    assert logs.current_text(editor.task) == "0 1 2 3 "
    chain = logs.session_history(editor.task.log)
    assert [branch.text for branch in chain.branches] == ["0 lost", "0 1 lost", "0 1 2 lost", "0 1 2 3 lost"]


def test_a_task_that_was_given_a_text_begins_with_it() -> None:
    editor = Editor(WritingTaskFactory(claimed=True, draft="To be revised."))
    told = editor.open().json()

    assert (told["session"], told["text"], told["next_event"]) == (1, "To be revised.", 0)
    editor.send([["s", 3, 6, 7, "better", "typed", "insertText"]])
    assert logs.current_text(editor.task) == "To be better."
    assert editor.open().json()["session"] == 2


def test_finishing_keeps_the_text_and_may_be_said_again(editor: Editor) -> None:
    editor.type("Done [0].")
    answer = editor.finish()
    assert (answer.status_code, answer.json()["next"]) == (200, f"{editor.url('writing_finish')[:-7]}exit/")
    editor.task.refresh_from_db()
    assert (editor.task.draft, editor.task.state) == ("Done [0].", TaskState.CLAIMED)
    finished_at = editor.task.finished_at
    assert finished_at is not None
    assert editor.finish().json() == answer.json()
    editor.task.refresh_from_db()
    assert editor.task.finished_at == finished_at


def test_finishing_waits_for_all_events_and_the_right_text(editor: Editor) -> None:
    editor.type("abc")
    behind = editor.finish(events=4)
    assert (behind.status_code, behind.json()) == (409, {"problem": "behind", "next_event": 3})
    differs = editor.finish(digest=digest("abd"))
    assert (differs.status_code, differs.json()["problem"]) == (409, "differs")
    assert editor.finish(session="0").status_code == 400
    Editor(editor.task, editor.client).open()
    fenced = editor.finish()
    assert (fenced.status_code, fenced.json()["problem"]) == (409, "fenced")
    editor.task.refresh_from_db()
    assert (editor.task.finished_at, editor.task.draft) == (None, "")


def test_check_sums_on_the_way_are_compared(editor: Editor, caplog: pytest.LogCaptureFixture) -> None:
    editor.type("abc")
    editor.send([["h", 900, digest("abc")[:16]], ["h", 901, digest("abX")[:16]]])
    assert editor.finish().status_code == 200
    assert [record.args for record in caplog.records] == [(editor.task.external_id, 1)]


def test_opening_or_changing_the_text_takes_a_task_back_from_the_exit_survey(editor: Editor) -> None:
    def is_finished() -> bool:
        return WritingTask.objects.get(pk=editor.task.pk).finished_at is not None

    editor.type("abc")
    editor.finish()
    editor.send([["v", 999, 0]])
    assert is_finished(), "leaving the page changes no text"
    editor.type("d")
    assert not is_finished()
    editor.finish()
    assert is_finished()
    editor.open()
    assert not is_finished()


@pytest.mark.parametrize("state", [each for each in TaskState if each not in (TaskState.CLAIMED, TaskState.OPEN)])
def test_a_task_that_is_not_being_written_is_closed(editor: Editor, state: TaskState) -> None:
    editor.type("abc")
    WritingTask.objects.filter(pk=editor.task.pk).update(state=state)
    step = f"/work/{editor.task.study.slug}/writing/{editor.task.external_id}/"
    for answer in (editor.open(), editor.finish()):
        assert answer.status_code == 409
        assert (answer.json()["problem"], answer.json()["next"]) == ("closed", step)
    late = editor.type("typed before the lease was over")
    if state == TaskState.RETURNED:
        assert late.status_code == 200
        assert logs.current_text(editor.task) == "abctyped before the lease was over"
    else:
        assert (late.status_code, late.json()["problem"]) == (410, "closed")
        assert logs.current_text(editor.task) == "abc"


@pytest.mark.parametrize("gone", ["withdrawn_at", "erased_at"])
def test_nothing_is_recorded_of_somebody_who_withdrew(editor: Editor, gone: str) -> None:
    Participant.objects.filter(pk=editor.task.participant_id).update(**{gone: NOW})
    assert editor.type("abc").status_code == 410
    assert editor.open().status_code in (403, 409)
    assert not LogBatch.objects.exists()


def test_the_entry_survey_comes_first() -> None:
    editor = Editor()
    study = editor.task.study
    survey = Survey.objects.create(study=study, name="entry", kind=SurveyKind.ENTRY, created_at=NOW)
    WritingPlan.objects.filter(study=study).update(entry_survey=survey)
    assert editor.open().status_code == 409
    assert not EditingSession.objects.filter(log__task=editor.task).exists()
    SurveyAnswers.objects.create(task=editor.task, survey=survey, answers={}, answered_at=NOW)
    assert editor.open().status_code == 201


def test_a_task_opens_for_its_writer_alone_who_consented() -> None:
    editor = Editor()
    stranger = Editor(WritingTaskFactory(claimed=True, topic=editor.task.topic))
    stranger.task = editor.task
    assert stranger.open().status_code == 404
    assert stranger.post(stranger.url("writing_finish"), {}).status_code == 404
    csrf = Client(enforce_csrf_checks=True)
    as_participant(csrf, editor.task.participant)
    assert [Editor(editor.task, client).open().status_code for client in (Client(), csrf)] == [403, 403]
    Consent.objects.update(withdrawn_at=NOW)
    assert (editor.open().status_code, editor.open().json()["problem"]) == (403, "consent")
    assert not WritingLog.objects.filter(task=editor.task).exists()


def test_signs_of_life_hold_the_task() -> None:
    editor = Editor()
    WritingPlan.objects.update(lease_hours=48)

    def lease_left() -> timedelta:
        editor.task.refresh_from_db()
        return editor.task.lease_until - timezone.now()

    def leave(left: timedelta) -> None:
        WritingTask.objects.filter(pk=editor.task.pk).update(lease_until=timezone.now() + left)

    leave(timedelta(minutes=5))
    editor.open()
    assert lease_left() > timedelta(hours=47, minutes=59)
    leave(timedelta(minutes=5))
    answer = editor.type("a")
    assert lease_left() > timedelta(hours=47, minutes=59)
    assert answer.json()["lease_until"][:19] == editor.task.lease_until.isoformat()[:19]
    # A gain of less than a minute is not worth a row's update.
    leave(timedelta(hours=47, minutes=59, seconds=30))
    before = WritingTask.objects.get(pk=editor.task.pk).lease_until
    editor.type("b")
    editor.task.refresh_from_db()
    assert editor.task.lease_until == before
