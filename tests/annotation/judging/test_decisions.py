"""What people decide about assignments, what platforms say of them, and what is left of who has all erased."""

import pytest
from django.db.models import Sum

from annotation.enums import AssignmentState as S
from annotation.judging import (
    answers,
    decisions,
    leases,
    platform_status,
    slots,
    submission,
)
from annotation.judging.lifecycle import ASSIGNMENTS
from annotation.models import Assignment, AssignmentDecision, CheckAnswer, ItemTime, Judgment, Slot
from crowdrag.assignments.lifecycle import Lifecycle, paid_of_promise
from crowdrag.assignments.problems import BadAmount, Erased, NeedsReason, NotAllowed, PaidOtherwise, UnderReview
from crowdrag.jobs import schedules
from crowdrag.studies.enums import DecisionKind, MessageKind
from crowdrag.studies.messages import services
from crowdrag.studies.participants import withdrawal
from tests.annotation.judge_actions import (
    HOUR,
    add_check,
    answer_all,
    check_constraints,
    claim,
    hand_in,
    holders,
    sheets,
)
from tests.annotation.open_campaign import World
from tests.annotation.shared import made_once
from tests.factories import NOW

pytestmark = pytest.mark.django_db


stored, here = made_once(lambda: sheets(1, k=1, pay=300))


@pytest.fixture
def done(here: World) -> Assignment:
    return hand_in(claim(here, here.judge()))


def decided(one: Assignment) -> list[tuple[str, bool, str]]:
    return list(one.decisions.order_by("pk").values_list("about", "holds", "reason"))


def test_accepting_pays_and_includes(here: World, done: Assignment) -> None:
    reviewer = here.member()
    one = decisions.accept(assignment=done, by=reviewer, now=NOW, note="Good.")
    assert (one.state, one.is_included, ASSIGNMENTS.total_earned(done.participant)) == (S.ACCEPTED, True, 300)
    assert decided(one) == [(DecisionKind.PAY, True, "Good."), (DecisionKind.INCLUDE, True, "Good.")]
    assert one.transitions.get(after=S.ACCEPTED).by == reviewer
    assert list(Assignment.objects.counted()) == [one]


def test_accepting_leaves_an_earlier_decision_on_the_analysis_alone(here: World, done: Assignment) -> None:
    about = {"assignment": done, "by": here.member(), "now": NOW}
    decisions.exclude(**about, reason="Hurried.", evidence={"seconds": 3})
    one = decisions.accept(**about)
    assert (one.state, one.is_included, Assignment.objects.counted().exists()) == (S.ACCEPTED, False, False)
    assert done.decisions.get(about=DecisionKind.INCLUDE).evidence == {"seconds": 3}
    assert decisions.include(**about, reason="After all.").holds
    assert Assignment.objects.counted().exists()


def test_a_rejection_makes_room_for_somebody_else(here: World, done: Assignment) -> None:
    with pytest.raises(NeedsReason):
        decisions.reject(assignment=done, reason=" ", by=here.member(), now=NOW)
    for part in (-1, 301):
        with pytest.raises(BadAmount):
            decisions.reject(assignment=done, reason="No.", by=here.member(), now=NOW, pay_part=part)
    one = decisions.reject(assignment=done, reason="No.", by=here.member(), now=NOW, pay_part=100)
    assert (one.state, one.is_included, ASSIGNMENTS.total_earned(done.participant)) == (S.REJECTED, False, 100)
    assert claim(here, here.judge()).questionnaire == done.questionnaire
    with pytest.raises(NeedsReason):
        decisions.accept(assignment=done, by=here.member(), now=NOW)
    contested = decisions.accept(assignment=done, by=here.member(), now=NOW, note="We were wrong.")
    assert (contested.state, ASSIGNMENTS.total_earned(done.participant)) == (S.SURPLUS, 300), "paid; its place is gone"
    check_constraints()


def test_a_rejection_is_reversed_while_its_place_is_free(here: World, done: Assignment) -> None:
    decisions.reject(assignment=done, reason="No.", by=here.member(), now=NOW)
    about = {"participant": done.participant, "now": NOW, "text": "Look again."}
    contest = services.ask(kind=MessageKind.CONTEST, about=done.external_id, **about)
    question = services.ask(kind=MessageKind.QUESTION, about=done.external_id, **about)
    one = decisions.accept(assignment=done, by=here.member(), now=NOW, note="We were wrong.")
    contest.refresh_from_db()
    question.refresh_from_db()
    assert (contest.answer, contest.answered_at, question.answered_at) == ("We were wrong.", NOW, None)
    assert (one.state, one.is_included, ASSIGNMENTS.total_earned(done.participant)) == (S.ACCEPTED, True, 300)
    assert holders(here.questionnaires[0]) == {one.pk}


