"""New writers first write on the trial topics, are paid for it, and go on when all they wrote was accepted."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from django.db.models import QuerySet

from crowdrag.studies.enums import EnquiryKind
from crowdrag.studies.models import Participant

from ...enums import TaskState
from ...models import Style, Topic, WritingPlan, WritingTask
from . import slots


class Stage(Enum):
    """How far somebody is with their trial."""

    NONE = "none"  # the plan has no trial
    WRITING = "writing"
    WAITING = "waiting"
    REVISING = "revising"  # the writer has one to revise, whatever became of the others
    CONTESTED = "contested"  # the writer asked to have a rejection looked at again
    PASSED = "passed"
    ENDED = "ended"


@dataclass(frozen=True)
class Standing:
    """Where somebody stands: of so many trial responses, so many are accepted, and so many wait for a reviewer."""

    stage: Stage
    topics: int = 0
    accepted: int = 0
    waiting: int = 0

    @property
    def may_write(self) -> bool:
        """Whether the tasks of the study proper are theirs to claim."""
        return self.stage in {Stage.NONE, Stage.PASSED}

    @property
    def left(self) -> int:
        """How many trial responses are still to be written."""
        return max(self.topics - self.accepted - self.waiting, 0)


def standing(plan: WritingPlan, participant: Participant) -> Standing:
    """Return where somebody stands with the trial. Who once passed is not tried again when the plan changes."""
    topics = _trial_topics(plan)
    if not topics:
        return Standing(Stage.NONE)
    mine = WritingTask.objects.filter(participant=participant, is_imported=False)
    if mine.filter(is_trial=False).exists():
        return Standing(Stage.PASSED, len(topics))
    # A returned task is none; one that was sent back goes on in its revision.
    rows = mine.filter(is_trial=True).exclude(state__in=[TaskState.RETURNED, TaskState.REVISION])
    states = list(rows.values_list("state", flat=True))
    accepted, waiting = states.count(TaskState.ACCEPTED), states.count(TaskState.SUBMITTED)
    if TaskState.REJECTED in states:
        stage = _stage_of_rejected(participant, mine)
    elif accepted >= len(topics):
        stage = Stage.PASSED
    elif accepted + waiting >= len(topics):
        stage = Stage.WAITING
    else:
        stage = Stage.WRITING
    return Standing(stage, len(topics), accepted, waiting)


def _stage_of_rejected(participant: Participant, mine: QuerySet[WritingTask]) -> Stage:
    """Return where a trial stands of which a response was rejected: over only when nothing about it is open."""
    rejected = mine.filter(is_trial=True, state=TaskState.REJECTED).values("external_id")
    contests = participant.enquiries.filter(kind=EnquiryKind.CONTEST, answered_at__isnull=True)
    if contests.filter(about__in=rejected).exists():
        return Stage.CONTESTED
    revisions = mine.filter(is_trial=True, revises__isnull=False)
    if revisions.filter(state__in=[TaskState.CLAIMED, TaskState.RETURNED]).exists():
        return Stage.REVISING
    return Stage.ENDED


def next_task(plan: WritingPlan, participant: Participant, now: datetime) -> WritingTask | None:
    """Return the next trial task: one that was returned before, or a new one, unsaved; None when none is left.

    The trial topics come in the plan's order; the styles take turns, beginning with another one for each person.
    """
    styles = list(Style.objects.filter(plan_styles__plan=plan).order_by("plan_styles__position", "id"))
    mine = WritingTask.objects.filter(participant=participant, is_imported=False).order_by("id")
    latest = {task.topic.external_id: task for task in mine.select_related("topic", "style")}
    for number, topic in enumerate(_trial_topics(plan)):
        known = latest.get(topic.external_id)
        if known is None and styles:
            style = styles[(number + participant.pk) % len(styles)]
            fresh = slots.row(plan, topic, style, None, now=now)
            fresh.is_trial = True
            return fresh
        if known is not None and known.state == TaskState.RETURNED:
            return known
    return None


def _trial_topics(plan: WritingPlan) -> list[Topic]:
    """Return the trial topics in the plan's order, each in its latest version."""
    chosen = plan.plan_trial_topics.order_by("position", "id").values_list("topic__external_id", flat=True)
    latest = Topic.objects.filter(study=plan.study_id, external_id__in=list(chosen)).current()
    by_id = {topic.external_id: topic for topic in latest}
    return [by_id[external_id] for external_id in dict.fromkeys(chosen)]
