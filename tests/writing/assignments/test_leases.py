"""Abandoned tasks come back with their text kept; late owners go on, or hand in what they have."""

import logging
from dataclasses import replace

import pytest

from crowdrag.assignments.problems import LeftStudy, NotAllowed
from crowdrag.studies.enums import DecisionKind, MessageKind
from crowdrag.studies.messages import services as messages_services
from crowdrag.studies.participants import withdrawal
from tests.factories import NOW, TopicFactory
from tests.writing.open_plan import DAY, HOUR, World, finish, hand_in, world, write
from writing.assignments import claims, leases, problems, queries, steps, submission
from writing.assignments.lifecycle import TASKS
from writing.editor import codec, event_validation, ingestion, logs
from writing.enums import TaskState
from writing.models import LogBatch, TaskTransition, WritingLog, WritingTask
from writing.review import services as review_services

pytestmark = pytest.mark.django_db
LATE = NOW + 2 * DAY


def state_of(task: WritingTask) -> str:
    return WritingTask.objects.get(pk=task.pk).state


def abandoned(here: World, text: str = "") -> WritingTask:
    """A task whose writer was away for so long that it was returned."""
    task = here.claim(here.writer())
    write(task, text)
    leases.expire(now=LATE)
    return WritingTask.objects.get(pk=task.pk)


def offered(task: WritingTask) -> tuple[bool, bool]:
    """Whether its writer is offered to resume it, and to hand it in as it is."""
    [row] = queries.writer_overview(task.participant).rows
    return row.can_resume, row.can_hand_in


def test_a_lease_counts_from_the_last_sign_of_life_and_survives_a_night() -> None:
    here = world(lease_hours=24)
    task = here.claim(here.writer())
    write(task, "evening", now=NOW + 20 * HOUR)
    assert leases.expire(now=NOW + 43 * HOUR) == 0, "the laptop slept for 23 hours"
    write(task, " and morning", now=NOW + 43 * HOUR)
    assert [leases.expire(now=NOW + hours * HOUR) for hours in (66, 68, 69)] == [0, 1, 0]
    task.refresh_from_db()
    assert (task.state, task.draft) == (TaskState.RETURNED, "evening and morning")


def test_whoever_gives_a_sign_of_life_in_the_last_moment_keeps_the_task() -> None:
    here = world()
    task = here.claim(here.writer())
    ended: list[WritingTask] = []
    assert task.participant_id is not None
    # The sweep had listed it before the lease was made longer.
    assert not TASKS._expire(task.pk, task.participant_id, ended.append, NOW + DAY)
    assert ended == []
    assert state_of(task) == TaskState.CLAIMED


def test_an_abandoned_slot_is_free_at_once_and_a_late_owner_goes_on_in_the_same_log() -> None:
    here = world(topics=1)
    task = abandoned(here, "first half,")
    assert WritingTask.objects.filter(topic=task.topic, state=TaskState.OPEN).count() == 1
    log = WritingLog.objects.get(task=task)
    for _ in range(2):
        back = leases.resume(task=task, now=NOW + 3 * DAY)
        assert (back.state, back.lease_until) == (TaskState.CLAIMED, NOW + 4 * DAY)
    assert not WritingTask.objects.filter(topic=task.topic, state=TaskState.OPEN).exists()
    assert hand_in(back, " second half", now=NOW + 3 * DAY).text == "first half, second half"
    assert WritingLog.objects.get(task=task) == log


def test_if_somebody_else_has_it_the_text_is_kept_and_can_be_handed_in_as_surplus() -> None:
    here = world(topics=1)
    task = abandoned(here, "my words")
    assert offered(task) == (True, False)
    with pytest.raises(NotAllowed):
        submission.submit_late(task=task, now=LATE)  # while it can be gone on with
    theirs = here.claim(here.writer(), LATE)
    assert offered(task) == (False, True)
    with pytest.raises(problems.SlotTaken):
        leases.resume(task=task, now=LATE)
    response = submission.submit_late(task=task, now=LATE)
    assert submission.submit_late(task=task, now=LATE) == response
    task.refresh_from_db()
    assert (task.state, task.slot, response.text, response.is_included) == ("SUBMITTED", None, "my words", False)
    assert response.decisions.get(about=DecisionKind.INCLUDE).reason == submission.SURPLUS
    review_services.accept(task=task, by=here.reviewer(), now=LATE)
    response.refresh_from_db()
    assert (queries.writer_overview(task.participant).earned, response.is_included) == (task.pay, False)
    assert state_of(theirs) == TaskState.CLAIMED, "the other writer is left alone"