def test_however_often_it_is_decided_the_pay_is_paid_once(here: World, done: Assignment) -> None:
    reviewer = here.member()
    ASSIGNMENTS.pay(done, amount=50, reason="A bonus.", by=reviewer, now=NOW)
    for note in ("Yes.", "After all."):
        decisions.accept(assignment=done, by=reviewer, now=NOW, note=note)
        with pytest.raises(BadAmount):
            decisions.reject(assignment=done, reason="No.", by=reviewer, now=NOW, pay_part=1)
        decisions.reject(assignment=done, reason="No.", by=reviewer, now=NOW)
    claim(here, here.judge())
    decisions.accept(assignment=done, by=reviewer, now=NOW, note="It was good.")  # its place is gone
    slots.extend(campaign=here.campaign, k=2, now=NOW)
    decisions.take_up(assignment=done, by=reviewer, now=NOW)
    decisions.accept(assignment=done, by=reviewer, now=NOW)
    assert ASSIGNMENTS.total_earned(done.participant) == 350
    assert paid_of_promise(done) == 300


def test_payments_are_of_an_amount_and_a_reason(here: World, done: Assignment) -> None:
    reviewer = here.member()
    first = ASSIGNMENTS.pay(done, amount=5, reason=" A  bonus. ", by=reviewer, now=NOW)
    assert ASSIGNMENTS.pay(done, amount=5, reason="A bonus.", by=reviewer, now=NOW) == first
    with pytest.raises(PaidOtherwise):
        ASSIGNMENTS.pay(done, amount=6, reason="A bonus.", by=reviewer, now=NOW)
    with pytest.raises(NeedsReason):
        ASSIGNMENTS.pay(done, amount=5, reason="\t", by=reviewer, now=NOW)
    for amount in (0, -1, 2**31):
        with pytest.raises(BadAmount):
            ASSIGNMENTS.pay(done, amount=amount, reason="x", by=reviewer, now=NOW)
    assert ASSIGNMENTS.total_earned(done.participant, questionnaire__campaign=here.campaign) == 5
    assert ASSIGNMENTS.total_awaited(done.participant, questionnaire__campaign=here.campaign) == 300


def test_who_has_it_open_decides(here: World, done: Assignment) -> None:
    one, other = here.member(), here.member()
    Assignment.objects.filter(pk=done.pk).update(reviewer=one, reviewing_until=NOW + HOUR)
    for call in (decisions.accept, decisions.reject):
        with pytest.raises(UnderReview):
            call(assignment=done, by=other, now=NOW, **({"reason": "No."} if call is decisions.reject else {}))
    assert decisions.accept(assignment=done, by=other, now=NOW + 2 * HOUR).reviewer is None


def test_nothing_is_decided_of_what_was_not_handed_in(here: World) -> None:
    mine, by = claim(here, here.judge()), here.member()
    for state in (S.ASSIGNED, S.TIMED_OUT, S.RETURNED):
        if state != S.ASSIGNED:
            ASSIGNMENTS.move(mine, state, "test", now=NOW, lease_until=None)
        for call, more in (
            (decisions.accept, {}),
            (decisions.reject, {"reason": "No."}),
            (decisions.take_up, {}),
        ):
            with pytest.raises(NotAllowed):
                call(assignment=mine, by=by, now=NOW, **more)


def test_a_move_that_another_one_forestalled_changes_nothing(here: World, done: Assignment) -> None:
    seen = Assignment.objects.get(pk=done.pk)
    decisions.accept(assignment=done, by=here.member(), now=NOW)
    before = done.transitions.count()
    with pytest.raises(NotAllowed):
        ASSIGNMENTS.move(seen, S.REJECTED, "test", now=NOW)
    with pytest.raises(NotAllowed):
        ASSIGNMENTS.move(Assignment.objects.get(pk=done.pk), S.TIMED_OUT, "test", now=NOW)
    assert done.transitions.count() == before
    assert Slot.objects.get().holder == done


def test_what_a_platform_says_frees_a_place_only_where_nothing_was_handed_in(here: World) -> None:
    mine = claim(here, here.judge(), NOW + HOUR, session="one")

    def hear(status: str, at: object = NOW + 2 * HOUR, session: str = "one", **more: object) -> list[Assignment]:
        of = {"campaign": here.campaign, **more}
        return platform_status.release_visit(session=session, status=status, at=at, now=NOW + 2 * HOUR, **of)

    assert hear("AWAITING REVIEW") == hear("RETURNED", NOW) == hear("RETURNED", session="") == []
    assert hear("RETURNED", participant=here.stranger()) == [], "another's visit"
    assert hear("timed_out") == [mine]
    assert hear("TIMED-OUT") == []
    assert hear("RETURNED") == [mine]
    mine.refresh_from_db()
    assert (mine.state, slots.count_free(here.campaign)) == (S.RETURNED, 1)
    assert hand_in(mine, NOW + 3 * HOUR).state == S.SUBMITTED
    assert hear("RETURNED") == []


