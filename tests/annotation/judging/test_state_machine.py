"""Any order of events in the life of assignments, compared with a model of plain dicts after each."""

from collections import Counter
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from annotation.enums import AssignmentState as S
from annotation.enums import CampaignState as C
from annotation.judging import answers, claims, decisions, leases, platform_status, problems, slots, submission
from annotation.models import Assignment, AssignmentPayment, Item, Judgment, QuestionnaireItem, Slot
from crowdrag.assignments.problems import BadAmount, Erased, NotAllowed
from crowdrag.studies import invariants
from crowdrag.studies.models import Participant
from crowdrag.studies.participants import withdrawal
from tests.annotation.judge_actions import HOUR, check_constraints, sheets
from tests.annotation.judging.assignments_model import DONE, HOLDING, LOST, MOST, QUESTIONS, Known, Model
from tests.factories import NOW

PEOPLE, QUESTIONNAIRES, PAY = 4, 4, 300
TEN_MINUTES = timedelta(minutes=10)
SESSIONS = ("", "", "one", "two", "three")


class Assignments(RuleBasedStateMachine):
    """The model says of each call what must come of it; what does is compared with it, row by row."""

    def __init__(self) -> None:
        super().__init__()
        self.around = transaction.atomic()
        # As pytest-django's own: what must be durable does not take the test's frame for a transaction around it.
        self.around._from_testcase = True
        self.around.__enter__()
        self.now = NOW
        self.here = sheets(QUESTIONNAIRES, k=1, pay=PAY, questionnaires_per_person=MOST, dimensions=QUESTIONS)
        self.reviewer = self.here.member()
        sheets_ = self.here.questionnaires
        # The second and the third share an item.
        QuestionnaireItem.objects.create(questionnaire=sheets_[1], item=sheets_[2].entries.get().item, position=1)
        writer = self.here.writer()
        self.model = Model(
            items={one.pk: set(one.entries.values_list("item", flat=True)) for one in sheets_},
            wrote={writer.pk: {one.pk for one in sheets_ if self._is_of(one, writer)}},
        )
        self.known = self.model.known
        self.people = [writer, *(self.here.judge() for _ in range(PEOPLE - 1))]

    def written_by(self, person: Participant) -> set[int]:
        """The items that hold a response of this person."""
        items = Item.objects.filter(campaign=self.here.campaign)
        held = items.filter(pair__a__participant=person) | items.filter(pair__b__participant=person)
        return set(held.values_list("pk", flat=True))

    def _is_of(self, questionnaire: Any, writer: Participant) -> bool:
        pairs = [entry.item.pair for entry in questionnaire.entries.select_related("item__pair__a", "item__pair__b")]
        return any(writer.pk in {pair.a.participant_id, pair.b.participant_id} for pair in pairs)

    def teardown(self) -> None:
        broken = [(each.name, tally.examples) for each, tally in invariants.check() if tally.broken]
        assert broken == []
        transaction.set_rollback(True)
        self.around.__exit__(None, None, None)

    def pick(self, draw: int, *states: S) -> Known | None:
        found = [one for one in self.known.values() if not states or one.state in states]
        return found[draw % len(found)] if found else None

    def row(self, one: Known) -> Assignment:
        return Assignment.objects.get(pk=one.pk)

    def expect(self, wanted: type[Exception] | None, call: Any) -> Any:
        if wanted is None:
            return call()
        with pytest.raises(wanted) as raised:
            call()
        assert raised.type is wanted
        return None

    # What happens.

    @rule(steps=st.integers(1, 8))
    def time_passes(self, steps: int) -> None:
        self.now += steps * TEN_MINUTES

    @rule(who=st.integers(0, PEOPLE - 1), session=st.sampled_from(SESSIONS))
    def claim(self, who: int, session: str) -> None:
        person = self.people[who]
        wanted = self.model.claimed(person.pk, session)
        foreseen = claims.obstacle(campaign=self.here.campaign, participant=person, session=session)
        problem = wanted if isinstance(wanted, type) else None
        assert (type(foreseen) if foreseen else None) is problem
        call = partial(claims.claim, campaign=self.here.campaign, participant=person, session=session, now=self.now)
        got = self.expect(problem, call)
        if isinstance(wanted, Known):
            assert got.pk == wanted.pk
            free_session = session and not any(one.session == session for one in self.model.mine(person.pk))
            if wanted.state in LOST:
                wanted.state, wanted.lease, wanted.session = S.ASSIGNED, self.now + HOUR, session or wanted.session
            elif free_session:
                wanted.session = session
        elif isinstance(wanted, int):
            assert (got.questionnaire_id, got.pay) == (wanted, PAY)
            self.known[got.pk] = Known(got.pk, wanted, person.pk, session, self.now, self.now + HOUR)

    @rule(draw=st.integers(0, 20))
    def resume(self, draw: int) -> None:
        if (one := self.pick(draw, *LOST)) is None:
            return
        wanted = self.model.refusal(one.person, "") or (
            None if self.model.free(one.questionnaire) else problems.TooLate
        )
        if self.model.mine(one.person, S.ASSIGNED):
            wanted = NotAllowed
        self.expect(wanted, lambda: claims.resume(assignment=self.row(one), now=self.now))
        if wanted is None:
            one.state, one.lease = S.ASSIGNED, self.now + HOUR

    @rule(draw=st.integers(0, 20), which=st.integers(0, 5), value=st.sampled_from([-1, 0, 1]), step=st.integers(-1, 2))
    def answer(self, draw: int, which: int, value: int, step: int) -> None:
        if (one := self.pick(draw)) is None:
            return
        items = sorted(self.model.items[one.questionnaire])
        question = (items[which % len(items)], self.here.dimensions[which % 2].pk)
        before = one.answers.get(question)
        revision = max(1, (before[1] if before else 0) + step)
        wanted, after = self.model.answered(one, before, value, revision)
        call = partial(
            answers.answer, assignment=self.row(one), item=question[0], dimension=question[1], value=value,
            revision=revision, now=self.now,
        )  # fmt: skip
        self.expect(wanted, call)
        if wanted is None:
            one.answers[question] = after
            one.lease = one.lease and self.now + HOUR

    @rule(draw=st.integers(0, 20))
    def answer_the_rest(self, draw: int) -> None:
        if (one := self.pick(draw, S.ASSIGNED, *LOST)) is None or one.person in self.model.left:
            return
        asked = self.model.items[one.questionnaire] - self.model.gone
        open_ = {(item, each.pk) for item in asked for each in self.here.dimensions}
        open_ -= set(one.answers)
        assignment = self.row(one)
        assert {(each.item, each.dimension) for each in submission.missing_answers(assignment)} == open_
        for item, dimension in open_:
            answers.answer(assignment=assignment, item=item, dimension=dimension, value=1, revision=1, now=self.now)
            one.answers[item, dimension] = (1, 1)
            one.lease = one.lease and self.now + HOUR

    @rule(draw=st.integers(0, 20), again=st.booleans())
    def submit(self, draw: int, again: bool) -> None:
        if (one := self.pick(draw)) is None:
            return
        wanted, after = self.model.submitted(one)
        for _ in range(1 + again):
            got = self.expect(wanted, lambda: submission.submit(assignment=self.row(one), now=self.now))
            assert wanted is not None or got.state == after
        one.state = after
        if after in DONE:
            one.lease = None

    @rule()
    def expire(self) -> None:
        due = [one for one in self.known.values() if one.state == S.ASSIGNED and one.lease < self.now]
        assert leases.expire(now=self.now) == len(due)
        for one in due:
            one.state, one.lease = S.TIMED_OUT, None

    @rule(draw=st.integers(0, 20))
    def give_back(self, draw: int) -> None:
        if (one := self.pick(draw)) is None:
            return
        allowed = one.state in LOST | {S.ASSIGNED}
        call = partial(leases.give_back, assignment=self.row(one), now=self.now)
        self.expect(None if allowed else NotAllowed, call)
        if allowed:
            one.state, one.lease = S.RETURNED, None

    @rule(session=st.sampled_from(SESSIONS[2:]), status=st.sampled_from(["RETURNED", "TIMED-OUT", "APPROVED"]),
          late=st.booleans())  # fmt: skip
    def platform_speaks(self, session: str, status: str, late: bool) -> None:
        at = self.now - (6 * TEN_MINUTES if late else timedelta())
        changed = platform_status.release_visit(session=session, status=status, at=at, now=self.now)
        meant = []
        for one in self.known.values():
            if one.session != session or status == "APPROVED":
                continue
            if one.state == S.ASSIGNED and one.at <= at:
                meant.append(one)
                one.state, one.lease = (S.RETURNED if status == "RETURNED" else S.TIMED_OUT), None
            elif one.state == S.TIMED_OUT and status == "RETURNED":
                meant.append(one)
                one.state = S.RETURNED
        assert {one.pk for one in changed} == {one.pk for one in meant}

    @rule(draw=st.integers(0, 20), note=st.sampled_from(["", "Yes."]), again=st.booleans())
    def accept(self, draw: int, note: str, again: bool) -> None:
        if (one := self.pick(draw, *DONE)) is None:
            return
        wanted, after = self.model.accepted(one, note)
        for _ in range(1 + again):
            call = partial(decisions.accept, assignment=self.row(one), by=self.reviewer, now=self.now, note=note)
            self.expect(wanted, call)
        if wanted is None and after != one.state:
            one.state, one.paid = after, PAY

    @rule(draw=st.integers(0, 20), part=st.sampled_from([0, 100]))
    def reject(self, draw: int, part: int) -> None:
        if (one := self.pick(draw, *DONE)) is None:
            return
        wanted: type[Exception] | None = None
        if one.state == S.SURPLUS:
            wanted = NotAllowed
        elif one.state != S.REJECTED and one.paid + part > PAY:
            wanted = BadAmount
        call = partial(
            decisions.reject, assignment=self.row(one), reason="No.", by=self.reviewer, now=self.now, pay_part=part
        )
        self.expect(wanted, call)
        if wanted is None and one.state != S.REJECTED:
            one.state, one.was_rejected = S.REJECTED, True
            one.paid += part

    @rule(draw=st.integers(0, 20))
    def take_up(self, draw: int) -> None:
        if (one := self.pick(draw, S.SURPLUS)) is None:
            return
        wanted = None if self.model.free(one.questionnaire) else problems.NoSlot
        if one.person in self.model.erased:
            wanted = Erased
        call = partial(decisions.take_up, assignment=self.row(one), by=self.reviewer, now=self.now)
        self.expect(wanted, call)
        if wanted is None:
            one.state = S.SUBMITTED

    @rule(who=st.integers(0, PEOPLE - 1), erases=st.booleans())
    def leave(self, who: int, erases: bool) -> None:
        person = self.people[who]
        (withdrawal.erase if erases else withdrawal.withdraw)(participant=person, now=self.now)
        self.model.left.add(person.pk)
        gone = {S.ASSIGNED} | (HOLDING if erases else set())
        for one in self.model.mine(person.pk, *gone):
            one.state, one.lease = S.WITHDRAWN, None
        if erases:
            self.model.erased.add(person.pk)
            self.model.gone |= self.written_by(person)
            for one in self.model.mine(person.pk):
                one.session = ""
        # Somebody else comes now and then in place of who left; until then the one who left tries on.
        if len(self.model.left) % 2:
            self.people[who] = self.here.judge()

    @rule()
    def extend(self) -> None:
        if self.model.k < 3:
            self.model.k += 1
            assert slots.extend(campaign=self.here.campaign, k=self.model.k, now=self.now) == QUESTIONNAIRES
        assert slots.ensure(campaign=self.here.campaign, now=self.now) == 0

    @rule(state=st.sampled_from([C.OPEN, C.OPEN, C.PAUSED, C.CLOSED]))
    def pause_close_or_open(self, state: C) -> None:
        self.here.change(state=state)
        self.model.state = state

    # What must hold.

    @invariant()
    def every_row_is_as_the_model_says(self) -> None:
        check_constraints()
        rows = Assignment.objects.filter(questionnaire__campaign=self.here.campaign)
        columns = ("pk", "questionnaire", "participant", "state", "session", "lease_until")
        stored = sorted(rows.values_list(*columns))
        assert stored == sorted(
            (one.pk, one.questionnaire, one.person, one.state, one.session, one.lease) for one in self.known.values()
        )

    @invariant()
    def exactly_the_holders_hold_places(self) -> None:
        holders = Slot.objects.filter(campaign=self.here.campaign).values_list("questionnaire", "holder")
        held = sorted((questionnaire, holder) for questionnaire, holder in holders if holder)
        assert held == sorted((one.questionnaire, one.pk) for one in self.known.values() if one.state in HOLDING)
        assert Counter(questionnaire for questionnaire, _holder in holders) == dict.fromkeys(
            self.model.items, self.model.k
        )
        assert all(self.model.free(questionnaire) >= 0 for questionnaire in self.model.items)

    @invariant()
    def every_answer_is_kept(self) -> None:
        stored = Judgment.objects.filter(assignment__in=self.known).order_by("pk")
        assert sorted(stored.values_list("assignment", "item", "dimension", "value", "revision")) == sorted(
            (one.pk, *question, *answer) for one in self.known.values() for question, answer in one.answers.items()
        )

    @invariant()
    def earned_is_what_was_promised(self) -> None:
        sums: Counter[int] = Counter()
        for pk, amount in AssignmentPayment.objects.filter(assignment__in=self.known).values_list(
            "assignment", "amount"
        ):
            sums[pk] += amount
        assert sums == {one.pk: one.paid for one in self.known.values() if one.paid}


def run(examples: int, length: int) -> None:
    run_state_machine_as_test(
        Assignments,
        settings=settings(
            max_examples=examples, stateful_step_count=length, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )


@pytest.mark.django_db
@pytest.mark.parametrize("examples", [4, pytest.param(8, marks=pytest.mark.extended)])
def test_any_order_of_events_keeps_k_places_and_every_answer(examples: int) -> None:
    run(examples, 25)


@pytest.mark.soak
@pytest.mark.timeout(12 * 3600)
@pytest.mark.django_db
def test_any_order_of_events_keeps_k_places_and_every_answer_for_long() -> None:
    run(5000, 50)
