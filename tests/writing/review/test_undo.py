"""Undoing decisions about responses: all is as before, within ten minutes, while nothing irrevocable followed."""

from copy import deepcopy
from datetime import datetime, timedelta
from typing import Any

import pytest

from crowdrag.assignments.lifecycle import total_paid
from crowdrag.assignments.problems import Erased, NotAllowed, NotUndoable, UndoTooLate
from crowdrag.assignments.undo import UNDO_TIME
from crowdrag.studies.models import User
from crowdrag.studies.participants import withdrawal
from tests.factories import NOW, StudyFactory
from tests.writing.open_plan import World, hand_in, world, write
from writing.assignments import queries
from writing.enums import TaskState
from writing.models import Response, WritingTask
from writing.review import queue, services

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(minutes=1)
MINUTE = timedelta(minutes=1)
S = TaskState


@pytest.fixture(scope="module")
def built(shared_rows: None) -> World:
    return world(topics=3, pay=250)


@pytest.fixture
def here(built: World, db: None) -> World:
    return deepcopy(built)


@pytest.fixture
def by(here: World) -> User:
    return here.reviewer()


def handed_in(here: World) -> WritingTask:
    task = hand_in(here.claim(here.writer())).task
    assert task is not None
    return task


def undo(task: WritingTask, by: User, now: datetime = LATER, at: datetime | None = None) -> WritingTask:
    return services.undo_decision(task=task, by=by, now=now, at=at)


def facts(task: WritingTask) -> Any:
    """What a decision changes."""
    response = Response.objects.get(task=task)
    row = WritingTask.objects.get(pk=task.pk)
    open_tasks = WritingTask.objects.filter(study=task.study_id, state=S.OPEN).count()
    return row.state, row.slot, total_paid(row), response.is_included, response.decisions.count(), open_tasks


DECISIONS = {
    "accept": lambda task, by: services.accept(task=task, note="Well done.", by=by, now=NOW),
    "reject": lambda task, by: services.reject(task=task, reason="No.", pay_part=100, by=by, now=NOW),
    "send back": lambda task, by: services.send_back(task=task, note="More.", by=by, now=NOW),
}


@pytest.mark.parametrize("name", DECISIONS)
def test_an_undone_decision_leaves_what_was_before_and_its_record(here: World, by: User, name: str) -> None:
    task = handed_in(here)
    before, decide = facts(task), DECISIONS[name]
    decide(task, by)
    assert facts(task) != before
    for _ in range(2):
        undo(task, by)
    assert facts(task) == before
    moves = task.transitions.order_by("pk").values_list("after", "cause")
    assert [cause for _after, cause in moves][-1] == "undone"
    # The writer reads no more of it, and it can be decided again.
    assert queries.writer_task_row(WritingTask.objects.get(pk=task.pk)).note == ""
    services.accept(task=task, by=by, now=LATER)
    assert facts(task)[:4] == (S.ACCEPTED, 0, 250, True)


def test_time_and_moment_of_the_decision_are_looked_at(here: World, by: User) -> None:
    task = handed_in(here)
    with pytest.raises(NotAllowed):
        undo(task, by)
    services.accept(task=task, by=by, now=NOW)
    with pytest.raises(UndoTooLate):
        undo(task, by, NOW + UNDO_TIME)
    with pytest.raises(NotAllowed):
        undo(task, by, at=LATER)
    undo(task, by, NOW + UNDO_TIME - MINUTE, at=NOW)
    # What somebody decided since is not undone by an older button.
    services.reject(task=task, reason="No.", by=by, now=LATER)
    with pytest.raises(NotAllowed):
        undo(task, by, at=NOW)
    # A reversed rejection is no first decision.
    services.reverse_rejection(task=task, note="Yes.", by=by, now=LATER)
    with pytest.raises(NotAllowed):
        undo(task, by)


def test_what_was_decided_about_the_analysis_before_stays(here: World, by: User) -> None:
    task = handed_in(here)
    services.exclude(response=task.response, reason="A friend.", by=by, now=NOW - MINUTE)
    services.accept(task=task, by=by, now=NOW)
    undo(task, by)
    assert facts(task)[3:5] == (False, 1)


def test_what_others_began_meanwhile_is_not_taken_from_them(here: World, by: User) -> None:
    rejected, revised = handed_in(here), handed_in(here)
    services.reject(task=rejected, reason="No.", by=by, now=NOW)
    while here.claim(here.writer()).topic_id != rejected.topic_id:
        pass
    with pytest.raises(NotUndoable):
        undo(rejected, by)
    write(services.send_back(task=revised, note="More.", by=by, now=NOW))
    with pytest.raises(NotUndoable):
        undo(revised, by)
    assert (facts(rejected)[0], facts(revised)[0]) == (S.REJECTED, S.REVISION)


def test_what_was_erased_stays_decided(here: World, by: User) -> None:
    task = handed_in(here)
    services.accept(task=task, by=by, now=NOW)
    withdrawal.erase(participant=task.participant, now=LATER)  # type: ignore[arg-type]
    with pytest.raises(Erased):
        undo(task, by)
    assert total_paid(task) == 250


@pytest.mark.extended
def test_many_are_decided_and_undone_as_one(here: World, by: User) -> None:
    tasks = [handed_in(here) for _ in range(3)]
    other = here.reviewer()
    assert queue.hold(task=tasks[2], by=other, now=NOW)
    known = WritingTask.objects.filter(pk__in=[task.pk for task in tasks]).select_related("response")
    done = services.reject_each(tasks=known, reason="No.", in_full=True, by=by, now=NOW)
    assert (done.done, done.passed_over) == (2, 1)
    assert [facts(task)[2] for task in tasks] == [250, 250, 0]
    # Sent again, it changes nothing.
    assert services.accept_each(tasks=known.all(), by=by, now=LATER).done == 0
    [recent] = queue.recent_decisions(here.study, by, LATER)
    assert (recent.after, recent.count, recent.at, recent.until) == (S.REJECTED, 2, NOW, NOW + UNDO_TIME)
    assert queue.recent_decisions(here.study, other, LATER) == []
    # Of others' decisions, and in other studies, nothing is undone.
    assert services.undo_each(study=here.study, at=NOW, by=other, now=LATER).done == 0
    assert services.undo_each(study=StudyFactory(), at=NOW, by=by, now=LATER).done == 0
    for _ in range(2):
        services.undo_each(study=here.study, at=NOW, by=by, now=LATER)
    assert [facts(task)[0] for task in tasks] == [S.SUBMITTED] * 3
    assert queue.recent_decisions(here.study, by, LATER) == []
    assert services.send_back_each(tasks=known.all(), note="More.", by=by, now=LATER).done == 2
