"""A campaign's assignments and questionnaires: collected, requested, lost."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from django.db.models import Count, F, QuerySet, Sum

from analysis.stats.proportions import Proportion, wilson

from ..enums import HOLDING, AssignmentState
from ..models import Assignment, AssignmentPayment, Campaign, JudgmentSums, Questionnaire, Slot

FIELDS: Final = (
    "pk",
    "external_id",
    "questionnaire_id",
    "participant_id",
    "participant__external_id",
    "state",
    "pay",
    "assigned_at",
    "submitted_at",
    "seconds",
    "active_seconds",
)


@dataclass(frozen=True, slots=True)
class AssignmentFacts:
    """An assignment. Money in minor units; unknown values are None."""

    pk: int
    external_id: str
    questionnaire: int
    participant_id: int
    participant: str
    state: str
    pay: int | None
    paid: int
    assigned_at: datetime | None
    submitted_at: datetime | None
    seconds: float | None
    active_seconds: float | None


@dataclass(frozen=True, slots=True)
class QuestionnaireFacts:
    """A questionnaire; `asked` is its number of slots."""

    pk: int
    name: str
    position: int | None
    asked: int


def load_assignments(campaign: Campaign, *, participants: Collection[int] | None = None) -> list[AssignmentFacts]:
    """Return the campaign's assignments in order of creation, all or those of some participants."""
    assignments = Assignment.objects.filter(questionnaire__campaign=campaign)
    payments = AssignmentPayment.objects.filter(assignment__questionnaire__campaign=campaign)
    if participants is not None:
        assignments = assignments.filter(participant__in=participants)
        payments = payments.filter(assignment__participant__in=participants)
    paid = dict(payments.order_by().values_list("assignment").annotate(sum=Sum("amount")))
    return [
        AssignmentFacts(*values[:7], paid.get(values[0], 0), *values[7:])  # type: ignore[call-arg] # as many as it has
        for values in assignments.order_by("pk").values_list(*FIELDS).iterator(chunk_size=2000)
    ]


def questionnaires_of(campaign: Campaign) -> QuerySet[Questionnaire]:
    """Return the campaign's questionnaires in the order of assignment."""
    return Questionnaire.objects.filter(campaign=campaign).order_by(F("position").asc(nulls_last=True), "pk")


def load_questionnaires(campaign: Campaign) -> list[QuestionnaireFacts]:
    """Return the campaign's questionnaires in the order of assignment."""
    questionnaires = questionnaires_of(campaign).annotate(asked=Count("slots"))
    return [QuestionnaireFacts(*row) for row in questionnaires.values_list("pk", "external_id", "position", "asked")]


S = AssignmentState
# Ended without a result, or without one that is needed.
CAME_TO_NOTHING = (S.RETURNED, S.TIMED_OUT, S.WITHDRAWN, S.SURPLUS)


@dataclass
class StateCounts:
    """Number of assignments in each state; `planned` is the target number of accepted ones."""

    name: str = ""
    planned: int = 0
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(AssignmentState.values, 0))

    @property
    def accepted(self) -> int:
        """Number of accepted assignments."""
        return self.counts[S.ACCEPTED]

    @property
    def waiting(self) -> int:
        """Number of submitted assignments that await review."""
        return self.counts[S.SUBMITTED]

    @property
    def in_work(self) -> int:
        """Number of assignments in progress."""
        return self.counts[S.ASSIGNED]

    @property
    def surplus(self) -> int:
        """Number of late submissions without a free slot."""
        return self.counts[S.SURPLUS]

    @property
    def lost(self) -> int:
        """Number of returned, timed-out and withdrawn assignments."""
        return self.counts[S.RETURNED] + self.counts[S.TIMED_OUT] + self.counts[S.WITHDRAWN]

    @property
    def rejected(self) -> int:
        """Number of rejected assignments."""
        return self.counts[S.REJECTED]

    @property
    def collected(self) -> int:
        """Number of accepted assignments and of those that await review."""
        return self.accepted + self.waiting

    @property
    def free(self) -> int:
        """Number of free slots."""
        return max(self.planned - sum(self.counts[state] for state in HOLDING), 0)

    @property
    def assigned_total(self) -> int:
        """Number of all assignments, regardless of outcome."""
        return sum(self.counts.values())

    @property
    def share(self) -> float | None:
        """Share of the requested questionnaires that are collected."""
        return self.collected / self.planned if self.planned else None

    @property
    def is_complete(self) -> bool:
        """Whether all requested questionnaires are accepted."""
        return bool(self.planned) and self.accepted >= self.planned


