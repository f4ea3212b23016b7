"""Small batches become large ones when nothing is added any more: the same events in less room."""

import random
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from tests.factories import NOW
from tests.writing.editor import scripted_log
from tests.writing.editor.typist import Editor
from writing.editor import codec, ingestion, logs
from writing.enums import TaskState
from writing.models import EditingSession, LogBatch, WritingLog, WritingTask

pytestmark = pytest.mark.django_db
LIMIT = 40_000


@pytest.fixture
def editor() -> Editor:
    """Three sessions with branches, of several batches each."""
    tabs = [Editor()]
    for n in range(3):
        tabs[-1].open()
        for word in ("one ", "two ", "three "):
            tabs[-1].type(word)
        if n:
            tabs[-2].type("lost ")
        tabs.append(Editor(tabs[0].task, tabs[0].client))
    return tabs[-2]


def move(task: WritingTask, state: TaskState) -> None:
    WritingTask.objects.filter(pk=task.pk).update(state=state)


def test_events_stay_what_and_where_they_were(editor: Editor) -> None:
    log = editor.task.log
    before, text = logs.session_history(log), logs.current_text(editor.task)
    received = LogBatch.objects.filter(session=2).latest("number").received_at

    assert ingestion.compact(log, NOW) == 11 - 3
    assert ingestion.compact(log, NOW) == 0

    assert (logs.session_history(log), logs.current_text(editor.task)) == (before, text)
    assert list(log.batches.order_by("session").values_list("session", "number", "first_event", "event_count")) == [
        (0, 0, 0, 19),
        (1, 0, 0, 19),
        (2, 0, 0, 14),
    ]
    assert set(EditingSession.objects.values_list("next_batch", flat=True)) == {1}
    for batch in LogBatch.objects.all():
        assert bytes(batch.digest) == codec.digest(bytes(batch.payload))
    assert LogBatch.objects.get(session=2).received_at == received
    assert list(logs.events(log)) == [placed.event for placed in before.events]


def test_a_batch_stays_small_enough_to_be_unpacked(editor: Editor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingestion, "MOST_EVENTS", 9)
    before = logs.session_history(editor.task.log)
    assert ingestion.compact(editor.task.log, NOW) > 0
    assert max(LogBatch.objects.values_list("event_count", flat=True)) <= 9
    assert logs.session_history(editor.task.log) == before


def test_what_cannot_be_read_is_left_as_it_is(editor: Editor) -> None:
    row = LogBatch.objects.filter(session=1).first()
    LogBatch.objects.filter(pk=row.pk).delete()
    row.payload = b"damaged"
    row.save(force_insert=True)
    rows = sorted(LogBatch.objects.values_list("pk", flat=True))
    with pytest.raises(codec.BrokenLog):
        ingestion.compact(editor.task.log, NOW)
    assert sorted(LogBatch.objects.values_list("pk", flat=True)) == rows
    move(editor.task, TaskState.SUBMITTED)
    assert ingestion.compact_abandoned(now=timezone.now()) == 0


@pytest.mark.parametrize("state", [TaskState.SUBMITTED, TaskState.REJECTED, TaskState.REVISION])
def test_logs_that_are_closed_are_compacted_by_and_by(editor: Editor, state: TaskState) -> None:
    assert ingestion.compact_abandoned(now=timezone.now() + timedelta(days=60)) == 0
    move(editor.task, state)
    assert ingestion.compact_abandoned(now=timezone.now()) == 1
    assert ingestion.compact_abandoned(now=timezone.now()) == 0
    assert LogBatch.objects.count() == 3


def test_a_returned_tasks_log_grows_as_long_as_a_token_is_valid(editor: Editor) -> None:
    move(editor.task, TaskState.RETURNED)
    assert ingestion.compact_abandoned(now=timezone.now() + timedelta(days=29)) == 0
    assert editor.type("late").status_code == 200
    assert ingestion.compact_abandoned(now=timezone.now() + timedelta(days=31)) == 1


def test_the_log_of_a_response_takes_little_room() -> None:
    """250 words, every key timed: rows with all their columns, as the database stores them."""
    rng = random.Random(3)
    text = scripted_log.text_of(250, rng)
    events = scripted_log.log_of(text, rng)
    editor = Editor()
    editor.open()
    for first in range(0, len(events), 40):
        assert editor.send(events[first : first + 40]).status_code == 200
    assert editor.text == text == logs.current_text(editor.task)
    assert editor.finish().status_code == 200
    move(editor.task, TaskState.SUBMITTED)
    live = stored()
    ingestion.compact(WritingLog.objects.get(), NOW)
    compact = stored()
    print(f"{len(text)} characters, {len(events)} events: {live} bytes in batches of 40, {compact} compacted")
    assert compact < LIMIT
    assert logs.current_text(editor.task) == text


def stored() -> int:
    """The bytes of all rows of the one log, with 24 of header and 4 of item pointer each, and their index entries."""
    total = 0
    with connection.cursor() as cursor:
        for table, indexes in (("writing_writinglog", 2), ("writing_editingsession", 4), ("writing_logbatch", 4)):
            cursor.execute(f"SELECT coalesce(sum(pg_column_size(t.*) + 4), 0), count(*) FROM {table} t")
            size, rows = cursor.fetchone()
            total += int(size) + rows * indexes * 40
    return total
