"""A judge's own questionnaires: state, messages, earnings."""

from dataclasses import dataclass, field

from crowdrag.assignments import undo
from crowdrag.assignments.lifecycle import extra_payments
from crowdrag.assignments.problems import WorkProblem
from crowdrag.studies.entry import links
from crowdrag.studies.enums import Outcome
from crowdrag.studies.models import Arrival, Participant

from ..enums import AssignmentState
from ..models import Assignment, AssignmentPayment, Campaign
from ..quality import practice
from . import claims
from .lifecycle import ASSIGNMENTS

S = AssignmentState
LATE = (S.TIMED_OUT, S.RETURNED)
DONE = frozenset({S.SUBMITTED, S.ACCEPTED, S.REJECTED, S.SURPLUS})


@dataclass(frozen=True)
class QuestionnaireRow:
    """A questionnaire as its judge sees it; `number` counts theirs in the campaign, from 1.

    `was_reversed` is whether it was rejected once and accepted after all; `besides` is what was paid beside the
    promised pay, with words for them.
    """

    assignment: Assignment
    number: int
    note: str
    paid: int
    answered: int
    was_reversed: bool = False
    besides: list[AssignmentPayment] = field(default_factory=list)

    @property
    def can_contest(self) -> bool:
        """Whether there is a decision to be contested."""
        return self.assignment.state == S.REJECTED

    @property
    def is_late(self) -> bool:
        """Whether it went back with answers in it, which can still be handed in."""
        return self.assignment.state in LATE and self.answered > 0


@dataclass(frozen=True)
class JudgeOverview:
    """All of somebody's questionnaires in a campaign, the latest first, and the sums: minor units.

    `obstacle` is why they get no further one now; `payer` the platform that pays them, if one does; `way_back` how
    they end their visit there, once there is nothing in hand and something is done, or nothing can be done.
    """

    rows: list[QuestionnaireRow]
    earned: int
    awaited: int
    in_hand: Assignment | None
    obstacle: WorkProblem | None
    is_trained: bool
    payer: str
    way_back: links.CompletionTarget | None

    @property
    def late(self) -> list[QuestionnaireRow]:
        """Those that went back with answers in them."""
        return [row for row in self.rows if row.is_late]


def judge_overview(campaign: Campaign, participant: Participant) -> JudgeOverview:
    """Return what a judge reads of their questionnaires in a campaign."""
    assignments = questionnaire_rows(campaign, participant)
    visit = platform_session(campaign, participant)
    obstacle = claims.obstacle(campaign=campaign, participant=participant, session=visit)
    in_hand = next((row.assignment for row in assignments if row.assignment.state == S.ASSIGNED), None)
    is_done = any(row.assignment.state in DONE and row.assignment.session == visit for row in assignments)
    way_back = None
    if in_hand is None and (is_done or obstacle):
        outcome = Outcome.COMPLETED if is_done else Outcome.NO_WORK
        way_back = links.participant_completion_target(participant=participant, outcome=outcome)
    return JudgeOverview(
        rows=assignments[::-1],
        earned=ASSIGNMENTS.total_earned(participant, questionnaire__campaign=campaign),
        awaited=ASSIGNMENTS.total_awaited(participant, questionnaire__campaign=campaign),
        in_hand=in_hand,
        obstacle=obstacle,
        is_trained=is_trained(campaign, participant),
        payer=links.paying_platform(participant),
        way_back=way_back,
    )


def questionnaire_rows(campaign: Campaign, participant: Participant) -> list[QuestionnaireRow]:
    """Return somebody's questionnaires in a campaign, the first one first."""
    assignments = Assignment.objects.filter(questionnaire__campaign=campaign, participant=participant)
    ordered = assignments.prefetch_related("transitions", "payments").order_by("assigned_at", "pk")
    return [_row(assignment, number) for number, assignment in enumerate(ordered, start=1)]


def questionnaire_row(assignment: Assignment) -> QuestionnaireRow:
    """Return one of somebody's questionnaires with its number."""
    rows = questionnaire_rows(assignment.questionnaire.campaign, assignment.participant)
    return next(each for each in rows if each.assignment.pk == assignment.pk)


def is_trained(campaign: Campaign, participant: Participant) -> bool:
    """Say whether somebody is through with what a campaign lets people learn from, if it has anything."""
    return practice.is_done(campaign=campaign, participant=participant)


def platform_session(campaign: Campaign, participant: Participant) -> str:
    """Return what the platform calls somebody's visit for a campaign; empty where none sent them."""
    arrivals = Arrival.objects.filter(participant=participant, link__purpose=claims.purpose(campaign))
    return arrivals.order_by("-last_at", "-pk").values_list("session", flat=True).first() or ""


def _row(assignment: Assignment, number: int) -> QuestionnaireRow:
    # What somebody wrote who gave it back is theirs; what a researcher wrote who decided is for them.
    moves = undo.standing(sorted(assignment.transitions.all(), key=lambda one: one.pk))
    notes = [each.note for each in moves if each.by_id]
    return QuestionnaireRow(
        assignment=assignment,
        number=number,
        note=notes[-1] if notes else "",
        paid=sum(payment.amount for payment in assignment.payments.all()),
        answered=assignment.judgments.count() if assignment.state in LATE else 0,
        besides=extra_payments(assignment),
        was_reversed=any(each.before == S.REJECTED for each in moves),
    )
