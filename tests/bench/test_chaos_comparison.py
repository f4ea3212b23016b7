"""The comparison of the chaos benchmark: it finds nothing where nothing is wrong, and each loss made on purpose."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import pytest
from django.db import connection

from annotation.enums import AssignmentState
from annotation.models import Assignment, AssignmentTransition, Judgment
from bench.chaos import client, comparison, study
from crowdrag.jobs.models import Run, Unit
from tests.annotation import open_campaign
from tests.annotation.judge_actions import answer_all, claim, hand_in
from tests.factories import NOW, ParticipantFactory
from tests.writing import open_plan
from writing.models import LogBatch, WritingTask

pytestmark = pytest.mark.django_db(transaction=True)
Lines = list[dict[str, Any]]


@pytest.fixture
def url() -> str:
    """The address of the test's database."""
    parts = urlsplit(os.environ["DATABASE_URL"])
    return urlunsplit(parts._replace(path=f"/{connection.settings_dict['NAME']}"))


@pytest.fixture
def lines() -> Lines:
    """A study in which work was acknowledged, and the journal of it."""
    here = open_campaign.world(topics=2, k=study.K, questionnaires_per_person=None)
    found: Lines = []

    def note(what: str, **facts: Any) -> None:
        found.append({"what": what, "at": float(len(found)), **facts})

    for _ in range(study.K):
        person = here.judge()
        for _sheet in here.questionnaires:
            mine = claim(here, person)
            note("claimed", assignment=mine.external_id)
            answer_all(mine)
            for given in Judgment.objects.filter(assignment=mine):
                facts = {"item": given.item_id, "dimension": given.dimension_id, "value": given.value, "revision": 1}
                note("answered", assignment=mine.external_id, **facts)
            hand_in(mine)
            note("submitted", assignment=mine.external_id)
    plan = open_plan.world(study=here.study, topics=1, slots=1)
    task = plan.claim(plan.writer())
    note("took", task=task.external_id)
    response = open_plan.hand_in(task)
    for row in LogBatch.objects.filter(log__task=task):
        events = comparison.codec.unpack(bytes(row.payload), row.codec)
        place = {"task": task.external_id, "session": row.session, "number": row.number}
        note("stored", **place, **stored(row.first_event, events))
    note("handed in", task=task.external_id, text=response.text)
    run = Run.objects.create(
        study=here.study, kind="k", code_version="1", created_at=NOW, state="DONE", finished_at=NOW
    )
    note("started", run=str(run.key))
    note("done", run=str(run.key))
    return found


def stored(first: int, events: list[Any]) -> dict[str, Any]:
    return {"first": first, "events": len(events), "digest": client.digest(events)}


def faults(url: str, lines: Lines, **more: Any) -> set[tuple[str, str]]:
    """Return which rows have what kind of fault."""
    kinds = ("lost", "doubled", "over", "under")
    rows = comparison.compare(url, lines, **more)
    return {(row.name, kind) for row in rows for kind in kinds if getattr(row, kind)}


def test_nothing_is_missing_where_nothing_is(url: str, lines: Lines) -> None:
    assert faults(url, lines) == set()
    counts = {row.name: row.acknowledged for row in comparison.compare(url, lines)}
    assert counts["questionnaires submitted"] == 2 * study.K
    assert counts["answers of judges"] == Judgment.objects.count()
    assert counts["events of the editor"] == len(open_plan.TEXT)
    assert set(comparison.stuck(url).values()) == {0}


@contextmanager
def unguarded() -> Iterator[None]:
    """Leave out triggers and foreign keys, which would prevent the damage."""
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        yield
        cursor.execute("SET session_replication_role = origin")


def forget_an_answer() -> None:
    Judgment.objects.order_by("pk").first().delete()


def change_an_answer() -> None:
    Judgment.objects.filter(pk=Judgment.objects.earliest("pk").pk).update(value=0)


def forget_a_batch() -> None:
    LogBatch.objects.earliest("pk").delete()


