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
    """A questionnaire as its judge sees it; `number` counts the judge's questionnaires in the campaign, from 1.

    `was_reversed` is whether it was accepted after a rejection; `besides` are extra payments with their reasons.
    """

    assignment: Assignment
    number: int
    note: str
    paid: int
    answered: int
    was_reversed: bool = False
    besides: list[AssignmentPayment] = field(default_factory=list)

    @property
    def status(self) -> str:
        """The state in the judge's words."""
        return self.assignment.status

    @property
    def can_contest(self) -> bool:
        """Whether there is a decision that can be contested."""
        return self.assignment.state == S.REJECTED

    @property
    def is_late(self) -> bool:
        """Whether it expired or was returned with answers that can still be submitted."""
        return self.assignment.state in LATE and self.answered > 0 and not self.assignment.participant.withdrawn_at


@dataclass(frozen=True)
class JudgeOverview:
    """All questionnaires of a judge in a campaign, newest first, with sums in minor units.

    `obstacle` is why they can get no further one now. `payer` is the platform that pays them, if any. `way_back` is how
    they finish their visit there, once no work is open and something is submitted or nothing can be done.
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
        """Those that expired or were returned with answers."""
        return [row for row in self.rows if row.is_late]


def judge_overview(campaign: Campaign, participant: Participant) -> JudgeOverview:
    """Return a judge's overview of their questionnaires in a campaign."""
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
    """Return a participant's questionnaires in a campaign, oldest first."""
    assignments = Assignment.objects.filter(questionnaire__campaign=campaign, participant=participant)
    ordered = (
        assignments.select_related("participant")
        .prefetch_related("transitions", "payments")
        .order_by("assigned_at", "pk")
    )
    return [_row(assignment, number) for number, assignment in enumerate(ordered, start=1)]


def questionnaire_row(assignment: Assignment) -> QuestionnaireRow:
    """Return one questionnaire of a participant with its number."""
    rows = questionnaire_rows(assignment.questionnaire.campaign, assignment.participant)
    return next(each for each in rows if each.assignment.pk == assignment.pk)


def is_trained(campaign: Campaign, participant: Participant) -> bool:
    """Return whether a participant has completed a campaign's training, if there is any."""
    return practice.is_done(campaign=campaign, participant=participant)


def platform_session(campaign: Campaign, participant: Participant) -> str:
    """Return the platform's id of a participant's visit for a campaign; empty if they did not come from a platform."""
    arrivals = Arrival.objects.filter(participant=participant, link__purpose=claims.purpose(campaign))
    return arrivals.order_by("-last_at", "-pk").values_list("session", flat=True).first() or ""


def _row(assignment: Assignment, number: int) -> QuestionnaireRow:
    # Show only notes by researchers with a decision, not the judge's own reason for returning.
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
