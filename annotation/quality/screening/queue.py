"""The screening queue, with flags and review locks."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db.models import Count, Exists, F, Min, OuterRef, Q, QuerySet, Sum
from django.urls import reverse

from crowdrag.assignments import assignees, bulk, review_locks, undo
from crowdrag.assignments.bulk import Selection
from crowdrag.assignments.undo import RecentDecision
from crowdrag.studies.models import Study, User
from crowdrag.studies.navigation import InboxEntry

from ...enums import AssignmentState
from ...models import Assignment, AssignmentTransition, Campaign, Slot
from . import flags
from .flags import Proposal
from .signals import ProposedAction

S = AssignmentState
REVIEW_LOCK: Final = review_locks.ReviewLock(Assignment, frozenset({S.SUBMITTED}))
LISTS: Final = {
    "waiting": S.SUBMITTED,
    "surplus": S.SURPLUS,
    "accepted": S.ACCEPTED,
    "rejected": S.REJECTED,
    "withdrawn": S.WITHDRAWN,
}
EVERYTHING: Final = Q()
# So many are read together when all of a list has to be looked at.
TOGETHER: Final = 200


@dataclass(frozen=True)
class QueueRow:
    """A questionnaire that was handed in, with what speaks against it."""

    assignment: Assignment
    proposal: Proposal
    is_held: bool


@dataclass(frozen=True)
class QueueCounts:
    """How many stand where; `open` are those of `waiting` that a reviewer looks at now."""

    waiting: int
    open: int
    surplus: int
    accepted: int
    rejected: int


def assignments_of(campaign: Campaign) -> QuerySet[Assignment]:
    """Return a campaign's assignments with what screening shows of them."""
    along = ("questionnaire__campaign__study", "participant", "reviewer", "assignee")
    return Assignment.objects.filter(questionnaire__campaign=campaign).select_related(*along)


def transitions_of(campaign: Campaign) -> QuerySet[AssignmentTransition]:
    """Return the transitions of a campaign's assignments."""
    return AssignmentTransition.objects.filter(assignment__questionnaire__campaign=campaign)


def recent_decisions(campaign: Campaign, by: User, now: datetime) -> list[RecentDecision]:
    """Return what a reviewer decided in a campaign and can still undo, the latest first."""
    return undo.recent_decisions(transitions_of(campaign), "assignment", by=by, now=now)


def selected(campaign: Campaign, names: Collection[str], by: User, now: datetime) -> Selection:
    """Return the assignments of these names that await a decision, the oldest first."""
    rows = list_assignments(campaign, "waiting").filter(external_id__in=names)
    return bulk.select(rows[: bulk.MOST], by, now)


def list_assignments(campaign: Campaign, name: str) -> QuerySet[Assignment]:
    """Return one list: what waits, handed in first; what was decided, latest first.

    Of what was withdrawn it holds what waited for a decision when its judge had all erased: it can still be paid.
    """
    order: Any = ("submitted_at", "id") if name in {"waiting", "surplus"} else ("-submitted_at", "-id")
    assignments = assignments_of(campaign).filter(state=LISTS[name]).order_by(*order)
    if name != "withdrawn":
        return assignments
    waited = AssignmentTransition.objects.filter(assignment=OuterRef("pk"), before=S.SUBMITTED, after=S.WITHDRAWN)
    return assignments.filter(Exists(waited)).annotate(paid=Sum("payments__amount"))


def unpaid(campaign: Campaign) -> int:
    """Count what waited for a decision when its judge had all erased, and was not paid since."""
    return list_assignments(campaign, "withdrawn").filter(pay__gt=0, payments__isnull=True).count()


def counts(campaign: Campaign, now: datetime) -> QueueCounts:
    """Count a campaign's questionnaires by where they stand."""
    sums = {name: Count("id", filter=Q(state=state)) for name, state in LISTS.items() if name != "withdrawn"}
    held = Count("id", filter=Q(state=S.SUBMITTED, reviewing_until__gt=now))
    return QueueCounts(**assignments_of(campaign).order_by().aggregate(**sums, open=held))


def inbox_entries(study: Study, member: User | None) -> list[InboxEntry]:
    """Return how many questionnaires of each campaign wait for screening, for the study's inbox; one query."""
    submitted = Assignment.objects.filter(state=S.SUBMITTED, questionnaire__campaign__study=study)
    campaign = "questionnaire__campaign"
    assigned = Count("id", filter=assignees.of(member))
    counted = submitted.values_list(campaign, f"{campaign}__name").order_by(campaign)
    entries = []
    for pk, name, n, of_member, oldest in counted.annotate(
        n=Count("id"), assigned=assigned, oldest=Min("submitted_at")
    ):
        url = reverse("screening", args=[study.slug, pk])
        assigned_url = f"{url}?assigned={assignees.MINE}"
        entries.append(InboxEntry("Questionnaires to screen", n, url, name, of_member, assigned_url, oldest))
    return entries


def rows(assignments: Iterable[Assignment], now: datetime) -> list[QueueRow]:
    """Return assignments with what speaks against each, which is kept as it is shown."""
    assignments_shown = list(assignments)
    flagged = flags.record_flags(assignments_shown, now)
    return [
        QueueRow(each, flags.propose(flagged[each.pk]), review_locks.is_locked(each, now)) for each in assignments_shown
    ]


def proposing(campaign: Campaign, what: ProposedAction, now: datetime, *, where: Q = EVERYTHING) -> list[QueueRow]:
    """Return all that waits of which this is proposed, read in portions."""
    waiting = list(list_assignments(campaign, "waiting").filter(where))
    portions = (waiting[start : start + TOGETHER] for start in range(0, len(waiting), TOGETHER))
    return [row for portion in portions for row in rows(portion, now) if row.proposal.what is what]


def take_next(
    *,
    campaign: Campaign,
    by: User,
    now: datetime,
    what: ProposedAction | None = None,
    where: Q = EVERYTHING,
    after: Assignment | None = None,
) -> Assignment | None:
    """Give a reviewer the next questionnaire: the one that they hold already, else the oldest that nobody holds."""

    def fits(assignments: Sequence[Assignment]) -> Sequence[Assignment]:
        return (
            assignments
            if what is None
            else [row.assignment for row in rows(assignments, now) if row.proposal.what is what]
        )

    candidates = assignments_of(campaign).filter(where, assignees.not_of_others(campaign.study, by))
    return REVIEW_LOCK.take_next(candidates, by, now, after=after, fits=fits)


def free_places(questionnaires: Iterable[int]) -> dict[int, int]:
    """Return how many places of each questionnaire nobody holds: what a surplus one could be taken up into."""
    slots = Slot.objects.open().filter(questionnaire__in=set(questionnaires)).order_by()
    return dict(slots.values_list("questionnaire").annotate(n=Count("pk")).values_list(F("questionnaire"), "n"))
