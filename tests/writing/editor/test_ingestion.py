"""Batches: stored once, in order, acknowledged after the commit; whatever else comes is refused with what to do."""

import json
from datetime import timedelta

import pytest
from django.core import signing
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from tests.concurrency import meanwhile, together, uncommitted, wait_for_lock
from tests.factories import NOW
from tests.writing.editor.typist import Editor, typed
from writing.corpus.imports.fields import Text
from writing.editor import codec, event_validation, ingestion, logs, sessions
from writing.enums import LONGEST_TEXT, TaskState
from writing.models import EditingSession, LogBatch, WritingTask

pytestmark = pytest.mark.django_db


@pytest.fixture
def editor() -> Editor:
    made = Editor()
    assert made.open().status_code == 201
    return made


def stored(editor: Editor) -> list[tuple[int, int, int]]:
    rows = LogBatch.objects.filter(log__task=editor.task).order_by("session", "number")
    return list(rows.values_list("number", "first_event", "event_count"))


def test_a_batch_is_stored_as_it_came(editor: Editor) -> None:
    events = [["f", 3, 1], *typed("é🧊"), ["k", 90, "letter", 70]]
    before = timezone.now()
    assert editor.send(events).json() == {
        "acked": 0,
        "next_event": 4,
        "fenced": False,
        "lease_until": "2036-01-01T00:00:00Z",
    }
    batch = LogBatch.objects.get()
    assert codec.unpack(bytes(batch.payload), batch.codec) == events
    assert bytes(batch.digest) == codec.digest(bytes(batch.payload))
    assert before <= batch.received_at <= timezone.now()
    session = EditingSession.objects.get()
    assert (session.next_batch, session.next_event, session.length, session.last_at) == (1, 4, 2, batch.received_at)


def test_the_same_batch_again_changes_nothing_and_is_answered_alike(editor: Editor) -> None:
    batch = editor.batch(typed("abc"))
    first = editor.post_batch(batch)
    for _ in range(3):
        again = editor.post_batch(batch)
        assert (again.status_code, again.json()) == (200, first.json())
    editor.number, editor.first, editor.text = 1, 3, "abc"
    editor.type("def")
    late = editor.post_batch(batch)
    assert (late.status_code, late.json()) == (200, first.json())
    assert stored(editor) == [(0, 0, 3), (1, 3, 3)]


def test_the_same_events_packed_otherwise_are_the_same(editor: Editor) -> None:
    batch = editor.batch(typed("abc"))
    editor.post_batch(batch)
    row = LogBatch.objects.get()
    LogBatch.objects.all().delete()
    row.payload = codec.zstandard.ZstdCompressor(level=1).compress(json.dumps(batch["events"]).encode())
    row.digest, row.codec = codec.digest(row.payload), codec.PLAIN
    row.save(force_insert=True)
    assert editor.post_batch(batch).status_code == 200


def test_a_number_stands_for_the_same_events_for_ever(editor: Editor) -> None:
    batch = editor.batch(typed("abc"))
    editor.post_batch(batch)
    for other in ({"events": typed("abX")}, {"events": typed("ab")}, {"first": 1}):
        answer = editor.post_batch(batch | other)
        assert (answer.status_code, answer.json()["problem"]) == (409, "other")
    assert logs.current_text(editor.task) == "abc"


@pytest.mark.parametrize(
    "other",
    [{"number": 2}, {"first": 4}, {"first": 2}, {"number": 9, "first": 3}, {"number": event_validation.MOST_NUMBER}],
)
def test_a_gap_is_refused_with_what_is_expected(editor: Editor, other: dict) -> None:
    editor.type("abc")
    answer = editor.post_batch(editor.batch(typed("def", at=3)) | other)
    assert (answer.status_code, answer.json()) == (409, {"problem": "gap", "next_batch": 1, "next_event": 3})
    assert stored(editor) == [(0, 0, 3)]


def test_a_splice_beyond_the_text_is_refused_and_its_number_is_free_for_what_is_right(editor: Editor) -> None:
    editor.type("abc")
    for splice in ([4, 0, "x"], [0, 4, ""], [3, 1, "long enough to hide it"], [2, 2, ""]):
        answer = editor.send([["s", 0, *splice, "typed", ""]])
        assert (answer.status_code, answer.json()["where"]) == (400, "events")
        assert stored(editor) == [(0, 0, 3)]
    assert editor.type("d").status_code == 200


def test_a_text_may_be_very_long_but_not_endless(editor: Editor, monkeypatch: pytest.MonkeyPatch) -> None:
    assert editor.told["max_text"] == Text().longest == LONGEST_TEXT
    monkeypatch.setattr(ingestion, "LONGEST_TEXT", 5)
    assert editor.type("12345").status_code == 200
    assert editor.type("6").status_code == 400


def test_bad_shape_is_refused_with_its_place(editor: Editor) -> None:
    answer = editor.send([["s", 0, 0, 0, "a\0", "typed", ""]])
    assert (answer.status_code, answer.json()["problem"], answer.json()["where"]) == (
        400, "bad", "events[0].inserted",
    )  # fmt: skip
    assert stored(editor) == []


def test_a_body_that_is_too_large_is_refused_unread(editor: Editor) -> None:
    large = editor.send([["s", 0, 0, 0, "x" * event_validation.MAX_BATCH_BYTES, "pasted", ""]])
    assert (large.status_code, large.json()["most_bytes"]) == (413, event_validation.MAX_BATCH_BYTES)
    many = editor.send([["f", 0, 1]] * (event_validation.MOST_EVENTS + 1))
    assert (many.status_code, many.json()["most_events"]) == (413, event_validation.MOST_EVENTS)
    assert stored(editor) == []


