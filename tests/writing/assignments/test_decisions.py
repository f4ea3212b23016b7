"""Submitting, and what reviewers decide: paying and including are two decisions."""

from contextlib import suppress
from copy import deepcopy
from datetime import timedelta
from itertools import product

import pytest
from django.db import transaction

from crowdrag.assignments.lifecycle import ACCEPTED, PART, REVERSED, total_paid
from crowdrag.assignments.problems import BadAmount, NeedsReason, NotAllowed, PaidOtherwise, UnderReview
from crowdrag.studies.enums import DecisionKind, MessageKind
from crowdrag.studies.messages import services as messages_services
from tests.factories import NOW
from tests.writing.open_plan import DAY, TEXT, World, finish, hand_in, world, write
from writing.assignments import problems, queries, steps, submission
from writing.assignments.lifecycle import TASKS
from writing.enums import SurveyKind, TaskState
from writing.models import Response, ResponseDecision, SurveyAnswers, TaskPayment, TaskTransition, WritingTask
from writing.plans import surveys
from writing.review import services as review_services

pytestmark = pytest.mark.django_db
REASON = "None of its claims stands in a passage."


@pytest.fixture(scope="module")
def built(shared_rows: None) -> World:
    return world(topics=2, pay=250)


@pytest.fixture
def here(built: World, db: None) -> World:
    return deepcopy(built)


@pytest.fixture
def response(here: World) -> Response:
    return hand_in(here.claim(here.writer()))


def decisions(response: Response) -> list[tuple[str, bool]]:
    return list(ResponseDecision.objects.filter(response=response).order_by("pk").values_list("about", "holds"))


def payments(task: WritingTask) -> list[tuple[int, str]]:
    return list(TaskPayment.objects.filter(task=task).order_by("pk").values_list("amount", "reason"))


def submit(task: WritingTask, **answers: int) -> Response:
    return submission.submit(task=task, answers=answers, now=NOW + DAY)


class TestSubmitting:
    def test_the_text_of_the_log_becomes_the_response_once(self, here: World) -> None:
        task = finish(here.claim(here.writer()), "A claim [7].")
        response = submit(task)
        assert submit(task) == response
        task.refresh_from_db()
        assert (response.text, response.external_id, response.task) == ("A claim [7].", task.external_id, task)
        assert (task.state, task.submitted_at, task.lease_until) == (TaskState.SUBMITTED, NOW + DAY, None)
        assert (task.seconds, task.active_seconds) == (pytest.approx(1.65), pytest.approx(1.65))
        assert response.is_included
        assert TaskTransition.objects.filter(task=task, after=TaskState.SUBMITTED).count() == 1

    def test_what_is_not_ready_is_refused(self, here: World) -> None:
        task = here.claim(here.writer())
        with pytest.raises(problems.NotFinished):
            submit(task)
        finish(task, " \n ")
        with pytest.raises(problems.EmptyText):
            submit(task)
        finish(task, "words")
        write(task, " more")  # who opens the editor again has to finish again
        with pytest.raises(problems.NotFinished):
            submit(task)
        finish(task)
        WritingTask.objects.filter(pk=task.pk).update(draft="something else")
        with pytest.raises(problems.TextDiffers):
            submit(task)
        with pytest.raises(NotAllowed):
            submit(WritingTask.objects.get(state=TaskState.OPEN))
        assert not Response.objects.exists()

    def test_back_to_the_text_and_on(self, here: World) -> None:
        task = finish(here.claim(here.writer()), "Once")
        assert steps.next_step(task) is steps.Step.EXIT
        assert steps.next_step(steps.reopen_text(task=task)) is steps.Step.WRITE
        assert hand_in(task, " more").text == "Once more"
        assert steps.next_step(steps.reopen_text(task=task)) is steps.Step.DONE, "what is submitted stays so"

    def test_surveys_are_answered_once_and_kept_in_their_version(self, here: World) -> None:
        asked = surveys.ensure(study=here.study, kind=SurveyKind.EXIT, now=NOW)
        here.change(exit_survey=asked)
        task = finish(here.claim(here.writer()))
        submit(task, worker_satisfaction=1)
        here.change(exit_survey=surveys.ensure(study=here.study, kind=SurveyKind.EXIT, questions=[], now=NOW))
        submit(task, worker_satisfaction=-1)
        [given] = SurveyAnswers.objects.filter(task=task)
        assert (given.survey, given.answers) == (asked, {"worker_satisfaction": 1})


