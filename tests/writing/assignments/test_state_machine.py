"""Any order of events in the life of tasks: nothing is lost, nobody has what another one has, sums are right."""

from collections import Counter
from datetime import timedelta
from itertools import pairwise
from random import Random

import pytest
from django.db import transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from crowdrag.assignments.lifecycle import total_paid
from crowdrag.assignments.problems import WorkProblem
from crowdrag.studies.models import Participant
from crowdrag.studies.participants import withdrawal
from tests.factories import NOW, TopicFactory
from tests.writing.open_plan import finish, world, write
from writing.assignments import claims, leases, queries, slots, steps, submission
from writing.assignments.lifecycle import TASKS
from writing.assignments.models import PAST
from writing.editor import logs
from writing.enums import TaskState
from writing.models import Response, TaskPayment, TaskTransition, WritingPlan, WritingTask
from writing.review import services

PEOPLE = 3
HOUR = timedelta(hours=1)


class Tasks(RuleBasedStateMachine):
    """The model is a dict of what each task's text must be, and what each person is owed."""

    def __init__(self) -> None:
        super().__init__()
        self.around = transaction.atomic()
        # As pytest-django's own: what must be durable does not take the test's frame for a transaction around it.
        self.around._from_testcase = True
        self.around.__enter__()
        self.now = NOW
        self.here = world(topics=2, styles=1, slots=1, trial=0, pay=100, lease_hours=10)
        self.people = [self.here.writer() for _ in range(PEOPLE)]
        self.reviewer = self.here.reviewer()
        self.texts: dict[int, str] = {}
        self.owed: Counter[int] = Counter()
        self.letters = 0

    def teardown(self) -> None:
        for person in Participant.objects.filter(study=self.here.study):
            assert sum(row.paid for row in queries.writer_overview(person).rows) == self.owed[person.pk]
        transaction.set_rollback(True)
        self.around.__exit__(None, None, None)

    def pick(self, draw: int, *states: TaskState) -> WritingTask | None:
        found = WritingTask.objects.filter(study=self.here.study, state__in=states, participant__isnull=False)
        tasks = list(found.order_by("pk"))
        return tasks[draw % len(tasks)] if tasks else None

    @rule(hours=st.integers(1, 8))
    def time_passes(self, hours: int) -> None:
        self.now += hours * HOUR

    @rule(n=st.integers(1, 3))
    def change_slots(self, n: int) -> None:
        WritingPlan.objects.filter(pk=self.here.plan.pk).update(slots=n)
        slots.ensure(self.here.plan, self.now)

    @rule()
    def reword_a_style(self) -> None:
        self.here.reword(f"As of {self.now}.")

    @rule()
    def open_or_close(self) -> None:
        self.here.plan.refresh_from_db()
        WritingPlan.objects.filter(pk=self.here.plan.pk).update(is_open=not self.here.plan.is_open)

    @rule(version=st.booleans())
    def topics_come_in(self, version: bool) -> None:
        if version:
            self.letters += 1
            name = self.here.topics[0].external_id
            TopicFactory(study=self.here.study, external_id=name, version=1 + self.letters, query="changed")
        elif len(self.here.topics) < 4:
            self.here.topics.append(TopicFactory(study=self.here.study))

    @rule(who=st.integers(0, PEOPLE - 1), seed=st.integers(0, 3))
    def claim(self, who: int, seed: int) -> None:
        person = self.people[who]
        held = WritingTask.objects.filter(participant=person, state=TaskState.CLAIMED).count()
        foreseen = claims.obstacle(study=self.here.study, participant=person)
        refused: WorkProblem | None = None
        try:
            task = claims.claim(study=self.here.study, participant=person, now=self.now, rng=Random(seed))
        except WorkProblem as problem:
            refused = problem
        if held:
            assert refused is None, "who has one in hand gets it again"
        else:
            assert type(refused) is type(foreseen)
        if refused is None:
            assert task.participant == person
            assert task.pay == 100
            self.texts.setdefault(task.pk, "")

    @rule(draw=st.integers(0, 9))
    def type_something(self, draw: int) -> None:
        if (task := self.pick(draw, TaskState.CLAIMED)) is None:
            return
        self.letters += 1
        letter = chr(ord("a") + self.letters % 26)
        write(task, letter, now=self.now)
        self.texts[task.pk] += letter

    @rule(draw=st.integers(0, 9))
    def finish(self, draw: int) -> None:
        if (task := self.pick(draw, TaskState.CLAIMED)) is not None:
            finish(task, "", now=self.now)

    @rule(draw=st.integers(0, 9))
    def back_to_text(self, draw: int) -> None:
        if (task := self.pick(draw, *TaskState)) is not None:
            before = task.state
            assert steps.reopen_text(task=task).state == before

    @rule(draw=st.integers(0, 9))
    def submit(self, draw: int) -> None:
        if (task := self.pick(draw, *TaskState)) is None:
            return
        try:
            response = submission.submit(task=task, answers={}, now=self.now)
        except WorkProblem:
            assert not Response.objects.filter(task=task).exists()
        else:
            assert response.text == self.texts[task.pk]

    @rule()
    def expire(self) -> None:
        due = WritingTask.objects.filter(state=TaskState.CLAIMED, lease_until__lt=self.now).count()
        assert leases.expire(now=self.now) == due

    @rule(draw=st.integers(0, 9))
    def give_back(self, draw: int) -> None:
        if (task := self.pick(draw, TaskState.CLAIMED)) is not None:
            claims.give_back(task=task, now=self.now)

    @rule(draw=st.integers(0, 9), late=st.booleans())
    def come_back(self, draw: int, late: bool) -> None:
        if (task := self.pick(draw, TaskState.RETURNED)) is None:
            return
        there = leases.can_resume(task)
        try:
            if late:
                submission.submit_late(task=task, now=self.now)
            else:
                leases.resume(task=task, now=self.now)
                assert there
        except WorkProblem:
            task.refresh_from_db()
            assert task.state == TaskState.RETURNED

    @rule(draw=st.integers(0, 9), again=st.booleans())
    def accept(self, draw: int, again: bool) -> None:
        if (task := self.pick(draw, TaskState.SUBMITTED)) is not None:
            for _ in range(1 + again):
                services.accept(task=task, by=self.reviewer, now=self.now)
            self.owed[task.participant_id] += 100

    @rule(draw=st.integers(0, 9), part=st.sampled_from([0, 40, 100]))
    def reject(self, draw: int, part: int) -> None:
        if (task := self.pick(draw, TaskState.SUBMITTED)) is not None:
            services.reject(task=task, reason="No.", pay_part=part, by=self.reviewer, now=self.now)
            self.owed[task.participant_id] += part

    @rule(draw=st.integers(0, 9))
    def reverse(self, draw: int) -> None:
        if (task := self.pick(draw, TaskState.REJECTED)) is not None:
            before = total_paid(task)
            services.reverse_rejection(task=task, note="Yes.", by=self.reviewer, now=self.now)
            self.owed[task.participant_id] += 100 - before

    @rule(draw=st.integers(0, 9))
    def send_back(self, draw: int) -> None:
        if (task := self.pick(draw, TaskState.SUBMITTED)) is not None:
            fresh = services.send_back(task=task, note="Cite.", by=self.reviewer, now=self.now)
            self.texts[fresh.pk] = self.texts[task.pk]

    @precondition(lambda self: self.letters > 3)
    @rule(who=st.integers(0, PEOPLE - 1))
    def withdraw(self, who: int) -> None:
        withdrawal.withdraw(participant=self.people[who], now=self.now)
        assert not WritingTask.objects.filter(participant=self.people[who], state=TaskState.CLAIMED).exists()
        self.people[who] = self.here.writer()

    @invariant()
    def one_live_task_for_each_slot(self) -> None:
        live = WritingTask.objects.filter(study=self.here.study, slot__isnull=False).exclude(state__in=PAST)
        keys = list(live.values_list("topic__external_id", "style__name", "slot"))
        assert len(keys) == len(set(keys))

    @invariant()
    def nobody_twice_on_a_topic(self) -> None:
        live = WritingTask.objects.filter(study=self.here.study, participant__isnull=False).exclude(state__in=PAST)
        keys = list(live.values_list("topic__external_id", "participant"))
        assert len(keys) == len(set(keys))

    @invariant()
    def every_slot_that_is_asked_for_is_there(self) -> None:
        slots.ensure(self.here.plan, self.now)
        assert slots.ensure(self.here.plan, self.now) == (0, 0)
        self.here.plan.refresh_from_db()
        assert slots.is_complete(self.here.plan)

    @invariant()
    def what_was_written_is_there(self) -> None:
        for pk, text in self.texts.items():
            task = WritingTask.objects.get(pk=pk)
            assert logs.current_text(task) == text
            if task.state not in {TaskState.CLAIMED, TaskState.OPEN}:
                assert task.draft == text
            if (response := Response.objects.filter(task=task).first()) is not None:
                assert response.text == text
            assert (response is not None) == (task.state in {"SUBMITTED", "ACCEPTED", "REJECTED", "REVISION"})

    @invariant()
    def earned_is_the_sum_of_payments(self) -> None:
        for person in Participant.objects.filter(study=self.here.study):
            assert TASKS.total_earned(person) == self.owed[person.pk]
        assert sum(TaskPayment.objects.values_list("amount", flat=True)) == self.owed.total()

    @invariant()
    def the_record_leads_to_where_each_task_stands(self) -> None:
        for task in WritingTask.objects.filter(participant__isnull=False):
            moves = list(TaskTransition.objects.filter(task=task).order_by("pk").values_list("before", "after"))
            assert moves[-1][1] == task.state
            assert all(one[1] == other[0] for one, other in pairwise(moves))
            assert all(after in TASKS.allowed[before] for before, after in moves if before)


LONG = pytest.param(5000, 50, marks=[pytest.mark.soak, pytest.mark.timeout(6 * 3600)])


@pytest.mark.django_db
@pytest.mark.parametrize(("examples", "length"), [(2, 15), pytest.param(10, 20, marks=pytest.mark.extended), LONG])
def test_any_order_of_events_keeps_what_was_promised(examples: int, length: int) -> None:
    checks = list(HealthCheck)
    how = settings(max_examples=examples, stateful_step_count=length, deadline=None, suppress_health_check=checks)
    run_state_machine_as_test(Tasks, settings=how)
