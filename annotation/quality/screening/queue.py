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
from ...models import Assignment, AssignmentTransition, Campaign, JudgmentSums, Slot
from . import proposals
from .proposals import Proposal
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
# The number of questionnaires to load together when a whole list must be checked.
TOGETHER: Final = 200


@dataclass(frozen=True)
class QueueRow:
    """A submitted questionnaire with its flags."""

    assignment: Assignment
    proposal: Proposal
    is_held: bool


@dataclass(frozen=True)
class QueueCounts:
    """Number of questionnaires in each list; `open` are those in `waiting` that a reviewer has open."""

    waiting: int
    open: int
    surplus: int
    accepted: int
    rejected: int


def assignments_of(campaign: Campaign) -> QuerySet[Assignment]:
    """Return a campaign's assignments with the relations that screening shows."""
    along = ("questionnaire__campaign__study", "participant", "reviewer", "assignee")
    return Assignment.objects.filter(questionnaire__campaign=campaign).select_related(*along)


def transitions_of(campaign: Campaign) -> QuerySet[AssignmentTransition]:
    """Return the transitions of a campaign's assignments."""
    return AssignmentTransition.objects.filter(assignment__questionnaire__campaign=campaign)


def recent_decisions(campaign: Campaign, by: User, now: datetime) -> list[RecentDecision]:
    """Return a reviewer's decisions in a campaign that can still be undone, newest first."""
    return undo.recent_decisions(transitions_of(campaign), "assignment", by=by, now=now)


def selected(campaign: Campaign, names: Collection[str], by: User, now: datetime) -> Selection:
    """Return the assignments with these ids that await a decision, oldest first."""
    rows = list_assignments(campaign, "waiting").filter(external_id__in=names)
    return bulk.select(rows[: bulk.MOST], by, now)


def list_assignments(campaign: Campaign, name: str) -> QuerySet[Assignment]:
    """Return one list: waiting in order of submission, decided with the newest first.

    The list of withdrawn assignments contains those that awaited a decision when the judge's data were erased: they can
    still be paid.
    """
    order: Any = ("submitted_at", "id") if name in {"waiting", "surplus"} else ("-submitted_at", "-id")
    assignments = assignments_of(campaign).filter(state=LISTS[name]).order_by(*order)
    if name != "withdrawn":
        return assignments
    waited = AssignmentTransition.objects.filter(assignment=OuterRef("pk"), before=S.SUBMITTED, after=S.WITHDRAWN)
    return assignments.filter(Exists(waited)).annotate(paid=Sum("payments__amount"))


def unpaid(campaign: Campaign) -> int:
    """Count assignments that awaited a decision when the judge's data were erased and are still unpaid."""
    return list_assignments(campaign, "withdrawn").filter(pay__gt=0, payments__isnull=True).count()


def counts(campaign: Campaign, now: datetime) -> QueueCounts:
    """Count a campaign's questionnaires by list."""
    ended = JudgmentSums.objects.filter(campaign=campaign).order_by().values_list("state").annotate(n=Count("pk"))
    states = dict(ended)
    held = Assignment.objects.filter(questionnaire__campaign=campaign, state=S.SUBMITTED, reviewing_until__gt=now)
    sums = {name: states.get(state, 0) for name, state in LISTS.items() if name != "withdrawn"}
    return QueueCounts(**sums, open=held.count())


def inbox_entries(study: Study, member: User | None) -> list[InboxEntry]:
    """Return the number of questionnaires per campaign that await screening, for the study's inbox, in one query."""
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
    """Return assignments with their flags, which are stored as shown."""
    assignments_shown = list(assignments)
    flagged = proposals.record_flags(assignments_shown, now)
    return [
        QueueRow(each, proposals.propose(flagged[each.pk]), review_locks.is_locked(each, now))
        for each in assignments_shown
    ]


def proposing(campaign: Campaign, what: ProposedAction, now: datetime, *, where: Q = EVERYTHING) -> list[QueueRow]:
    """Return all waiting questionnaires with this proposal, loaded in batches."""
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
    """Assign the next questionnaire to a reviewer: the one that they have open, else the oldest free one."""

    def fits(assignments: Sequence[Assignment]) -> Sequence[Assignment]:
        return (
            assignments
            if what is None
            else [row.assignment for row in rows(assignments, now) if row.proposal.what is what]
        )

    candidates = assignments_of(campaign).filter(where, assignees.not_of_others(campaign.study, by))
    return REVIEW_LOCK.take_next(candidates, by, now, after=after, fits=fits)


def free_places(questionnaires: Iterable[int]) -> dict[int, int]:
    """Return the number of free slots of each questionnaire, which surplus ones could take."""
    slots = Slot.objects.open().filter(questionnaire__in=set(questionnaires)).order_by()
    return dict(slots.values_list("questionnaire").annotate(n=Count("pk")).values_list(F("questionnaire"), "n"))
