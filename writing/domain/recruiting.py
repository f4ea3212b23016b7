"""Writing as a recruitment platform sees it: what is freed when somebody gives up, who is needed, how work stands."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from django.db import transaction

from crowdrag.recruitment import listeners
from crowdrag.recruitment.enums import LocalStatus
from crowdrag.recruitment.listeners import RecruitmentNeeds, StatusChanged, Visit
from crowdrag.studies.models import Participant, Study

from ..enums import TaskState
from ..models import WritingPlan, WritingTask
from .tasks import leases, moving

WAY: Final = "writing"
CAUSES: Final = {"RETURNED": "returned on the platform", "TIMED-OUT": "timed out on the platform"}
_HERE: Final = {
    TaskState.CLAIMED: LocalStatus.WORKING,
    TaskState.SUBMITTED: LocalStatus.HANDED_IN,
    TaskState.REVISION: LocalStatus.HANDED_IN,
    TaskState.ACCEPTED: LocalStatus.ACCEPTED,
    TaskState.REJECTED: LocalStatus.REJECTED,
    TaskState.RETURNED: LocalStatus.GONE,
}
# Of several pieces of work of one visit, the one that says most of what is to be done there.
_FIRST: Final = (
    LocalStatus.HANDED_IN,
    LocalStatus.WORKING,
    LocalStatus.ACCEPTED,
    LocalStatus.REJECTED,
    LocalStatus.GONE,
    LocalStatus.NOTHING,
)


def register() -> None:
    """Listen for writing."""
    listeners.register(WAY, heard, needs=needs, here=here)


def heard(said: StatusChanged) -> None:
    """Free the slot of somebody who gave up there, where the text is not finished here."""
    cause = CAUSES.get(said.status)
    if cause and said.participant is not None:
        give_up(participant=said.participant, cause=cause, at=said.at, now=said.now)


@transaction.atomic
def give_up(*, participant: Participant, cause: str, at: datetime, now: datetime) -> list[WritingTask]:
    """Return what somebody had in hand at a time, its text kept; what is finished or was begun later stays theirs."""
    Participant.objects.select_for_update(no_key=True).get(pk=participant.pk)
    mine = WritingTask.objects.filter(
        participant=participant, state=TaskState.CLAIMED, is_imported=False, finished_at__isnull=True, revises=None
    )
    freed = []
    for task in mine.order_by("pk"):
        held = moving.locked(task)
        begun_later = held.claimed_at is not None and held.claimed_at > at
        if held.state == TaskState.CLAIMED and held.finished_at is None and not begun_later:
            freed.append(leases.let_go(held, cause=cause, now=now))
    return freed


def needs(study: Study, purpose: str) -> RecruitmentNeeds | None:
    """Say how many more responses are to be written: at least so many visits."""
    if purpose != WAY or not WritingPlan.objects.filter(study=study).exists():
        return None
    rows = WritingTask.objects.filter(study=study, is_imported=False, is_trial=False)
    at_work = rows.filter(state=TaskState.CLAIMED).count()
    return RecruitmentNeeds(rows.filter(state=TaskState.OPEN).count() + at_work, at_work)


def here(study: Study, purpose: str, visits: Sequence[Visit]) -> dict[str, LocalStatus]:
    """Say how the work of visits stands; a task knows its writer, not the visit."""
    found: dict[int, set[LocalStatus]] = {}
    rows = WritingTask.objects.filter(study=study, participant__in={person for _session, person in visits})
    for person, state in rows.values_list("participant_id", "state"):
        if state in _HERE and person is not None:
            found.setdefault(person, set()).add(_HERE[TaskState(state)])
    return {
        session: next((one for one in _FIRST if one in found.get(person, set())), LocalStatus.NOTHING)
        for session, person in visits
    }
