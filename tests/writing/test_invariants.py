"""The check of what must hold: it finds nothing where nothing is wrong, and each damage that is done on purpose."""

from collections.abc import Callable
from copy import deepcopy
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from crowdrag.studies import invariants
from tests.factories import NOW, ParticipantFactory, ResponseFactory, StyleFactory
from tests.writing.editor.typist import Editor
from writing.editor import codec
from writing.models import EditingSession, LogBatch, Response, WritingTask

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def opened(shared_rows: None) -> Editor:
    """A response of two sessions, with a branch."""
    first = Editor()
    first.open()
    first.type("Hello ")
    second = Editor(first.task, first.client)
    second.open()
    second.type("world")
    second.type(".")
    first.type("lost")
    task = second.task
    ResponseFactory(task=task, topic=task.topic, style=task.style, participant=task.participant, text="Hello world.")
    return second


@pytest.fixture
def editor(opened: Editor, db: None) -> Editor:
    return deepcopy(opened)


def broken() -> dict[str, list[str]]:
    return {invariant.name: tally.examples for invariant, tally in invariants.check() if tally.broken}


def test_nothing_is_wrong_where_nothing_is(editor: Editor) -> None:
    assert broken() == {}
    counts = {invariant.name: tally.checked for invariant, tally in invariants.check()}
    assert counts["writing.sequence"] == counts["writing.sessions"] == 2
    assert (counts["writing.digests"], counts["writing.lengths"], counts["writing.texts"]) == (4, 1, 1)
    said = StringIO()
    call_command("check_invariants", stdout=said)
    assert said.getvalue().count("ok ") == len(invariants.names())


def test_the_command_fails_when_something_is(editor: Editor) -> None:
    LogBatch.objects.filter(session=1, number=0).delete()
    output = StringIO()
    with pytest.raises(CommandError):
        call_command("check_invariants", "writing.sequence", stdout=output)
    assert "batch 1 from event 5, not 0, 0" in output.getvalue()
    with pytest.raises(CommandError, match="nonsense"):
        call_command("check_invariants", "nonsense")


def without_triggers(sql: str) -> None:
    """What no program of ours can do."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(sql)
        cursor.execute("SET LOCAL session_replication_role = origin")


def flip_a_bit() -> None:
    without_triggers(
        "UPDATE writing_logbatch SET payload = set_bit(payload, 99, 1 - get_bit(payload, 99)) WHERE session = 0"
    )


def change_an_event() -> None:
    payload = codec.pack([["s", 0, 11, 0, "!", "typed", ""]])
    row = LogBatch.objects.get(session=1, number=1)
    LogBatch.objects.filter(pk=row.pk).delete()
    row.payload, row.digest = payload, codec.digest(payload)
    row.save(force_insert=True)


def session(number: int, **fields: object) -> Callable[[], object]:
    return lambda: EditingSession.objects.filter(number=number).update(**fields)


def without(**batches: int) -> Callable[[], object]:
    return lambda: LogBatch.objects.filter(**batches).delete()


def two_in_a_slot() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP INDEX task_one_at_a_time_per_slot")
        cursor.execute("DROP INDEX task_nobody_writes_twice_on_a_topic")
    WritingTask.objects.update(slot=0)
    copy = WritingTask.objects.get()
    copy.pk, copy.external_id = None, "another"
    copy.save(force_insert=True)


def two_wordings_in_a_slot() -> None:
    WritingTask.objects.update(slot=0)
    copy = WritingTask.objects.get()
    copy.pk, copy.external_id, copy.participant = None, "another", ParticipantFactory(study=copy.study)
    copy.style = StyleFactory(study=copy.study, name=copy.style.name, version=2)
    copy.save(force_insert=True)


def erase_and_include() -> None:
    Response.objects.update(erased_at=NOW, text="", is_included=True)


@pytest.mark.parametrize(
    ("damage", "names"),
    [
        (without(session=1, number=1), {"sequence", "lengths", "texts"}),
        (without(session=0), {"sequence", "lengths", "texts"}),
        (flip_a_bit, {"digests"}),
        (change_an_event, {"texts"}),
        (session(0, superseded_at=None), {"sessions"}),
        (session(1, superseded_at=NOW), {"sessions"}),
        (session(1, base=None), {"sessions", "lengths", "texts"}),
        (session(1, base_events=99), {"sessions"}),
        (session(1, length=3), {"lengths"}),
        (two_in_a_slot, {"slots", "topics"}),
        (two_wordings_in_a_slot, {"slots"}),
        (erase_and_include, {"erased"}),
    ],
)
def test_every_damage_is_found(editor: Editor, damage: Callable[[], None], names: set[str]) -> None:
    damage()
    assert set(broken()) >= {f"writing.{name}" for name in names}
