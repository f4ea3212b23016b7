"""Many at once, each with a connection of their own: exactly one gets each task, and everything happens once."""

import queue
import threading
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from django.db import connection, transaction

from crowdrag.assignments.problems import NotAllowed, NothingLeft, WorkProblem
from crowdrag.studies.models import Consent, Participant
from crowdrag.studies.participants import withdrawal
from tests.factories import NOW
from tests.writing.assignments.concurrency import DiedError, held, meanwhile, together, wait_for_lock
from tests.writing.open_plan import DAY, World, finish, hand_in, world, write
from writing.assignments import claims as assignments_claims
from writing.assignments import leases, problems, slots, submission
from writing.enums import TaskState
from writing.models import Response, TaskPayment, TaskTransition, WritingTask
from writing.review import services

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(120)]
COPIES = 10


def crowd(here: World, count: int) -> list[Participant]:
    people = Participant.objects.bulk_create(
        [Participant(study=here.study, external_id=f"c{n}", kind="CROWD", created_at=NOW) for n in range(count)]
    )
    Consent.objects.bulk_create([Consent(participant=p, text=here.plan.consent_text, given_at=NOW) for p in people])
    return people


def flood(here: World, *, claims: int, connections: int, seed: int) -> Counter[str]:
    """Let people claim through so many connections; now and then one dies before its transaction commits."""
    waiting: queue.SimpleQueue[Participant] = queue.SimpleQueue()
    for person in crowd(here, claims):
        waiting.put(person)
    answers: Counter[str] = Counter()
    lock = threading.Lock()

    def worker(n: int) -> None:
        rng = Random(seed * 1000 + n)
        while True:
            try:
                person = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                with transaction.atomic():
                    here.claim(person)
                    if rng.random() < 0.02:
                        raise DiedError  # noqa: TRY301 -- inside of the transaction is the point
                said = "got one"
            except NothingLeft:
                said = "none left"
            except DiedError:
                said = "died"
                waiting.put(person)
            with lock:
                answers[said] += 1

    together([lambda n=n: worker(n) for n in range(connections)])
    return answers


LONG = pytest.mark.soak, pytest.mark.timeout(1200)


@pytest.mark.parametrize(
    ("topics", "styles", "slots_each", "claims", "connections", "seed"),
    [(10, 3, 1, 40, 12, 1), *(pytest.param(250, 2, 2, 10_000, 100, seed, marks=LONG) for seed in range(3))],
)
def test_a_flood_of_claims_fills_every_slot_once(
    topics: int, styles: int, slots_each: int, claims: int, connections: int, seed: int
) -> None:
    here, asked = world(topics=topics, styles=styles, slots=slots_each), topics * styles * slots_each
    answers = flood(here, claims=claims, connections=connections, seed=seed)
    claimed = WritingTask.objects.filter(study=here.study, state=TaskState.CLAIMED)
    assert claimed.count() == answers["got one"] == asked, "none over, none free"
    assert not WritingTask.objects.filter(study=here.study, state=TaskState.OPEN).exists()
    assert answers["none left"] == claims - asked
    assert len(set(claimed.values_list("participant"))) == asked, "nobody twice"
    assert len(set(claimed.values_list("topic", "style", "slot"))) == asked
    assert TaskTransition.objects.filter(task__study=here.study).count() == asked


def test_a_claim_passes_by_what_others_are_claiming() -> None:
    here = world(topics=2)
    person = here.writer()
    for task in WritingTask.objects.all():
        with held(task), connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '3s'")
            mine = here.claim(person)
            assert mine != task
        WritingTask.objects.filter(pk=mine.pk).update(state=TaskState.OPEN, participant=None)


@pytest.mark.parametrize("then", ["rollback", "commit"])
def test_none_left_is_only_said_when_those_that_others_held_are_really_gone(then: str) -> None:
    here = world(topics=1)
    person, task = here.writer(), WritingTask.objects.get()
    got: list[Any] = []

    def claim() -> None:
        try:
            got.append(here.claim(person))
        except NothingLeft as problem:
            got.append(problem)

    with held(task, then=then) as end, meanwhile(claim) as claimer:
        wait_for_lock()
        assert claimer.is_alive(), "it waits for the other one's end"
        end.set()
    assert (got == [task]) if then == "rollback" else isinstance(got[0], NothingLeft)


@pytest.mark.parametrize("trial", [0, 3])
def test_one_person_who_presses_ten_times_gets_one_task(trial: int) -> None:
    here = world(topics=20, trial=trial)
    person = here.writer()
    assert len(set(together([lambda: here.claim(person)] * COPIES))) == 1
    assert WritingTask.objects.filter(participant=person).count() == 1


def test_the_unique_constraint_has_the_last_word_and_the_claim_tries_another(monkeypatch) -> None:
    here = world(topics=2)
    person = here.writer()
    written = WritingTask.objects.order_by("pk").first()
    WritingTask.objects.create(
        study=here.study, topic=written.topic, style=written.style, external_id="other", participant=person,
        state=TaskState.SUBMITTED, created_at=NOW,
    )  # fmt: skip
    known = assignments_claims._known
    looked = []

    def late(who: Participant) -> set[str]:
        looked.append(who)
        return set() if len(looked) == 1 else known(who)  # the first look came before the other task

    monkeypatch.setattr(assignments_claims, "_known", late)
    for _ in range(20):
        looked.clear()
        mine = here.claim(person)
        assert mine.topic != written.topic
        WritingTask.objects.filter(pk=mine.pk).update(state=TaskState.OPEN, participant=None)
        if len(looked) > 1:
            return
        WritingTask.objects.filter(pk=mine.pk).update(slot=5)  # so that the other one comes first
    pytest.fail("the claim never reached for the topic that was written on")