@dataclass(frozen=True)
class Rate:
    """The number of questionnaires with an outcome, and their share of those in `of`."""

    name: str
    label: str
    count: int
    share: Proportion
    of: str


def counts_by_questionnaire(rows: Iterable[AssignmentFacts], sheets: Sequence[QuestionnaireFacts]) -> list[StateCounts]:
    """Return the counts of each questionnaire, in the order of assignment."""
    counts = {sheet.pk: StateCounts(sheet.name, sheet.asked) for sheet in sheets}
    for row in rows:
        if row.questionnaire in counts:
            counts[row.questionnaire].counts[row.state] += 1
    return list(counts.values())


def count_states(questionnaires: Sequence[Questionnaire]) -> list[StateCounts]:
    """Return the counts of these questionnaires, in order, with two queries."""
    keys = [each.pk for each in questionnaires]
    slots = Slot.objects.filter(questionnaire__in=keys).order_by().values_list("questionnaire")
    planned = dict(slots.annotate(n=Count("pk")))
    counts = {each.pk: StateCounts(each.external_id, planned.get(each.pk, 0)) for each in questionnaires}
    states = Assignment.objects.filter(questionnaire__in=keys).order_by().values_list("questionnaire", "state")
    for questionnaire, state, number in states.annotate(n=Count("pk")):
        counts[questionnaire].counts[state] = number
    return list(counts.values())


def total(standings: Iterable[StateCounts]) -> StateCounts:
    """Return the sum of the counts."""
    whole = StateCounts()
    for each in standings:
        whole.planned += each.planned
        for state, number in each.counts.items():
            whole.counts[state] += number
    return whole


def total_counts(campaigns: Iterable[int]) -> dict[int, StateCounts]:
    """Return the counts of whole campaigns, by key, with three queries.

    Each assignment that is not in progress has a row of sums, which one index contains.
    """
    counts = {key: StateCounts() for key in campaigns}
    slots = Slot.objects.filter(campaign__in=counts).order_by().values_list("campaign")
    for campaign, number in slots.annotate(n=Count("pk")):
        counts[campaign].planned = number
    ended = JudgmentSums.objects.filter(campaign__in=counts).order_by().values_list("campaign", "state")
    for campaign, state, number in ended.annotate(n=Count("pk")):
        counts[campaign].counts[state] = number
    in_progress = Assignment.objects.filter(state=S.ASSIGNED, questionnaire__campaign__in=counts).order_by()
    for campaign, number in in_progress.values_list("questionnaire__campaign").annotate(n=Count("pk")):
        counts[campaign].counts[S.ASSIGNED] = number
    return counts


def rates(whole: StateCounts) -> list[Rate]:
    """Return the rates of outcomes: losses among assignments that have ended, rejections among decided ones.

    Shares have score (Wilson) intervals, which are valid for small numbers and stay between 0 and 1.
    """
    ended = whole.assigned_total - whole.in_work
    decided = whole.accepted + whole.rejected
    of_ended, of_decided = "finished or returned", "decided"
    labels = {
        S.RETURNED: "Returned",
        S.TIMED_OUT: "Timed out",
        S.WITHDRAWN: "Withdrawn by their judges",
        S.SURPLUS: "Surplus (late and not needed)",
    }
    figures = [
        Rate(state.lower(), labels[state], whole.counts[state], wilson(whole.counts[state], ended), of_ended)
        for state in CAME_TO_NOTHING
    ]
    return [
        *figures,
        Rate("rejected", "Rejected", whole.rejected, wilson(whole.rejected, decided), of_decided),
        Rate("accepted", "Accepted", whole.accepted, wilson(whole.accepted, decided), of_decided),
    ]