def test_the_token_is_the_key_for_a_month(editor: Editor, settings, monkeypatch: pytest.MonkeyPatch) -> None:
    batch, token = editor.batch(typed("abc")), editor.told["token"]
    stranger = Client(enforce_csrf_checks=True)

    def post(token: str) -> tuple[int, str | None]:
        headers = {"X-Writing-Token": token}
        answer = stranger.post(
            reverse("writing_log"), json.dumps(batch), content_type="application/json", headers=headers
        )
        return answer.status_code, answer.json().get("problem")

    forged = (signing.dumps([1, 1]), signing.dumps([0, 0], salt=sessions.SALT))
    for wrong in ("", "nonsense", token[:-2], token + "x", *forged):
        assert post(wrong)[0] in (403, 410), wrong
    assert stored(editor) == []
    # No session and no CSRF token: an expired login never stops the saving.
    assert post(token)[0] == 200
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another-key-that-is-long-enough", [settings.SECRET_KEY]
    assert post(token)[0] == 200
    settings.SECRET_KEY_FALLBACKS = []
    assert post(token) == (403, "token")
    editor.open()
    monkeypatch.setattr(sessions, "VALID_FOR", timedelta(seconds=-1))
    assert post(editor.told["token"]) == (403, "token")


def test_a_session_that_is_gone_asks_for_a_new_one_and_an_erased_task_for_none(editor: Editor) -> None:
    EditingSession.objects.all().delete()
    assert editor.type("abc").status_code == 403
    editor.task.log.delete()
    editor.task.delete()
    assert editor.type("abc").status_code == 410


def test_order_is_by_number_whatever_the_clocks_say(editor: Editor) -> None:
    """The device's clock is set by a day, and it sleeps: the order stays, and the jump is on record."""
    day = 86_400_000
    events = [
        ["s", 100, 0, 0, "a", "typed", ""],
        ["j", 200, day],
        ["s", 200 + day, 1, 0, "b", "typed", ""],
        ["j", 300, -2 * day],
        ["s", 250, 2, 0, "c", "typed", ""],
    ]
    for n, each in enumerate(events):
        batch = editor.batch([each]) | {"wall": (-1) ** n * day}
        assert editor.post_batch(batch).status_code == 200
        editor.number, editor.first = n + 1, n + 1
    # Whenever the server had them: its clock may be set too.
    rows = list(LogBatch.objects.order_by("number"))
    LogBatch.objects.all().delete()
    for n, row in enumerate(rows):
        row.received_at = NOW - timedelta(days=n)
        row.save(force_insert=True)
    line = logs.session_history(editor.task.log).events
    assert [placed.event for placed in line] == events
    assert logs.current_text(editor.task) == "abc"
    assert Editor(editor.task, editor.client).open().json()["elapsed"] == 200 + day


def test_a_batch_takes_one_query(editor: Editor) -> None:
    editor.type("abc")
    with CaptureQueriesContext(connection) as captured:
        editor.type("d")
    kinds = [query["sql"].split()[0] for query in captured.captured_queries]
    assert [kind for kind in kinds if kind not in ("SAVEPOINT", "RELEASE")] == ["WITH"]


def test_batches_of_all_sizes_share_one_prepared_statement(editor: Editor) -> None:
    for text in ("a", "b" * 1_000, "é🧊"):
        assert editor.type(text).status_code == 200
    EditingSession.objects.update(next_batch=100_000, next_event=100_000)
    editor.number = editor.first = 100_000
    assert editor.type("c").status_code == 200
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%writing_logbatch%'")
        assert cursor.fetchone() == (1,)
        # Nothing else on this connection is prepared.
        assert connection.connection.prepare_threshold is None


@pytest.mark.django_db(transaction=True)
def test_ten_copies_at_once_have_one_effect_and_one_answer() -> None:
    """The answer got lost after the commit, and everything is sent again, at once."""
    editor = Editor()
    editor.open()
    for n in range(5):
        batch = editor.batch(typed("de", at=2 * n))

        def post(batch=batch) -> tuple[int, bytes]:
            answer = editor.post_batch(batch)
            return answer.status_code, answer.content

        [(status, _content)] = set(together([post] * 10))
        assert status == 200
        editor.number, editor.first = editor.number + 1, editor.first + 2
    assert logs.current_text(editor.task) == "de" * 5
    assert [first for _, first, _ in stored(editor)] == [0, 2, 4, 6, 8]


@pytest.mark.extended
@pytest.mark.django_db(transaction=True)
def test_opening_beside_a_batch_takes_it_in_or_fences_it() -> None:
    """Whichever comes first: an acknowledged batch that is not fenced is in the text of the new session."""
    for n in range(10):
        editor = Editor()
        editor.open()
        other = Editor(editor.task, editor.client)
        sent, opened = together([lambda: editor.type("abc").json(), lambda: other.open().json()])  # noqa: B023
        assert sent["acked"] == 0, n
        assert opened["text"] == ("" if sent["fenced"] else "abc")


@pytest.mark.django_db(transaction=True)
def test_a_batch_waits_for_a_submission_and_is_shut_out_by_it() -> None:
    """Otherwise the response would lack what was acknowledged while it was being stored."""
    editor = Editor()
    editor.open()
    statuses: list[int] = []

    def submit() -> None:
        WritingTask.objects.select_for_update(no_key=True).get(pk=editor.task.pk)
        WritingTask.objects.filter(pk=editor.task.pk).update(state=TaskState.SUBMITTED)

    with uncommitted(submit, then="commit") as end, meanwhile(lambda: statuses.append(editor.type("late").status_code)):
        wait_for_lock()
        assert statuses == [], "the batch waits"
        end.set()
    assert statuses == [410]
    assert not LogBatch.objects.exists()