class TestAccepting:
    def test_it_is_paid_and_included_by_two_decisions(self, here: World, response: Response) -> None:
        reviewer = here.reviewer()
        assert TASKS.total_awaited(response.participant) == 250
        for _ in range(2):
            task = review_services.accept(task=response.task, by=reviewer, now=NOW, note="Well done.")
        assert (task.state, payments(task)) == (TaskState.ACCEPTED, [(250, ACCEPTED)])
        assert decisions(response) == [(DecisionKind.PAY, True), (DecisionKind.INCLUDE, True)]
        assert {d.reason for d in response.decisions.all()} == {"Well done."}
        [row] = queries.writer_overview(task.participant).rows
        assert (row.note, row.paid, TASKS.total_awaited(task.participant)) == ("Well done.", 250, 0)

    def test_who_excluded_it_before_is_not_overruled(self, here: World, response: Response) -> None:
        reviewer = here.reviewer()
        review_services.exclude(response=response, reason="Written about another topic.", by=reviewer, now=NOW)
        review_services.accept(task=response.task, by=reviewer, now=NOW)
        response.refresh_from_db()
        assert (response.is_included, decisions(response)) == (
            False,
            [(DecisionKind.INCLUDE, False), (DecisionKind.PAY, True)],
        )

    def test_without_pay_there_is_no_payment(self, here: World) -> None:
        here.change(pay=0)
        response = hand_in(here.claim(here.writer()))
        review_services.accept(task=response.task, by=here.reviewer(), now=NOW)
        assert payments(response.task) == []

    def test_only_what_is_submitted_and_not_in_anothers_hands(self, here: World, response: Response) -> None:
        first, second = here.reviewer(), here.reviewer()
        until = NOW + timedelta(minutes=10)
        WritingTask.objects.filter(pk=response.task.pk).update(reviewer=first, reviewing_until=until)
        common = {"task": response.task, "by": second}
        with pytest.raises(UnderReview):
            review_services.accept(now=NOW, **common)
        with pytest.raises(UnderReview):
            review_services.reject(reason=REASON, now=NOW, **common)
        with pytest.raises(UnderReview):
            review_services.send_back(note=REASON, now=NOW, **common)
        task = review_services.accept(now=until + timedelta(seconds=1), **common)
        assert (task.reviewer, task.reviewing_until) == (None, None)
        with pytest.raises(NotAllowed) as refused:
            review_services.reject(task=task, reason=REASON, by=first, now=NOW)
        assert refused.value.work.state == TaskState.ACCEPTED