@pytest.mark.parametrize("before", ["before", ""])
def test_what_was_typed_after_the_lease_ran_out_is_in_the_text_and_can_be_handed_in(before: str) -> None:
    here = world(topics=1)
    task = here.claim(here.writer())
    opened = write(task, before)
    leases.expire(now=LATE)
    here.claim(here.writer(), LATE)
    assert offered(task) == (False, bool(before))
    at = len(before)
    events = [["s", 900, at, 0, ", and after", "pasted", "insertFromPaste"]]
    batch = event_validation.Batch(
        number=1 if before else 0, first=at, events=events, extent=event_validation.check_events(events)
    )
    ingestion.receive(token=opened.token, batch=batch, now=LATE)
    task.refresh_from_db()
    assert (task.draft, offered(task)) == (before, (False, True)), "the log counts, not what was kept at the end"
    assert submission.submit_late(task=task, now=LATE).text == f"{before}, and after"
    assert offered(task) == (False, False)


@pytest.mark.parametrize(("text", "state"), [("Done.", TaskState.SUBMITTED), ("", TaskState.RETURNED)])
def test_a_finished_text_is_submitted_when_the_lease_is_over_unless_it_is_empty(text: str, state: TaskState) -> None:
    here = world()
    task = finish(here.claim(here.writer()), text)
    assert leases.expire(now=LATE) == 1
    assert state_of(task) == state


def test_who_has_begun_something_else_finishes_that_first() -> None:
    here = world(topics=2)
    task = abandoned(here)
    other = here.claim(task.participant, LATE)
    assert other.topic != task.topic
    with pytest.raises(problems.AnotherInHand) as refused:
        leases.resume(task=task, now=LATE)
    assert refused.value.task == other
    claims.give_back(task=other, now=LATE)
    assert leases.resume(task=task, now=LATE).state == TaskState.CLAIMED


def test_a_slot_that_is_asked_for_no_more_is_not_resumed() -> None:
    here = world(topics=1, slots=2)
    first, second = here.claim(here.writer()), here.claim(here.writer())
    write(second, "kept")
    here.change(slots=1)
    leases.expire(now=LATE)
    assert WritingTask.objects.filter(state=TaskState.OPEN).count() == 1
    leases.resume(task=first, now=LATE)
    with pytest.raises(problems.SlotTaken):
        leases.resume(task=second, now=LATE)
    assert submission.submit_late(task=second, now=LATE).text == "kept"


def test_a_late_owner_goes_on_when_the_topic_has_a_new_version() -> None:
    here = world(topics=1)
    task = here.claim(here.writer())
    TopicFactory(study=here.study, external_id=task.topic.external_id, version=2, query="changed")
    leases.expire(now=LATE)
    leases.resume(task=task, now=LATE)
    assert WritingTask.objects.exclude(state=TaskState.RETURNED).count() == 1


def test_one_log_that_cannot_be_read_does_not_hold_up_the_others(caplog) -> None:
    here = world(topics=2)
    broken, fine = here.claim(here.writer()), here.claim(here.writer())
    log = WritingLog.objects.create(task=broken, source="EDITOR", started_at=NOW, created_at=NOW)
    LogBatch.objects.create(
        log=log, number=0, first_event=0, event_count=1, codec=codec.CODEC, payload=b"!", digest=b"!", received_at=NOW
    )
    with caplog.at_level(logging.ERROR):
        assert leases.expire(now=LATE) == 1
    assert str(broken.pk) in caplog.text
    assert state_of(fine) == TaskState.RETURNED


def test_many_are_returned_a_part_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "TASKS", replace(TASKS, batch_size=2))
    here = world(topics=5)
    for _ in range(5):
        here.claim(here.writer())
    assert [leases.expire(now=LATE) for _ in range(4)] == [2, 2, 1, 0]


def test_who_withdraws_leaves_their_task_to_others() -> None:
    here = world(topics=1)
    person = here.writer()
    task = here.claim(person)
    write(task, "kept")
    withdrawal.withdraw(participant=person, now=NOW + HOUR)
    task.refresh_from_db()
    assert (task.state, task.draft) == (TaskState.RETURNED, "kept")
    assert offered(task) == (False, False)
    theirs = here.claim(here.writer())
    assert theirs.topic == task.topic
    assert offered(task) == (False, False), "the text of somebody who left is not submitted late"
    for late in (leases.resume, submission.submit_late):
        with pytest.raises(LeftStudy):
            late(task=task, now=NOW + HOUR)