def test_ten_submissions_at_once_are_one_response() -> None:
    here = world()
    task = finish(here.claim(here.writer()))
    responses = together([lambda: submission.submit(task=task, answers={}, now=NOW)] * COPIES)
    assert {response.pk for response in responses} == {Response.objects.get().pk}
    assert TaskTransition.objects.filter(after=TaskState.SUBMITTED).count() == 1


def test_ten_reviewers_at_once_pay_once() -> None:
    here = world()
    task = hand_in(here.claim(here.writer())).task
    reviewers = [here.reviewer() for _ in range(COPIES)]
    together([lambda by=by: services.accept(task=task, by=by, now=NOW) for by in reviewers])
    assert TaskPayment.objects.count() == 1
    assert TaskTransition.objects.filter(after=TaskState.ACCEPTED).count() == 1


@pytest.mark.extended
@pytest.mark.parametrize("_again", range(3))
def test_accepting_and_rejecting_and_sending_back_at_once_is_one_of_them(_again: int) -> None:
    here = world(topics=2)
    reviewer = here.reviewer()
    task = hand_in(here.claim(here.writer())).task
    works = [
        lambda: services.accept(task=task, by=reviewer, now=NOW),
        lambda: services.reject(task=task, reason="No.", by=reviewer, now=NOW),
        lambda: services.send_back(task=task, note="Cite.", by=reviewer, now=NOW),
    ]
    results = together(works)
    assert sum(isinstance(result, NotAllowed) for result in results) == 2
    assert TaskTransition.objects.filter(task=task, before=TaskState.SUBMITTED).count() == 1
    assert WritingTask.objects.filter(topic=task.topic).exclude(state__in=["REJECTED", "REVISION"]).count() == 1


@pytest.mark.extended
def test_several_sweeps_at_once_return_each_task_once() -> None:
    here = world(topics=8)
    tasks = [here.claim(here.writer()) for _ in range(8)]
    write(tasks[0], "kept")
    together([lambda: leases.expire(now=NOW + 2 * DAY)] * 4)
    leases.expire(now=NOW + 2 * DAY)  # what one sweep passed by because another held it
    assert TaskTransition.objects.filter(after=TaskState.RETURNED).count() == 8
    assert WritingTask.objects.filter(state=TaskState.OPEN).count() == 8


@pytest.mark.parametrize("_again", range(3))
def test_a_late_owner_and_a_newcomer_at_once_have_one_slot_between_them(_again: int) -> None:
    here = world(topics=1)
    owner, newcomer = here.writer(), here.writer()
    task = here.claim(owner)
    leases.expire(now=NOW + 2 * DAY)
    resumed, claimed = together(
        [lambda: leases.resume(task=task, now=NOW + 2 * DAY), lambda: here.claim(newcomer, NOW + 2 * DAY)]
    )
    lost = [result for result in (resumed, claimed) if isinstance(result, WorkProblem)]
    assert len(lost) == 1
    live = WritingTask.objects.filter(study=here.study).exclude(state=TaskState.RETURNED)
    assert [each.state for each in live] == [TaskState.CLAIMED]


@pytest.mark.extended
def test_slots_made_by_ten_at_once_are_made_once_while_others_claim() -> None:
    here = world(topics=30, slots=1)
    people = [here.writer() for _ in range(COPIES)]
    type(here.plan).objects.update(slots=2)
    works: list[Callable[[], Any]] = [lambda: slots.ensure(here.plan, NOW)] * COPIES
    together([*works, *(lambda p=p: here.claim(p) for p in people)])
    assert WritingTask.objects.count() == 60
    type(here.plan).objects.update(slots=1)
    more = [here.writer() for _ in range(COPIES)]
    together([*works, *(lambda p=p: here.claim(p) for p in more)])
    slots.ensure(here.plan, NOW)
    assert WritingTask.objects.filter(state=TaskState.CLAIMED).count() == 2 * COPIES, "no claimed one was removed"
    per_topic = WritingTask.objects.filter(slot=0).values_list("topic", flat=True)
    assert len(per_topic) == len(set(per_topic)) == 30


@pytest.mark.parametrize("_again", range(3))
def test_withdrawing_while_submitting_neither_blocks_nor_loses(_again: int) -> None:
    here = world(topics=1)
    person = here.writer()
    task = finish(here.claim(person))
    together(
        [
            lambda: submission.submit(task=task, answers={}, now=NOW),
            lambda: withdrawal.withdraw(participant=person, now=NOW),
        ]
    )
    task.refresh_from_db()
    assert task.state in {TaskState.SUBMITTED, TaskState.RETURNED}
    assert Response.objects.filter(task=task).exists() == (task.state == TaskState.SUBMITTED)
    assert task.draft


def test_what_the_editor_still_sends_while_somebody_submits_is_not_left_out() -> None:
    here = world()
    task = finish(here.claim(here.writer()))
    locked, end, got = threading.Event(), threading.Event(), []

    def receive() -> None:
        """Do what the coming in of a change does: hold the task, and say that it is no longer finished."""
        with transaction.atomic():
            WritingTask.objects.select_for_update(no_key=True).get(pk=task.pk)
            locked.set()
            end.wait(30)
            WritingTask.objects.filter(pk=task.pk).update(finished_at=None)

    def submit() -> None:
        try:
            got.append(submission.submit(task=task, answers={}, now=NOW))
        except WorkProblem as problem:
            got.append(problem)

    with meanwhile(receive):
        assert locked.wait(10)
        with meanwhile(submit):
            wait_for_lock()
            end.set()
    assert [type(each) for each in got] == [problems.NotFinished]
    assert not Response.objects.exists()
