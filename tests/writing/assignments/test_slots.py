"""Slots: one live task for each that the plan asks for, whatever becomes of the plan and of the topics."""

import pytest

from tests.factories import NOW, StyleFactory, TopicFactory
from tests.writing.open_plan import DAY, World, hand_in, world
from writing.assignments import claims, leases, problems, slots
from writing.enums import TaskState
from writing.models import PlanStyle, PlanTrialTopic, WritingTask
from writing.plans import services

pytestmark = pytest.mark.django_db


def live(here: World) -> list[tuple[str, str, int]]:
    tasks = WritingTask.objects.filter(study=here.study).exclude(state=TaskState.RETURNED)
    return sorted(tasks.values_list("topic__external_id", "style__name", "slot"))


def test_there_is_one_for_each_topic_style_and_number() -> None:
    here = world(topics=2, styles=3, slots=2, trial=1)
    expected = [(t.external_id, s.name, n) for t in here.topics for s in here.styles for n in (0, 1)]
    assert live(here) == sorted(expected), "the trial topic has none"
    assert slots.ensure(here.plan, NOW) == (0, 0)
    assert slots.is_complete(here.plan)


def test_they_grow_and_shrink_with_the_plan_and_claimed_ones_stay() -> None:
    here = world(topics=2, slots=2)
    mine = here.claim(here.writer())
    second = WritingTask.objects.get(topic=mine.topic, slot=1)
    WritingTask.objects.filter(pk=second.pk).update(
        state=TaskState.CLAIMED, participant=here.writer(), lease_until=NOW + DAY
    )
    here.change(slots=3)
    assert len(live(here)) == 6
    here.change(slots=1)
    assert len(live(here)) == 3, "one each, and the claimed one that is asked for no more"
    assert WritingTask.objects.filter(pk=second.pk, state=TaskState.CLAIMED).exists()
    style = StyleFactory(study=here.study)
    PlanStyle.objects.create(plan=here.plan, style=style, position=1)
    assert slots.ensure(here.plan, NOW) == (2, 0)
    here.plan.plan_styles.filter(style=here.styles[0]).delete()
    assert slots.ensure(here.plan, NOW) == (0, 1), "open ones of the other style go"


def test_a_topic_that_becomes_a_trial_topic_loses_its_open_slots() -> None:
    here = world(topics=2)
    PlanTrialTopic.objects.create(plan=here.plan, topic=here.topics[0])
    assert slots.ensure(here.plan, NOW) == (0, 1)


def test_a_new_version_counts_as_the_topic() -> None:
    here = world(topics=2)
    mine = here.claim(here.writer())
    free = next(topic for topic in here.topics if topic != mine.topic)
    for old in (mine.topic, free):
        TopicFactory(study=here.study, external_id=old.external_id, version=2, query="changed")
    assert slots.ensure(here.plan, NOW) == (1, 1), "the open one moves to the new version, the claimed one stays"
    assert sorted(WritingTask.objects.values_list("topic__version", "state")) == [(1, "CLAIMED"), (2, "OPEN")]
    claims.give_back(task=mine, now=NOW)
    assert sorted(WritingTask.objects.values_list("topic__version", "state")) == [
        (1, "RETURNED"),
        (2, "OPEN"),
        (2, "OPEN"),
    ], "the freed slot is made anew on the new version"


def wordings(here: World) -> list[tuple[str, int, str]]:
    tasks = WritingTask.objects.filter(study=here.study)
    return sorted(tasks.values_list("topic__external_id", "style__version", "state"), key=lambda row: row[1:])


def test_a_new_wording_of_a_style_takes_over_its_slots() -> None:
    here = world(topics=3)
    done, mine = hand_in(here.claim(here.writer())).task, here.claim(here.writer())
    assert here.reword().version == 2
    assert [row[1:] for row in wordings(here)] == [(1, "CLAIMED"), (1, "SUBMITTED"), (2, "OPEN")]
    assert {topic for topic, *_ in wordings(here)} == {topic.external_id for topic in here.topics}, "one each"
    assert slots.is_complete(here.plan)
    assert slots.ensure(here.plan, NOW) == (0, 0)
    found = services.costs(here.plan)
    assert found.responses == WritingTask.objects.count(), "what it costs is what is asked for"
    claims.give_back(task=mine, now=NOW)
    assert [row[1:] for row in wordings(here)] == [(1, "RETURNED"), (1, "SUBMITTED"), (2, "OPEN"), (2, "OPEN")]
    done.refresh_from_db()
    assert done.slot == 0


def test_a_late_owner_goes_on_in_the_wording_in_which_they_began() -> None:
    here = world(topics=1)
    mine = here.claim(here.writer())
    claims.give_back(task=mine, now=NOW)
    here.reword()
    assert leases.can_resume(mine)
    leases.resume(task=mine, now=NOW)
    assert [row[1:] for row in wordings(here)] == [(1, "CLAIMED")]
    claims.give_back(task=mine, now=NOW)
    theirs = here.claim(here.writer())
    assert theirs.style.version == 2
    mine.refresh_from_db()
    with pytest.raises(problems.SlotTaken):
        leases.resume(task=mine, now=NOW)


def test_an_open_task_beside_one_in_another_wording_goes() -> None:
    here = world(topics=1)
    mine = here.claim(here.writer())
    assert here.reword().version == 2
    style = here.plan.styles.get()
    slots.new_open_task(
        here.plan, here.topics[0], style, 0, now=NOW
    ).save()  # as it was before a slot went by the style's name
    assert slots.ensure(here.plan, NOW) == (0, 1)
    assert list(WritingTask.objects.all()) == [mine]


@pytest.mark.parametrize("what", ["topic", "style"])
def test_open_tasks_in_an_old_wording_are_found_by_the_duty(what: str) -> None:
    here = world(topics=1)
    if what == "topic":
        TopicFactory(study=here.study, external_id=here.topics[0].external_id, version=2)
    else:
        here.plan.plan_styles.update(style=StyleFactory(study=here.study, name=here.styles[0].name, version=2))
    assert not slots.is_complete(here.plan)
    slots.ensure_open(NOW)
    assert slots.is_complete(here.plan)
    assert WritingTask.objects.values_list(f"{what}__version", flat=True).get() == 2


def test_who_wrote_in_an_old_wording_of_a_style_gets_another_style_first() -> None:
    here = world(topics=4, styles=2)
    person = here.writer()
    WritingTask.objects.filter(style=here.styles[1]).update(slot=1)  # so that the first one is of the first style
    assert hand_in(here.claim(person)).style == here.styles[0]
    WritingTask.objects.filter(style=here.styles[1]).update(slot=0)
    here.reword()
    assert here.claim(person).style == here.styles[1]


def test_topics_that_came_in_since_are_found_when_none_is_left_and_by_the_duty() -> None:
    here = world(topics=1)
    first, second = here.writer(), here.writer()
    hand_in(here.claim(first))
    fresh = TopicFactory(study=here.study)
    assert not slots.is_complete(here.plan)
    assert here.claim(second).topic == fresh
    another = TopicFactory(study=here.study)
    slots.ensure_open(NOW)
    assert WritingTask.objects.filter(topic=another, state=TaskState.OPEN).count() == 1
    slots.ensure_open(NOW)
    assert WritingTask.objects.count() == 3


def test_another_studys_slots_are_not_touched() -> None:
    here, there = world(), world()
    here.change(slots=4)
    assert WritingTask.objects.filter(study=there.study).count() == 2