class TestRejecting:
    @pytest.mark.parametrize(
        ("part", "owed"),
        [(0, []), (100, [(100, PART)]), (250, [(250, PART)])],
    )
    def test_nothing_a_part_or_all_is_paid(self, here: World, response: Response, part: int, owed: list) -> None:
        task = review_services.reject(task=response.task, reason=REASON, pay_part=part, by=here.reviewer(), now=NOW)
        response.refresh_from_db()
        assert (task.state, payments(task), response.is_included) == (TaskState.REJECTED, owed, False)
        assert TASKS.total_awaited(task.participant) == 0
        assert decisions(response) == [(DecisionKind.PAY, part > 0), (DecisionKind.INCLUDE, False)]
        assert response.decisions.get(about=DecisionKind.PAY).evidence == {"amount": part, "of": 250}
        [row] = queries.writer_overview(task.participant).rows
        assert (row.note, row.can_contest, row.paid) == (REASON, True, part)

    def test_the_slot_is_free_again_for_somebody_else(self, here: World, response: Response) -> None:
        review_services.reject(task=response.task, reason=REASON, by=here.reviewer(), now=NOW)
        assert WritingTask.objects.filter(topic=response.topic, state=TaskState.OPEN).count() == 1
        assert here.claim(response.participant).topic != response.topic

    def test_every_decision_needs_its_reason_and_a_rejection_an_amount_within_the_pay(
        self, here: World, response: Response
    ) -> None:
        common = {"by": here.reviewer(), "now": NOW}
        with pytest.raises(NeedsReason):
            review_services.reject(task=response.task, reason=" ", **common)
        with pytest.raises(NeedsReason):
            review_services.send_back(task=response.task, note="", **common)
        with pytest.raises(NeedsReason):
            review_services.include(response=response, reason="", **common)
        with pytest.raises(NeedsReason):
            review_services.reverse_rejection(task=response.task, note="", **common)
        with pytest.raises(BadAmount) as refused:
            review_services.reject(task=response.task, reason=REASON, pay_part=251, **common)
        assert refused.value.most == 250
        with pytest.raises(NotAllowed):  # only a rejection is reversed
            review_services.reverse_rejection(task=response.task, note="Sorry.", **common)
        assert (payments(response.task), decisions(response)) == ([], [])

    def test_a_reversed_rejection_is_paid_in_full_and_has_its_slot_again(self, here: World, response: Response) -> None:
        reviewer = here.reviewer()
        review_services.reject(task=response.task, reason=REASON, pay_part=100, by=reviewer, now=NOW)
        writer, about = response.task.participant, response.task.external_id
        contest = messages_services.ask(participant=writer, kind=MessageKind.CONTEST, about=about, text="No.", now=NOW)
        task = review_services.reverse_rejection(
            task=response.task, note="The source is passage 3.", by=reviewer, now=NOW + DAY
        )
        contest.refresh_from_db()
        assert (contest.answer, contest.answered_by) == ("The source is passage 3.", reviewer)
        assert review_services.reverse_rejection(task=task, note="again", by=reviewer, now=NOW + DAY) == task
        response.refresh_from_db()
        assert (task.state, task.slot, response.is_included) == (TaskState.ACCEPTED, 0, True)
        assert payments(task) == [(100, PART), (150, REVERSED)]
        assert not WritingTask.objects.filter(topic=response.topic, state=TaskState.OPEN).exists()

    def test_if_somebody_writes_there_by_now_it_is_surplus(self, here: World, response: Response) -> None:
        reviewer = here.reviewer()
        review_services.reject(task=response.task, reason=REASON, by=reviewer, now=NOW)
        others = [here.claim(here.writer()) for _ in range(2)]
        task = review_services.reverse_rejection(task=response.task, note="Sorry.", by=reviewer, now=NOW + DAY)
        response.refresh_from_db()
        assert (task.state, task.slot, response.is_included) == (TaskState.ACCEPTED, None, False)
        assert payments(task) == [(250, REVERSED)]
        assert {other.topic for other in others} >= {response.topic}


