"""Claiming, one after the other: who gets which task, who gets none, and why."""

from collections import Counter
from random import Random

import pytest

from crowdrag.assignments.problems import Blocked, LeftStudy, NeedsConsent, NotAllowed, NothingLeft, WorkProblem
from crowdrag.studies.models import Participant
from crowdrag.studies.participants import blocks
from tests.factories import NOW, ParticipantFactory, TopicFactory
from tests.writing.open_plan import DAY, HOUR, hand_in, world, write
from writing.assignments import claims, leases, problems
from writing.enums import TaskState
from writing.models import TaskTransition, WritingPlan, WritingTask

pytestmark = pytest.mark.django_db


def test_a_claim_records_what_was_said_then() -> None:
    here = world(pay=300, lease_hours=6)
    person = here.writer()
    task = here.claim(person)
    assert (task.state, task.participant, task.pay) == (TaskState.CLAIMED, person, 300)
    assert (task.instructions, task.claimed_at, task.lease_until) == (here.plan.instructions, NOW, NOW + 6 * HOUR)
    [moved] = TaskTransition.objects.filter(task=task)
    assert (moved.before, moved.after, moved.cause, moved.at) == ("OPEN", "CLAIMED", "claimed", NOW)
    here.change(pay=1)
    task.refresh_from_db()
    assert task.pay == 300


def test_who_has_one_in_hand_gets_it_again() -> None:
    here = world()
    person = here.writer()
    assert here.claim(person) == here.claim(person, NOW + HOUR)
    assert TaskTransition.objects.count() == 1
    WritingPlan.objects.update(is_open=False)
    assert here.claim(person) == leases.task_in_hand(person), "also when the study has closed meanwhile"


def test_whoever_is_barred_finishes_what_they_have_and_gets_nothing_more() -> None:
    here = world(topics=2, styles=1, slots=1)
    person = here.writer()
    task = here.claim(person)
    blocks.block(participant=person, reason="Copied from elsewhere.", by=None, now=NOW)
    assert here.claim(person) == task
    hand_in(task)
    with pytest.raises(Blocked, match="Copied from elsewhere"):
        here.claim(person)
    assert isinstance(claims.obstacle(study=here.study, participant=person), Blocked)
    blocks.unblock(participant=person, by=None, now=NOW)
    assert here.claim(person) != task


def test_nobody_writes_twice_on_a_topic_in_whatever_style_or_version() -> None:
    here = world(topics=2, styles=2, slots=2)
    person = here.writer()
    topics = set()
    for _ in range(2):
        response = hand_in(here.claim(person))
        topics.add(response.topic)
    assert len(topics) == 2
    TopicFactory(study=here.study, external_id=here.topics[0].external_id, version=2, query="changed")
    with pytest.raises(NothingLeft):
        here.claim(person)


def test_what_somebody_gave_back_they_do_not_get_again() -> None:
    here = world(topics=2)
    person = here.writer()
    first = here.claim(person)
    claims.give_back(task=first, reason="too hard", now=NOW)
    assert here.claim(person).topic != first.topic
    assert claims.give_back(task=first, now=NOW).state == TaskState.RETURNED, "said again it changes nothing"
    assert TaskTransition.objects.get(task=first, after=TaskState.RETURNED).note == "too hard"


@pytest.mark.extended
def test_the_slots_fill_evenly_and_styles_are_spread_over_each_person() -> None:
    here = world(topics=6, styles=3, slots=2)
    people = [here.writer() for _ in range(6)]
    for person in people[:3]:
        for _ in range(6):
            hand_in(here.claim(person), "text")
    taken = WritingTask.objects.exclude(state=TaskState.OPEN)
    assert Counter(taken.values_list("slot", flat=True)) == {0: 18}, "every topic and style once before any twice"
    styles = Counter(WritingTask.objects.filter(participant=people[0]).values_list("style", flat=True))
    assert set(styles.values()) == {2}
    for person in people[3:]:
        for _ in range(6):
            hand_in(here.claim(person), "text")
    assert not WritingTask.objects.filter(state=TaskState.OPEN).exists(), "nobody is left with topics they wrote on"


def test_the_draw_follows_from_what_is_given() -> None:
    here = world(topics=10)
    person = here.writer()
    drawn = set()
    for seed in (1, 1, 2, 3, 4, 5):
        task = claims.claim(study=here.study, participant=person, now=NOW, rng=Random(seed))
        drawn.add((seed, task.topic.external_id))
        WritingTask.objects.filter(pk=task.pk).update(state=TaskState.OPEN, participant=None)
    assert len(drawn) == 5
    assert len({topic for _, topic in drawn}) > 1


def test_the_reasons_why_there_is_none() -> None:
    here = world(topics=3, tasks_per_person=1)

    def refused(person: Participant, problem: type[WorkProblem]) -> None:
        with pytest.raises(problem):
            here.claim(person)
        assert isinstance(claims.obstacle(study=here.study, participant=person), problem)

    person = here.writer()
    refused(ParticipantFactory(study=here.study), NeedsConsent)
    refused(here.writer(withdrawn_at=NOW), LeftStudy)
    hand_in(here.claim(person))
    refused(person, problems.EnoughWritten)
    assert "1" not in str(problems.EnoughWritten(1)), "one is a word of its own"
    here.change(tasks_per_person=None, is_open=False)
    refused(person, problems.WritingClosed)
    here.change(is_open=True)
    assert claims.obstacle(study=here.study, participant=person) is None
    for _ in range(2):
        here.claim(here.writer())
    refused(person, NothingLeft)


def test_giving_back_keeps_the_text_and_frees_the_slot() -> None:
    here = world(topics=1)
    task = here.claim(here.writer())
    write(task, "so far")
    claims.give_back(task=task, now=NOW + DAY)
    task.refresh_from_db()
    assert (task.state, task.draft, task.lease_until) == (TaskState.RETURNED, "so far", None)
    next_one = here.claim(here.writer())
    assert next_one.topic == task.topic
    response = hand_in(next_one)
    with pytest.raises(NotAllowed):
        claims.give_back(task=response.task, now=NOW)
