"""A campaign's assignments and questionnaires: collected, requested, lost."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from django.db.models import Count, F, IntegerField, OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce

from analysis.stats.proportions import Proportion, wilson

from ..enums import HOLDING, AssignmentState
from ..models import Assignment, AssignmentPayment, Campaign, Questionnaire

FIELDS: Final = (
    "pk",
    "external_id",
    "questionnaire_id",
    "participant_id",
    "participant__external_id",
    "state",
    "pay",
    "paid",
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


def load_assignments(campaign: Campaign) -> list[AssignmentFacts]:
    """Return the campaign's assignments in order of creation."""
    sums = AssignmentPayment.objects.filter(assignment=OuterRef("pk")).order_by().values("assignment")
    paid = Coalesce(Subquery(sums.annotate(sum=Sum("amount")).values("sum"), output_field=IntegerField()), 0)
    assignments = Assignment.objects.filter(questionnaire__campaign=campaign).annotate(paid=paid).order_by("pk")
    return [AssignmentFacts(*values) for values in assignments.values_list(*FIELDS).iterator(chunk_size=2000)]


def load_questionnaires(campaign: Campaign) -> list[QuestionnaireFacts]:
    """Return the campaign's questionnaires in the order of assignment."""
    questionnaires = Questionnaire.objects.filter(campaign=campaign).annotate(asked=Count("slots"))
    order = (F("position").asc(nulls_last=True), "pk")
    return [
        QuestionnaireFacts(*row)
        for row in questionnaires.order_by(*order).values_list("pk", "external_id", "position", "asked")
    ]


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


def total(standings: Iterable[StateCounts]) -> StateCounts:
    """Return the sum of the counts."""
    whole = StateCounts()
    for each in standings:
        whole.planned += each.planned
        for state, number in each.counts.items():
            whole.counts[state] += number
    return whole


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