def test_the_sweep_ends_leases_and_one_that_cannot_be_ended_keeps_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    here = sheets(1, k=2)
    bad, good = (claim(here, person) for person in here.judges(2))
    duty = next(each for each in schedules.all_schedules() if each.name == "annotation.leases")
    assert duty.work(NOW + HOUR) == 0
    move = Lifecycle.move

    def broken(life: Lifecycle[Assignment], one: Assignment, *rest: object, **more: object) -> Assignment:
        if one.pk == bad.pk:
            raise ValueError("broken")
        return move(life, one, *rest, **more)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(Lifecycle, "move", broken)
        assert duty.work(NOW + 2 * HOUR) == 1
    good.refresh_from_db()
    assert good.state == S.TIMED_OUT
    assert duty.work(NOW + 2 * HOUR) == 1


@pytest.mark.parametrize("state", [S.ASSIGNED, S.SUBMITTED, S.ACCEPTED, S.REJECTED, S.SURPLUS, S.RETURNED])
def test_erasing_frees_places_and_leaves_bare_votes_and_payments(here: World, state: S) -> None:
    add_check(here.questionnaires[0])
    person, reviewer = here.judge(), here.member()
    mine = claim(here, person, session="visit")
    item, dimension = next(here.questions(mine))
    answers.answer(
        assignment=mine, item=item.pk, dimension=dimension.pk, value=1, justification="Mine.", revision=1, now=NOW
    )
    answers.record_times(assignment=mine, visit="v", times=[{"item": item.pk, "looks": 1}], now=NOW)
    answer_all(mine)
    ASSIGNMENTS.pay(mine, amount=7, reason="Thanks.", by=reviewer, now=NOW)
    if state in {S.SUBMITTED, S.ACCEPTED, S.REJECTED}:
        submission.submit(assignment=mine, comment="Mine.", now=NOW)
    if state == S.ACCEPTED:
        decisions.accept(assignment=mine, by=reviewer, now=NOW, note="Yours.")
    if state == S.REJECTED:
        decisions.reject(assignment=mine, by=reviewer, now=NOW, reason="Yours.")
    if state in {S.RETURNED, S.SURPLUS}:
        leases.give_back(assignment=mine, reason="Mine.", now=NOW)
    if state == S.SURPLUS:
        here.change(state="CLOSED")
        assert submission.submit(assignment=mine, now=NOW).state == S.SURPLUS
    paid = ASSIGNMENTS.total_earned(person)
    withdrawal.erase(participant=person, now=NOW)
    mine.refresh_from_db()
    check_constraints()
    holding = state in {S.ASSIGNED, S.SUBMITTED, S.ACCEPTED}
    assert mine.state == (S.WITHDRAWN if holding else state)
    assert (holders(here.questionnaires[0]), mine.is_included, mine.comment, mine.session) == (set(), False, "", "")
    assert (mine.assigned_at, mine.submitted_at, mine.seconds, mine.active_seconds) == (None,) * 4
    assert list(Judgment.objects.values_list("value", "justification", "judged_at")) == [(1, "", None)]
    assert not CheckAnswer.objects.exists()
    assert not ItemTime.objects.exists()
    assert not mine.transitions.exclude(note="").exists()
    assert "Yours." not in set(AssignmentDecision.objects.values_list("reason", flat=True))
    assert mine.payments.aggregate(sum=Sum("amount"))["sum"] == paid == ASSIGNMENTS.total_earned(person)


def test_what_was_erased_can_be_paid_and_nothing_else(here: World, done: Assignment) -> None:
    decisions.reject(assignment=done, by=here.member(), now=NOW, reason="No.")
    withdrawal.erase(participant=done.participant, now=NOW)
    one = decisions.accept(assignment=done, by=here.member(), now=NOW, note="Yes.")
    assert (one.state, one.is_included, ASSIGNMENTS.total_earned(done.participant)) == (S.SURPLUS, False, 300)
    with pytest.raises(Erased):
        decisions.take_up(assignment=done, by=here.member(), now=NOW)
    with pytest.raises(Erased):
        decisions.include(assignment=done, reason="Yes.", by=here.member(), now=NOW)


def test_an_imported_campaign_has_states_without_places() -> None:
    here = sheets(1, has_slots=False)
    mine = Assignment.objects.create(
        questionnaire=here.questionnaires[0], participant=here.judge(), state=S.SUBMITTED, pay=10
    )
    assert decisions.accept(assignment=mine, by=here.member(), now=NOW).state == S.ACCEPTED
    assert decisions.reject(assignment=mine, reason="No.", by=here.member(), now=NOW).state == S.REJECTED
    assert decisions.accept(assignment=mine, by=here.member(), now=NOW, note="Yes.").state == S.ACCEPTED
