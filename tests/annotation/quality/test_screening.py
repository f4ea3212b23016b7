"""Screening: what is known of what was handed in, decisions, platforms, and several reviewers at once."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.enums import AssignmentState as S
from annotation.judging import decisions
from annotation.models import Assignment, CheckAnswer, ItemTime, LiveCompetence
from annotation.quality.screening import dossier, evidence, proposals, queue, services, signals
from annotation.quality.screening.signals import ProposedAction
from crowdrag.assignments.lifecycle import total_paid
from crowdrag.assignments.problems import UnderReview, WorkProblem
from crowdrag.recruitment.enums import ActionKind, ActionState, RejectionCategory
from crowdrag.recruitment.models import PlatformAction
from crowdrag.recruitment.platform_actions import ActionError
from crowdrag.studies.enums import DecisionKind, Role
from crowdrag.studies.models import Participant
from tests.annotation import judge_actions, open_campaign
from tests.annotation.quality import planted_judges
from tests.annotation.quality.screened import LONG, REASON, advertised, crowd, handed_in, sent, state, wide
from tests.annotation.shared import made_once
from tests.concurrency import together
from tests.factories import NOW, UserFactory

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(hours=1)
MINUTE = timedelta(minutes=1)


stored, here = made_once(lambda: open_campaign.world(k=3))


def named(assignment: Assignment) -> set[str]:
    return {each.name for each in signals.signals_of(evidence.collect_work([assignment])[assignment.pk])}


def orders() -> list[tuple[str, dict[str, Any]]]:
    rows = PlatformAction.objects.exclude(state=ActionState.DROPPED).order_by("pk")
    return [(row.kind, {k: v for k, v in row.details.items() if k != "participant"}) for row in rows]


@pytest.mark.extended
def test_planted_judges_among_honest_ones() -> None:
    here = wide(k=8)
    kinds: list[planted_judges.Judge] = [planted_judges.honest] * 6
    made = crowd(here, [*kinds, planted_judges.always_left, planted_judges.neither_where_allowed])
    found = [named(each) for each in made]
    assert found[:6] == [set()] * 6
    assert {"straight_lining", "one_sided"} <= found[6]
    assert {"straight_lining", "disagrees"} <= found[7]
    # All at once and one by one is the same.
    together = evidence.collect_work(made)
    assert {each.pk: together[each.pk] for each in made} == {
        each.pk: evidence.collect_work([each])[each.pk] for each in made
    }


def test_others_are_those_who_were_not_rejected(here: open_campaign.World) -> None:
    by = here.member()
    first, second, third = (handed_in(here, values=lambda _i, _d, v=v: v) for v in (1, 1, -1))

    def others(one: Assignment) -> set[tuple[tuple[int, int], ...]]:
        work = evidence.collect_work([Assignment.objects.select_related("questionnaire__campaign").get(pk=one.pk)])[
            one.pk
        ]
        return {tuple(sorted(each.items())) for each in work.others.values()}

    assert others(first) == {((-1, 1), (1, 1))}
    decisions.reject(assignment=third, reason="No.", by=by, now=LATER)
    assert others(first) == {((1, 1),)}
    decisions.exclude(assignment=second, reason="A friend.", by=by, now=LATER)
    assert others(first) == set()
    # Who is rejected is compared with those who are not, and not with themselves.
    assert others(third) == {((1, 1),)}


def test_times_checks_and_competence_are_read(here: open_campaign.World) -> None:
    sheet = here.questionnaires[0]
    judge_actions.add_check(sheet, 0)
    done = handed_in(here, after=timedelta(seconds=90))
    items = [entry.item_id for entry in sheet.entries.order_by("position")]
    for visit in ("a", "b"):
        ItemTime.objects.create(
            assignment=done, item_id=items[0], visit=visit, active_seconds=10, first_at=NOW, last_at=NOW
        )
    for dimension in here.dimensions:
        LiveCompetence.objects.create(
            campaign=here.campaign, participant=done.participant, dimension=dimension, spam_probability=0.8,
            judgments=3, computed_at=NOW,
        )  # fmt: skip
    work = evidence.collect_work([done])[done.pk]
    assert work.item_seconds == {items[0]: 20}
    assert (work.seconds, work.minimum_seconds, work.fails_needed) == (90, 600, 2)
    assert [check.passed for check in work.checks] == [True]
    assert [each.spam for each in work.trust] == [0.8, 0.8]
    assert named(done) == {"too_fast", "low_competence"}
    assert proposals.propose(signals.signals_of(work)).what is ProposedAction.REJECT


def test_what_was_erased_failed_no_check(here: open_campaign.World) -> None:
    judge_actions.add_check(here.questionnaires[0], 0)
    done = handed_in(here)
    CheckAnswer.objects.all().delete()
    assert named(done) == {"failed_checks"}
    Participant.objects.filter(pk=done.participant_id).update(erased_at=LATER, withdrawn_at=LATER)
    assert named(Assignment.objects.get(pk=done.pk)) == set()


def test_signals_are_kept_with_a_decision_on_the_analysis(here: open_campaign.World) -> None:
    clean, fast, left_out = handed_in(here), handed_in(here, after=MINUTE), handed_in(here, after=MINUTE)
    by, reason = here.member(), "Too fast to be read."
    for one in (clean, fast):
        services.reject(assignment=one, reason=reason, by=by, now=LATER)
    assert clean.decisions.get(about=DecisionKind.INCLUDE).evidence == {}
    assert fast.decisions.get(about=DecisionKind.INCLUDE).evidence["too_fast"]["limit"] == 600
    made = services.include(assignment=left_out, holds=False, reason=reason, by=by, now=LATER)
    assert made.evidence["too_fast"]["seconds"] == 60
    services.accept(assignment=left_out, by=by, now=LATER)
    left_out.refresh_from_db()
    # Paid, and left out: two decisions.
    assert (left_out.state, left_out.is_included, total_paid(left_out)) == (S.ACCEPTED, False, 400)
    assert orders() == []


def test_a_platform_is_told_once(here: open_campaign.World) -> None:
    by, done = here.member(), sent(here)
    for _ in range(2):
        services.accept(assignment=done, by=by, now=LATER)
    assert orders() == [(ActionKind.APPROVE, {})]
    bonus = {"amount": 50, "reason": "An item was broken."}
    assert len({services.pay(assignment=done, **bonus, by=by, now=LATER).pk for _ in range(2)}) == 1
    assert orders()[1:] == [(ActionKind.BONUS, bonus)]
    # What the platform cannot be told is not done, and who came otherwise is none of its business.
    with pytest.raises(ActionError):
        services.pay(assignment=done, amount=20_000_000, reason="Far too much.", by=by, now=LATER)
    assert (total_paid(done), len(orders())) == (450, 2)
    other = handed_in(here)
    services.reject(assignment=other, reason="Short.", by=by, now=LATER)
    assert (state(other), len(orders())) == (S.REJECTED, 2)


def test_a_platform_is_told_why_at_length_and_by_category(here: open_campaign.World) -> None:
    by, done = here.member(), sent(here, after=MINUTE)
    low = RejectionCategory.LOW_EFFORT
    for wrong, given in (
        (services.ShortReason, {"reason": "Too fast.", "category": low}),
        (services.NeedsCategory, {"reason": REASON, "category": ""}),
        (services.NeedsCategory, {"reason": REASON, "category": "BECAUSE"}),
        (services.SingleCheck, {"reason": REASON, "category": RejectionCategory.FAILED_CHECK}),
    ):
        with pytest.raises(wrong):
            services.reject(assignment=done, by=by, now=LATER, **given)
    assert (state(done), orders()) == (S.SUBMITTED, [])
    services.reject(assignment=done, reason=REASON, category=low, pay_part=150, by=by, now=LATER)
    assert orders() == [
        (ActionKind.REJECT, {"category": low, "message": REASON}),
        (ActionKind.BONUS, {"amount": 150, "reason": "Part of the pay."}),
    ]


def test_what_is_paid_in_full_all_the_same_is_approved_there(here: open_campaign.World) -> None:
    done = sent(here)
    services.reject(assignment=done, reason="Misread the task.", pay_part=400, by=here.member(), now=LATER)
    assert (state(done), orders()) == (S.REJECTED, [(ActionKind.APPROVE, {})])


def test_what_was_paid_beside_counts_with_a_rejection(here: open_campaign.World) -> None:
    by, done = here.member(), sent(here)
    services.pay(assignment=done, amount=50, reason="An item was broken.", by=by, now=LATER)
    assert (dossier.owed_if_accepted(done), dossier.left_of_pay(done)) == (400, 350)
    services.reject(assignment=done, reason="Misread the task.", pay_part=350, by=by, now=LATER)
    assert [kind for kind, _details in orders()] == [ActionKind.BONUS, ActionKind.APPROVE]
    assert total_paid(done) == 400


def test_a_contested_rejection_is_reversed(here: open_campaign.World) -> None:
    by, unsent, sent_before = here.member(), sent(here), sent(here, "visit-2")
    for one in (unsent, sent_before):
        services.reject(assignment=one, reason=REASON, category=RejectionCategory.OTHER, by=by, now=LATER)
    PlatformAction.objects.filter(submission__external_id="visit-2").update(state=ActionState.DONE)
    # Not sent yet: the rejection is dropped and the approval takes its place.
    services.accept(assignment=unsent, note="You were right.", by=by, now=LATER)
    assert (state(unsent), orders()[-1]) == (S.ACCEPTED, (ActionKind.APPROVE, {}))
    # Sent already, and there is no way back on the platform: what is owed is paid as a bonus.
    services.accept(assignment=sent_before, note="You were right.", by=by, now=LATER)
    assert (state(sent_before), total_paid(sent_before)) == (S.ACCEPTED, 400)
    assert [kind for kind, _details in orders()] == [ActionKind.REJECT, ActionKind.APPROVE, ActionKind.BONUS]
    assert orders()[-1][1]["amount"] == 400


def test_what_was_accepted_and_is_taken_back_stays_paid(here: open_campaign.World) -> None:
    by, done = here.member(), sent(here)
    services.accept(assignment=done, by=by, now=LATER)
    services.reject(assignment=done, reason="A bot, as it turned out.", by=by, now=LATER)
    assert (state(done), total_paid(done), orders()) == (S.REJECTED, 400, [(ActionKind.APPROVE, {})])


def test_all_that_nothing_speaks_against_is_accepted(here: open_campaign.World) -> None:
    by, colleague = here.member(), UserFactory()
    clean, fast, held, late = (
        handed_in(here, after=after, start=start)
        for after, start in ((LONG, NOW), (MINUTE, NOW), (LONG, NOW), (LONG, NOW + timedelta(days=1)))
    )
    assert queue.REVIEW_LOCK.hold(held, colleague, LATER)
    assert [row.assignment for row in queue.proposing(here.campaign, ProposedAction.REJECT, LATER)] == [fast]
    done = services.accept_clean(campaign=here.campaign, until=LATER, by=by, now=LATER)
    assert (done.done, done.passed_over) == (1, 1)
    assert [state(each) for each in (clean, fast, held, late)] == [S.ACCEPTED, S.SUBMITTED, S.SUBMITTED, S.SUBMITTED]
    assert clean.transitions.latest("pk").by == by
    assert services.accept_clean(campaign=here.campaign, until=LATER, by=by, now=LATER).done == 0


def test_a_flag_that_was_shown_stays_when_others_are_rejected() -> None:
    here = wide(k=5)
    by = here.member()
    one = handed_in(here, values=lambda item, dimension: 2 * ((item + dimension) % 2) - 1)
    others = [handed_in(here) for _ in range(3)]  # all of one mind, and never of the first's
    shown = {
        row.assignment: row.proposal for row in queue.rows(queue.list_assignments(here.campaign, "waiting"), LATER)
    }
    assert "disagrees" in {signal.name for signal in shown[one].reasons}
    for each in others:
        services.reject(assignment=each, reason="Not read.", by=by, now=LATER)
    assert "disagrees" not in {signal.name for signal in signals.signals_of(evidence.collect_work([one])[one.pk])}
    assert services.accept_clean(campaign=here.campaign, until=LATER, by=by, now=LATER).done == 0
    assert state(one) == S.SUBMITTED
    assert [row.assignment for row in queue.proposing(here.campaign, ProposedAction.LOOK, LATER)] == [one]
    services.accept(assignment=one, by=by, now=LATER)  # a person decides
    assert state(one) == S.ACCEPTED


def test_the_queue_gives_what_is_asked_for(here: open_campaign.World) -> None:
    by, colleague = here.member(), here.member(Role.EDITOR)
    fast = handed_in(here, after=MINUTE)
    clean = handed_in(here)
    assert queue.take_next(campaign=here.campaign, by=by, now=LATER, what=ProposedAction.ACCEPT) == clean
    assert queue.take_next(campaign=here.campaign, by=colleague, now=LATER, what=ProposedAction.ACCEPT) is None
    assert queue.take_next(campaign=here.campaign, by=colleague, now=LATER) == fast
    assert queue.take_next(campaign=here.campaign, by=by, now=LATER) == clean  # goes on with what is open
    assert queue.take_next(campaign=here.campaign, by=by, now=LATER, after=clean) is None
    counted = queue.counts(here.campaign, LATER)
    assert (counted.waiting, counted.open, counted.surplus) == (2, 2, 0)
    with pytest.raises(UnderReview):
        services.accept(assignment=fast, by=by, now=LATER)


@pytest.mark.extended
@pytest.mark.django_db(transaction=True)
def test_many_reviewers_at_once_never_get_the_same() -> None:
    here = open_campaign.world(k=4)
    made = {handed_in(here, start=NOW + n * MINUTE) for n in range(6)}
    reviewers = [here.member() for _ in range(9)]
    taken = together([lambda by=by: queue.take_next(campaign=here.campaign, by=by, now=LATER) for by in reviewers])
    assert sorted(one.pk for one in taken if one) == sorted(one.pk for one in made)


@pytest.mark.django_db(transaction=True)
def test_of_two_decisions_at_once_one_holds() -> None:
    """Two reviewers press at the same moment: one decides, the other is told, and money is owed once."""
    here = open_campaign.world(k=2)
    advertised(here)
    one, other = here.member(), here.member()
    rejection = {"reason": REASON, "category": RejectionCategory.OTHER, "by": other, "now": LATER}
    for number in range(3):
        done = sent(here, f"visit-{number}")
        fresh = [Assignment.objects.get(pk=done.pk) for _ in range(2)]
        accepted, rejected = together(
            [
                lambda fresh=fresh: services.accept(assignment=fresh[0], by=one, now=LATER),
                lambda fresh=fresh: services.reject(assignment=fresh[1], **rejection),
            ]
        )
        refused = [isinstance(each, WorkProblem) for each in (accepted, rejected)]
        # A rejection may follow on an acceptance: then the money stays owed, and the platform was told to pay.
        kinds = [row.kind for row in PlatformAction.objects.filter(submission__external_id=f"visit-{number}")]
        if state(done) is S.ACCEPTED:
            assert (refused, kinds, total_paid(done)) == ([False, True], [ActionKind.APPROVE], 400)
        elif total_paid(done):
            assert (refused, kinds) == ([False, False], [ActionKind.APPROVE])
        else:
            assert (refused[1], kinds) == (False, [ActionKind.REJECT])


def test_the_dossier_shows_all_that_is_known(here: open_campaign.World) -> None:
    first = handed_in(here, values=lambda _i, _d: 1)
    for _ in range(2):
        handed_in(here, values=lambda _i, _d: -1)
    found = dossier.collect(queue.assignments_of(here.campaign).get(pk=first.pk))
    assert [len(entry.questions) for entry in found.entries] == [2, 2, 2]
    question = found.entries[0].questions[0]
    assert (question.answer, question.others, question.is_alone, question.expected) == ("B", 2, True, "")
    assert [(option.label, option.others) for option in question.options] == [("A", 2), ("neither", 0), ("B", 0)]
    assert [each.cause for each in found.history][-1] == "submitted"
    assert (found.paid, found.from_platform) == (0, False)
    assert dossier.owed_if_accepted(first) == 400


def test_many_are_read_with_as_many_queries_as_few() -> None:
    here = open_campaign.world(k=6)
    made = [handed_in(here) for _ in range(6)]
    asked = []
    for count in (1, 6):
        found = list(queue.assignments_of(here.campaign).filter(pk__in=[each.pk for each in made[:count]]))
        with CaptureQueriesContext(connection) as seen:
            assert len(queue.rows(found, LATER)) == count
        asked.append(len(seen))
    assert asked[0] == asked[1] <= 14
