"""The check of what must hold: it finds nothing where nothing is wrong, and each damage that is done on purpose."""

from collections.abc import Callable
from copy import deepcopy
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from crowdrag.studies.domain import invariants
from tests.factories import NOW, ParticipantFactory, ResponseFactory, StyleFactory
from writing.domain import codec
from writing.models import LogBatch, Response, Sitting, WritingTask

from .typist import Editor

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def opened(shared_rows: None) -> Editor:
    """A response of two sittings, with a branch."""
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
    assert counts["writing.sequence"] == counts["writing.sittings"] == 2
    assert (counts["writing.digests"], counts["writing.lengths"], counts["writing.texts"]) == (4, 1, 1)
    said = StringIO()
    call_command("check_invariants", stdout=said)
    assert said.getvalue().count("ok ") == len(invariants.names())


def test_the_command_fails_when_something_is(editor: Editor) -> None:
    LogBatch.objects.filter(sitting=1, number=0).delete()
    said = StringIO()
    with pytest.raises(CommandError, match="broken"):
        call_command("check_invariants", "writing.sequence", stdout=said)
    assert "batch 1 from event 5, not 0, 0" in said.getvalue()
    with pytest.raises(CommandError, match="no nonsense"):
        call_command("check_invariants", "nonsense")


def without_triggers(sql: str) -> None:
    """What no program of ours can do."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(sql)
        cursor.execute("SET LOCAL session_replication_role = origin")


def lose_the_last() -> None:
    LogBatch.objects.filter(sitting=1, number=1).delete()


def lose_all_of_a_sitting() -> None:
    LogBatch.objects.filter(sitting=0).delete()


def flip_a_bit() -> None:
    without_triggers(
        "UPDATE writing_logbatch SET payload = set_bit(payload, 99, 1 - get_bit(payload, 99)) WHERE sitting = 0"
    )


def change_an_event() -> None:
    payload = codec.pack([["s", 0, 11, 0, "!", "typed", ""]])
    row = LogBatch.objects.get(sitting=1, number=1)
    LogBatch.objects.filter(pk=row.pk).delete()
    row.payload, row.digest = payload, codec.digest(payload)
    row.save(force_insert=True)


def forget_a_fence() -> None:
    Sitting.objects.filter(number=0).update(fenced_at=None)


def fence_the_last() -> None:
    Sitting.objects.filter(number=1).update(fenced_at=NOW)


def cut_the_chain() -> None:
    Sitting.objects.filter(number=1).update(base=None)


def begin_with_more() -> None:
    Sitting.objects.filter(number=1).update(base_events=99)


def mistake_the_length() -> None:
    Sitting.objects.filter(number=1).update(length=3)


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
    ("damage", "found"),
    [
        (lose_the_last, {"writing.sequence", "writing.lengths", "writing.texts"}),
        (lose_all_of_a_sitting, {"writing.sequence", "writing.lengths", "writing.texts"}),
        (flip_a_bit, {"writing.digests"}),
        (change_an_event, {"writing.texts"}),
        (forget_a_fence, {"writing.sittings"}),
        (fence_the_last, {"writing.sittings"}),
        (cut_the_chain, {"writing.sittings", "writing.lengths", "writing.texts"}),
        (begin_with_more, {"writing.sittings"}),
        (mistake_the_length, {"writing.lengths"}),
        (two_in_a_slot, {"writing.slots", "writing.topics"}),
        (two_wordings_in_a_slot, {"writing.slots"}),
        (erase_and_include, {"writing.erased"}),
    ],
)
def test_every_damage_is_found(editor: Editor, damage: Callable[[], None], found: set[str]) -> None:
    damage()
    assert set(broken()) >= found
