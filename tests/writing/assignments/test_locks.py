"""What must wait for a transaction that has not committed yet, and what must not: each test is of one lock."""

import pytest

from tests.factories import NOW
from tests.writing.assignments.concurrency import held, meanwhile, uncommitted, wait_for_lock
from tests.writing.open_plan import hand_in, world
from writing.assignments import claims, leases, slots
from writing.enums import TaskState
from writing.models import WritingTask
from writing.review import services

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(120)]


def test_a_slot_that_becomes_free_waits_for_the_plan_that_is_being_changed() -> None:
    here = world(topics=1)
    task = here.claim(here.writer())
    with uncommitted(here.reword) as end, meanwhile(lambda: claims.give_back(task=task, now=NOW)) as giver:
        wait_for_lock()
        assert giver.is_alive(), "it waits for what the plan asks for"
        end.set()
    assert WritingTask.objects.get(state=TaskState.OPEN).style.version == 2


def test_a_late_owner_who_comes_back_while_the_plan_is_being_changed_goes_on() -> None:
    here = world(topics=1)
    task = here.claim(here.writer())
    claims.give_back(task=task, now=NOW)
    with uncommitted(here.reword) as end, meanwhile(lambda: leases.resume(task=task, now=NOW)) as owner:
        wait_for_lock()
        assert owner.is_alive()
        end.set()
    assert WritingTask.objects.get().state == TaskState.CLAIMED, "and the open task in the new wording is gone"


def test_slots_that_are_made_wait_for_the_plan_that_is_being_changed() -> None:
    here = world(topics=1)
    with uncommitted(lambda: here.change(slots=3)) as end, meanwhile(lambda: slots.ensure(here.plan, NOW)) as maker:
        wait_for_lock()
        assert maker.is_alive()
        end.set()
    assert WritingTask.objects.count() == 3, "by the old plan two of them would be asked for no more"


def test_a_rejection_is_not_reversed_into_a_slot_that_is_being_made() -> None:
    here = world(topics=1, slots=2)
    hand_in(here.claim(here.writer()))
    reviewer, task = here.reviewer(), hand_in(here.claim(here.writer())).task
    here.change(slots=1)
    services.reject(task=task, reason="No.", by=reviewer, now=NOW)

    def widen() -> None:
        """Ask for the second one again, in another wording, which no unique index sees."""
        type(here.plan).objects.update(slots=2)
        here.reword()

    with (
        uncommitted(widen) as end,
        meanwhile(lambda: services.reverse_rejection(task=task, note="Yes.", by=reviewer, now=NOW)) as reverser,
    ):
        wait_for_lock()
        assert reverser.is_alive(), "it waits for what the plan asks for"
        end.set()
    live = WritingTask.objects.filter(slot=1).exclude(state=TaskState.RETURNED)
    assert [each.state for each in live] == [TaskState.ACCEPTED]


def test_a_slot_that_is_asked_for_no_more_is_not_taken_from_who_claims_it_in_this_moment() -> None:
    here = world(topics=1, slots=2)
    task = WritingTask.objects.get(slot=1)
    with held(task, then="commit") as end, meanwhile(lambda: here.change(slots=1)) as changer:
        changer.join(0.7)
        end.set()
    assert WritingTask.objects.filter(pk=task.pk, state=TaskState.CLAIMED).exists()
    assert WritingTask.objects.count() == 2