class TestTrial:
    def test_new_writers_are_tried_first_and_go_on_when_all_is_accepted(self) -> None:
        here = world(topics=1, styles=2, trial=2)
        person, reviewer = here.writer(), here.reviewer()
        styles, done = set(), []
        for n in range(2):
            assert claims.trial_progress(here.plan, person).left == 2 - n
            task = here.claim(person)
            assert (task.is_trial, task.slot, task.pay, task.topic) == (True, None, here.plan.pay, here.trial[n])
            styles.add(task.style)
            done.append(hand_in(task))
        assert len(styles) == 2, "the styles take turns"
        assert [response.is_included for response in done] == [False, False]
        assert done[0].decisions.get().reason == submission.TRIAL
        for response in done:
            with pytest.raises(problems.TrialWaits):
                here.claim(person)
            review_services.accept(task=response.task, by=reviewer, now=NOW)
        assert claims.trial_progress(here.plan, person).stage is claims.TrialStage.PASSED
        assert not here.claim(person).is_trial
        done[0].refresh_from_db()
        assert not done[0].is_included, "accepted and paid, and still apart"
        assert queries.writer_overview(person).earned == 2 * here.plan.pay
        here.plan.plan_trial_topics.create(topic=TopicFactory(study=here.study), position=9)
        assert claims.trial_progress(here.plan, person).may_write, "who passed is not tried again"

    def test_a_rejected_trial_ends_it_paid_as_decided_once_a_contest_is_answered(self) -> None:
        here = world(trial=2)
        person, reviewer = here.writer(), here.reviewer()
        task = hand_in(here.claim(person)).task
        review_services.reject(task=task, reason="No source.", pay_part=100, by=reviewer, now=NOW)
        with pytest.raises(problems.TrialEnded):
            here.claim(person)
        assert queries.writer_overview(person).earned == 100
        about = {"kind": MessageKind.CONTEST, "about": task.external_id}
        asked = messages_services.ask(participant=person, text="There is one.", now=NOW, **about)
        with pytest.raises(problems.TrialContested):
            here.claim(person)
        messages_services.answer(message=asked, text="We looked again.", by=reviewer, now=NOW)
        with pytest.raises(problems.TrialEnded):
            here.claim(person)

    @pytest.mark.parametrize("late", [False, True])
    def test_a_trial_of_which_a_part_is_in_revision_is_not_over(self, late: bool) -> None:
        here = world(trial=2)
        person, reviewer = here.writer(), here.reviewer()
        first, second = (hand_in(here.claim(person)).task for _ in range(2))
        review_services.reject(task=first, reason="No source.", pay_part=0, by=reviewer, now=NOW)
        revision = review_services.send_back(task=second, note="Cite.", by=reviewer, now=NOW)
        if late:
            leases.expire(now=NOW + 30 * DAY)
        assert isinstance(claims.obstacle(study=here.study, participant=person), problems.TrialInRevision)
        revision.refresh_from_db()
        review_services.reject(
            task=hand_in(leases.resume(task=revision, now=NOW)).task, reason="No.", by=reviewer, now=NOW
        )
        assert isinstance(claims.obstacle(study=here.study, participant=person), problems.TrialEnded)

    def test_a_trial_that_was_sent_back_goes_on_in_its_revision(self) -> None:
        here = world(trial=1)
        person, reviewer = here.writer(), here.reviewer()
        revision = review_services.send_back(task=hand_in(here.claim(person)).task, note="Cite.", by=reviewer, now=NOW)
        assert here.claim(person) == revision
        again = hand_in(revision, " More [1].")
        assert not again.is_included
        with pytest.raises(problems.TrialWaits):
            here.claim(person)
        review_services.accept(task=again.task, by=reviewer, now=NOW)
        assert not here.claim(person).is_trial

    def test_a_trial_that_was_left_lying_is_gone_on_with(self) -> None:
        here = world(trial=1)
        task = abandoned(here, "half")
        assert here.claim(task.participant, NOW + 3 * DAY) == task
        assert logs.current_text(task) == "half"
        assert steps.next_step(WritingTask.objects.get(pk=task.pk)) is steps.Step.WRITE


def test_a_transition_is_there_for_every_change() -> None:
    here = world(topics=1)
    task, reviewer = abandoned(here), here.reviewer()
    response = hand_in(leases.resume(task=task, now=LATE), now=LATE)
    review_services.reject(task=response.task, reason="No.", by=reviewer, now=LATE)
    review_services.reverse_rejection(task=response.task, note="Yes.", by=reviewer, now=LATE)
    moves = TaskTransition.objects.filter(task=task).order_by("pk").values_list("before", "after", "by")
    assert list(moves) == [
        ("OPEN", "CLAIMED", None),
        ("CLAIMED", "RETURNED", None),
        ("RETURNED", "CLAIMED", None),
        ("CLAIMED", "SUBMITTED", None),
        ("SUBMITTED", "REJECTED", reviewer.pk),
        ("REJECTED", "ACCEPTED", reviewer.pk),
    ]
