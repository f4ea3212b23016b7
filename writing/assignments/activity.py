"""Writing as an activity: the offer to participants, the section of their dashboard, and recruitment platforms.

For recruitment platforms: tasks to free when somebody gives up, the number of participants needed, and work statuses.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext as _

from crowdrag.recruitment import listeners
from crowdrag.recruitment.enums import LocalStatus
from crowdrag.recruitment.listeners import RecruitmentNeeds, StatusChanged, Visit
from crowdrag.studies.activities import Offer
from crowdrag.studies.entry import links
from crowdrag.studies.enums import Outcome
from crowdrag.studies.models import Participant, Study

from ..enums import TaskState
from ..models import WritingPlan, WritingTask
from . import claims, leases, queries
from .lifecycle import TASKS

NAME = "writing"


def offer(study: Study) -> Offer | None:
    """Return the offer to writers; None if the study has no writing plan."""
    plan = WritingPlan.objects.filter(study=study).select_related("consent_text").first()
    if plan is None or plan.consent_text is None:
        return None
    words = sorted(set(plan.styles.values_list("target_words", flat=True)))
    word_range = f"{words[0]}–{words[-1]}" if len(words) > 1 else str(words[0] if words else 250)
    what = _(
        "You read a question and passages that a search engine found for it. From the passages, you write a response "
        "of about %(words)s words in an editor in your browser. You cite the source of each claim."
    )
    if plan.trial_topics.exists():
        trial = _("The first responses are a trial. They are paid, and you can continue after they are accepted.")
        what = f"{what} {trial}"
    return Offer(
        title=_("Write responses from sources"),
        what=what % {"words": word_range},
        minutes=plan.minutes,
        pay=plan.pay,
        per=_("per response"),
        consent_text=plan.consent_text,
        is_open=plan.is_open,
    )


def dashboard_section(participant: Participant) -> dict[str, Any]:
    """Return the section on writing of a participant's dashboard."""
    writer = queries.writer_overview(participant)
    obstacle = claims.obstacle(study=participant.study, participant=participant)
    return {
        "overview": writer,
        "earned": writer.earned,
        "obstacle": obstacle,
        "participant": participant,
        "payer": links.paying_platform(participant),
        "way_back": (
            links.participant_completion_target(participant=participant, outcome=Outcome.COMPLETED)
            if writer.has_submitted and not writer.in_hand
            else None
        ),
    }


def review_url(participant: Participant, about: str) -> str:
    """Return the review URL of a task; empty unless it is this writer's and was submitted."""
    theirs = WritingTask.objects.filter(participant=participant, external_id=about, response__isnull=False)
    return reverse("review_task", args=[participant.study.slug, about]) if theirs.exists() else ""


def reversal_url(participant: Participant, about: str) -> str:
    """Return the URL for reversing a rejection; empty unless the task is this writer's and was rejected."""
    theirs = WritingTask.objects.filter(participant=participant, external_id=about, state=TaskState.REJECTED)
    address = review_url(participant, about) if theirs.exists() else ""
    return f"{address}?open=reverse" if address else ""


def about_label(participant: Participant, about: str) -> str:
    """Return the query of a task; empty unless it is this writer's."""
    theirs = WritingTask.objects.filter(participant=participant, external_id=about)
    return theirs.values_list("topic__query", flat=True).first() or ""


def owed(participant: Participant) -> int:
    """Return a participant's earnings from writing, in minor units."""
    return TASKS.total_earned(participant)


def awaited(participant: Participant) -> int:
    """Return a participant's pay for writing that awaits review, in minor units."""
    return TASKS.total_awaited(participant)


def erasure(participant: Participant) -> list[str]:
    """Describe the effect of an erasure on a participant's texts; empty if they wrote nothing."""
    if not WritingTask.objects.filter(participant=participant).exists():
        return []
    return [
        _(
            "We erase your texts, the record of how you wrote them, how long you worked and your answers from this "
            "server. We also erase requests to language models that contained your texts."
        )
    ]


ACTIVITY: Final = "writing"
CAUSES: Final = {"RETURNED": "returned on the platform", "TIMED-OUT": "timed out on the platform"}
_HERE: Final = {
    TaskState.CLAIMED: LocalStatus.WORKING,
    TaskState.SUBMITTED: LocalStatus.HANDED_IN,
    TaskState.REVISION: LocalStatus.HANDED_IN,
    TaskState.ACCEPTED: LocalStatus.ACCEPTED,
    TaskState.REJECTED: LocalStatus.REJECTED,
    TaskState.RETURNED: LocalStatus.GONE,
}
# The priority of statuses if a visit has several tasks.
_FIRST: Final = (
    LocalStatus.HANDED_IN,
    LocalStatus.WORKING,
    LocalStatus.ACCEPTED,
    LocalStatus.REJECTED,
    LocalStatus.GONE,
    LocalStatus.NOTHING,
)


def register() -> None:
    """Register the listeners for recruitment platforms."""
    listeners.register(ACTIVITY, on_status_changed, needs=visits_needed, local_status=local_status)


def on_status_changed(change: StatusChanged) -> None:
    """Free the slot of a participant who gave up on the platform, unless the text is finished."""
    cause = CAUSES.get(change.status)
    if cause and change.participant is not None:
        release_visit(participant=change.participant, cause=cause, at=change.at, now=change.now)


@transaction.atomic
def release_visit(*, participant: Participant, cause: str, at: datetime, now: datetime) -> list[WritingTask]:
    """Return the tasks that a participant had at a time, and keep their texts. Finished and later tasks stay theirs."""
    Participant.objects.select_for_update(no_key=True).get(pk=participant.pk)
    tasks = WritingTask.objects.filter(
        participant=participant, state=TaskState.CLAIMED, is_imported=False, finished_at__isnull=True, revises=None
    )
    freed = []
    for task in tasks.order_by("pk"):
        held = TASKS.lock(task)
        begun_later = held.claimed_at is not None and held.claimed_at > at
        if held.state == TaskState.CLAIMED and held.finished_at is None and not begun_later:
            freed.append(leases.release(held, cause=cause, now=now))
    return freed


def visits_needed(study: Study, purpose: str) -> RecruitmentNeeds | None:
    """Return the number of responses that are still to be written, which is the minimum number of visits."""
    if purpose != ACTIVITY or not WritingPlan.objects.filter(study=study).exists():
        return None
    rows = WritingTask.objects.filter(study=study, is_imported=False, is_trial=False)
    at_work = rows.filter(state=TaskState.CLAIMED).count()
    return RecruitmentNeeds(rows.filter(state=TaskState.OPEN).count() + at_work, at_work)


def local_status(study: Study, purpose: str, visits: Sequence[Visit]) -> dict[str, LocalStatus]:
    """Return the status of each visit, by its participant because tasks do not record visits."""
    statuses: dict[int, set[LocalStatus]] = {}
    rows = WritingTask.objects.filter(study=study, participant__in={person for _session, person in visits})
    for person, state in rows.values_list("participant_id", "state"):
        if state in _HERE and person is not None:
            statuses.setdefault(person, set()).add(_HERE[TaskState(state)])
    return {
        session: next((one for one in _FIRST if one in statuses.get(person, set())), LocalStatus.NOTHING)
        for session, person in visits
    }