def forget_a_submission() -> None:
    Assignment.objects.filter(pk=Assignment.objects.earliest("pk").pk).update(state=AssignmentState.TIMED_OUT)


def submit_twice() -> None:
    last = AssignmentTransition.objects.filter(after=AssignmentState.SUBMITTED).latest("pk")
    AssignmentTransition.objects.create(
        assignment=last.assignment, before=last.before, after=last.after, cause="x", at=NOW
    )


def assign_once_more() -> None:
    """What a count before an insert does under load."""
    first = Assignment.objects.earliest("pk")
    other = Assignment.objects.exclude(questionnaire=first.questionnaire).latest("pk")
    somebody = ParticipantFactory(study=first.participant.study)
    Assignment.objects.filter(pk=other.pk).update(questionnaire=first.questionnaire, participant=somebody)


def start_once_more() -> None:
    Run.objects.create(
        study=Run.objects.get().study, kind="k", code_version="1", created_at=NOW, state="DONE", finished_at=NOW
    )


def lose_a_response() -> None:
    WritingTask.objects.filter(participant__isnull=False).update(state="CLAIMED", lease_until=NOW)


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        (forget_an_answer, ("answers of judges", "lost")),
        (submit_twice, ("questionnaires submitted", "doubled")),
        *(
            pytest.param(*each, marks=pytest.mark.extended)
            for each in (
                (change_an_answer, ("answers of judges", "lost")),
                (forget_a_batch, ("batches of the editor", "lost")),
                (forget_a_submission, ("questionnaires submitted", "lost")),
                (assign_once_more, ("questionnaires claimed", "over")),
                (assign_once_more, ("questionnaires claimed", "under")),
                (start_once_more, ("runs started", "doubled")),
                (lose_a_response, ("responses submitted", "lost")),
            )
        ),
    ],
)
def test_each_damage_is_found(url: str, lines: Lines, damage: Callable[[], None], found: tuple[str, str]) -> None:
    with unguarded():
        damage()
    assert found in faults(url, lines)


def test_work_that_is_held_by_nobody_is_counted(url: str, lines: Lines) -> None:
    with unguarded():
        lose_a_response()
    Unit.objects.create(run=Run.objects.get(), position=0, due_at=NOW)
    assert sum(comparison.stuck(url).values()) == 2


def test_a_backup_must_hold_what_was_acknowledged_before_it(url: str, lines: Lines) -> None:
    last = max(line["at"] for line in lines if line["what"] == "answered")
    with unguarded():
        Judgment.objects.latest("pk").delete()
    assert faults(url, lines, until=last) == set()
    assert faults(url, lines, until=last + 1) == {("answers of judges", "lost")}


def test_the_ledger_must_not_be_below_the_bill(url: str, lines: Lines, tmp_path: Any) -> None:
    bill = tmp_path / "bill.jsonl"
    assert comparison.money(url, bill).is_well
    bill.write_text('{"prompt": 1000, "completion": 5}\n')
    found = comparison.money(url, bill)
    assert (found.requests, found.is_well) == (1, False)


def test_a_later_revision_must_be_there(url: str, lines: Lines) -> None:
    changed = next(line for line in lines if line["what"] == "answered") | {"revision": 2, "at": 1e9}
    assert faults(url, [*lines, changed]) == {("answers of judges", "lost")}


def test_batches_that_were_merged_after_the_submission_are_there(url: str, lines: Lines) -> None:
    row = LogBatch.objects.get()
    events = comparison.codec.unpack(bytes(row.payload), row.codec)
    half = len(events) // 2
    found = next(line for line in lines if line["what"] == "stored")
    rest = [line for line in lines if line is not found]
    first, second = stored(0, events[:half]), stored(half, events[half:])
    assert faults(url, [*rest, found | first, found | second | {"number": 1}]) == set()
    assert faults(url, [*rest, found | first | {"first": 1}]) == {
        ("batches of the editor", "lost"), ("events of the editor", "lost"),
    }  # fmt: skip