class TestRevising:
    def test_the_same_writer_goes_on_from_the_old_text(self, here: World, response: Response) -> None:
        reviewer = here.reviewer()
        fresh = review_services.send_back(task=response.task, note="Cite each claim.", by=reviewer, now=NOW)
        assert review_services.send_back(task=response.task, note="Cite each claim.", by=reviewer, now=NOW) == fresh
        old = WritingTask.objects.get(pk=response.task.pk)
        assert (old.state, fresh.revises, fresh.slot, fresh.participant) == ("REVISION", old, 0, old.participant)
        assert fresh.lease_until >= NOW + 3 * DAY
        assert here.claim(old.participant) == fresh
        again = hand_in(fresh, " More [1].", now=NOW + DAY)
        assert again.text == TEXT + " More [1]."
        response.refresh_from_db()
        assert (response.is_included, again.is_included) == (False, True)
        review_services.accept(task=again.task, by=reviewer, now=NOW + DAY)
        assert queries.writer_overview(old.participant).earned == 250, "paid once"
        rows = {row.task.pk: row.note for row in queries.writer_overview(old.participant).rows}
        assert rows == {old.pk: "Cite each claim.", fresh.pk: "Cite each claim."}

    def test_the_answers_from_before_writing_stand_for_the_revision(self, here: World) -> None:
        here.change(entry_survey=surveys.ensure(study=here.study, kind=SurveyKind.ENTRY, now=NOW))
        task = here.claim(here.writer())
        answers = {"query_answerable": 1, "query_controversial": 0, "worker_knowledge": 2, "worker_expertise": 1}
        steps.answer_entry(task=task, answers=answers, now=NOW)
        hand_in(task)
        fresh = review_services.send_back(task=task, note="Cite.", by=here.reviewer(), now=NOW)
        assert steps.next_step(fresh) is steps.Step.WRITE
        assert SurveyAnswers.objects.get(task=fresh).answers == answers


def test_including_is_a_decision_of_its_own(here: World, response: Response) -> None:
    reviewer = here.reviewer()
    for _ in range(2):
        review_services.exclude(response=response, reason="A duplicate.", by=reviewer, now=NOW)
    review_services.include(response=response, reason="Not one.", by=reviewer, now=NOW + DAY)
    response.refresh_from_db()
    assert (response.is_included, decisions(response)) == (
        True,
        [(DecisionKind.INCLUDE, False), (DecisionKind.INCLUDE, True)],
    )
    assert payments(response.task) == []


def test_part_of_the_pay_when_the_fault_was_ours(here: World) -> None:
    reviewer, task = here.reviewer(), here.claim(here.writer())

    def pay(amount: int, reason: str = "The server was down.", to: WritingTask = task) -> None:
        TASKS.pay(to, amount=amount, reason=reason, by=reviewer, now=NOW)

    for _ in range(3):
        pay(120, "The server  was down.")
    assert payments(task) == [(120, "The server was down.")]
    with pytest.raises(PaidOtherwise) as refused:
        pay(130)
    assert refused.value.amount == 120
    for amount in (0, -1, 2**31):
        with pytest.raises(BadAmount):
            pay(amount, "x")
    with pytest.raises(NeedsReason):
        pay(1, " ")
    with pytest.raises(NotAllowed):
        pay(1, to=WritingTask.objects.filter(state=TaskState.OPEN).get())
    assert total_paid(task) == TASKS.total_earned(task.participant) == 120


def test_a_state_follows_on_another_only_if_the_table_says_so(here: World) -> None:
    task = here.claim(here.writer())
    stored, expected = {}, {}
    for before, after in product(TaskState.values, TaskState.values):
        WritingTask.objects.filter(pk=task.pk).update(state=before)
        task.refresh_from_db()
        with transaction.atomic(), suppress(NotAllowed):
            TASKS.move(task, TaskState(after), "test", now=NOW)
        stored[before, after] = WritingTask.objects.get(pk=task.pk).state
        expected[before, after] = after if after in TASKS.allowed[before] else before
    assert stored == expected


def test_of_two_who_saw_the_same_state_one_moves_it(here: World) -> None:
    task = here.claim(here.writer())
    seen = WritingTask.objects.get(pk=task.pk)
    TASKS.move(task, TaskState.RETURNED, "first", now=NOW)
    with pytest.raises(NotAllowed):
        TASKS.move(seen, TaskState.SUBMITTED, "second", now=NOW)
    assert list(TaskTransition.objects.filter(task=task).values_list("cause", flat=True)) == ["claimed", "first"]
