"""Judging as a recruitment platform sees it: freed slots, people needed, state of the work.

A slot is freed only if nothing was submitted.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from django.db import transaction

from crowdrag.recruitment import listeners
from crowdrag.recruitment.enums import LocalStatus
from crowdrag.recruitment.listeners import RecruitmentNeeds, StatusChanged, Visit
from crowdrag.studies.models import Participant, Study

from ..enums import AssignmentState
from ..models import Assignment, Campaign, Slot
from .lifecycle import ASSIGNMENTS

S = AssignmentState
# The platforms' names for visits that ended without submission. Other statuses change nothing here.
LOST: Final = {"RETURNED": S.RETURNED, "TIMED-OUT": S.TIMED_OUT}
CAUSES: Final = {S.RETURNED: "returned on the platform", S.TIMED_OUT: "timed out on the platform"}


@transaction.atomic
def release_visit(
    *,
    session: str,
    status: str,
    at: datetime,
    now: datetime,
    campaign: Campaign | None = None,
    participant: Participant | None = None,
) -> list[Assignment]:
    """Free the slot of a visit that is over on the platform; return the changed assignments.

    `participant` is the visitor, if known, so that a status never frees another participant's slot. Repeated, late or
    reordered updates have the same effect: submitted work stays submitted, and work begun after `at` is not affected.
    """
    after = LOST.get(status.upper().replace("_", "-").replace(" ", "-"))
    if not session or after is None:
        return []
    meant = Assignment.objects.filter(session=session, questionnaire__campaign__has_slots=True)
    if campaign is not None:
        meant = meant.filter(questionnaire__campaign=campaign)
    if participant is not None:
        meant = meant.filter(participant=participant)
    changed = []
    for assignment in meant.order_by("participant_id", "pk"):
        held = ASSIGNMENTS.lock(assignment)
        begun_later = held.assigned_at is not None and held.assigned_at > at
        if held.state == S.ASSIGNED and held.session == session and not begun_later:
            changed.append(ASSIGNMENTS.move(held, after, CAUSES[after], now=now, lease_until=None))
        elif held.state == S.TIMED_OUT and after == S.RETURNED and held.session == session:
            changed.append(ASSIGNMENTS.move(held, after, CAUSES[after], now=now))
    return changed


PREFIX: Final = "judging"
_HERE: Final = {
    AssignmentState.ASSIGNED: LocalStatus.WORKING,
    AssignmentState.SUBMITTED: LocalStatus.HANDED_IN,
    AssignmentState.SURPLUS: LocalStatus.HANDED_IN,
    AssignmentState.ACCEPTED: LocalStatus.ACCEPTED,
    AssignmentState.REJECTED: LocalStatus.REJECTED,
}


def register() -> None:
    """Register the listeners for all campaigns."""
    listeners.register(PREFIX, on_status_changed, needs=visits_needed, local_status=local_status)


def on_status_changed(change: StatusChanged) -> None:
    """Free the slot of a visit that is over on the platform, if nothing was submitted here."""
    campaign = _campaign(change.study, change.purpose)
    if campaign is not None:
        release_visit(
            session=change.session,
            status=change.status,
            at=change.at,
            now=change.now,
            campaign=campaign,
            participant=change.participant,
        )


def visits_needed(study: Study, purpose: str) -> RecruitmentNeeds | None:
    """Return how many more visits a campaign needs. One visit is for one questionnaire."""
    campaign = _campaign(study, purpose)
    if campaign is None:
        return None
    slots = Slot.objects.filter(campaign=campaign)
    done = slots.filter(holder__state__in=[AssignmentState.SUBMITTED, AssignmentState.ACCEPTED]).count()
    at_work = slots.filter(holder__state=AssignmentState.ASSIGNED).count()
    return RecruitmentNeeds(slots.count() - done, at_work, dict(campaign.eligibility))


def local_status(study: Study, purpose: str, visits: Sequence[Visit]) -> dict[str, LocalStatus]:
    """Return the state of the work of each visit."""
    campaign = _campaign(study, purpose)
    if campaign is None:
        return {}
    stands = dict.fromkeys((session for session, _person in visits), LocalStatus.NOTHING)
    rows = Assignment.objects.filter(questionnaire__campaign=campaign, session__in=stands).order_by("pk")
    whose = dict(visits)
    for session, person, state in rows.values_list("session", "participant_id", "state"):
        if whose[session] == person:
            stands[session] = _HERE.get(AssignmentState(state), LocalStatus.GONE)
    return stands


def _campaign(study: Study, purpose: str) -> Campaign | None:
    number = purpose.removeprefix(f"{PREFIX}-")
    return Campaign.objects.filter(study=study, pk=int(number)).first() if number.isdecimal() else None
