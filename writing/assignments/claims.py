"""Claims of writing tasks: each task goes to exactly one participant, even with concurrent claims.

New writers first write (paid) on the trial topics, and continue when all their trial responses are accepted.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from random import Random
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.db.models import QuerySet

from crowdrag.assignments.problems import Blocked, LeftStudy, NeedsConsent, NotAllowed, NothingLeft, WorkProblem
from crowdrag.studies.enums import MessageKind
from crowdrag.studies.models import Participant, Study
from crowdrag.studies.participants import consents

from ..enums import TaskState
from ..models import Style, Topic, WritingPlan, WritingTask
from . import leases, problems, slots
from .lifecycle import TASKS


class TrialStage(Enum):
    """The stage of a participant's trial."""

    NONE = "none"  # the plan has no trial
    WRITING = "writing"
    WAITING = "waiting"
    REVISING = "revising"  # the writer has at least one response to revise
    CONTESTED = "contested"  # the writer has contested a rejection
    PASSED = "passed"
    ENDED = "ended"


@dataclass(frozen=True)
class TrialProgress:
    """The progress of a trial: its stage, and the numbers of topics, accepted responses and responses under review."""

    stage: TrialStage
    topics: int = 0
    accepted: int = 0
    waiting: int = 0

    @property
    def may_write(self) -> bool:
        """Whether the participant can claim the study's main tasks."""
        return self.stage in {TrialStage.NONE, TrialStage.PASSED}

    @property
    def left(self) -> int:
        """The number of trial responses that are still to be written."""
        return max(self.topics - self.accepted - self.waiting, 0)


def trial_progress(plan: WritingPlan, participant: Participant) -> TrialProgress:
    """Return the progress of a participant's trial. Once passed, it stays passed even if the plan changes."""
    topics = _trial_topics(plan)
    if not topics:
        return TrialProgress(TrialStage.NONE)
    tasks = WritingTask.objects.filter(participant=participant, is_imported=False)
    if tasks.filter(is_trial=False).exists():
        return TrialProgress(TrialStage.PASSED, len(topics))
    # Returned tasks do not count, and responses to revise count by their revisions.
    rows = tasks.filter(is_trial=True).exclude(state__in=[TaskState.RETURNED, TaskState.REVISION])
    states = list(rows.values_list("state", flat=True))
    accepted, waiting = states.count(TaskState.ACCEPTED), states.count(TaskState.SUBMITTED)
    if TaskState.REJECTED in states:
        stage = _stage_of_rejected(participant, tasks)
    elif accepted >= len(topics):
        stage = TrialStage.PASSED
    elif accepted + waiting >= len(topics):
        stage = TrialStage.WAITING
    else:
        stage = TrialStage.WRITING
    return TrialProgress(stage, len(topics), accepted, waiting)


def _stage_of_rejected(participant: Participant, tasks: QuerySet[WritingTask]) -> TrialStage:
    """Return the stage of a trial with a rejected response: it ends only when no contest or revision is open."""
    rejected = tasks.filter(is_trial=True, state=TaskState.REJECTED).values("external_id")
    contests = participant.messages.filter(kind=MessageKind.CONTEST, answered_at__isnull=True)
    if contests.filter(about__in=rejected).exists():
        return TrialStage.CONTESTED
    revisions = tasks.filter(is_trial=True, revises__isnull=False)
    if revisions.filter(state__in=[TaskState.CLAIMED, TaskState.RETURNED]).exists():
        return TrialStage.REVISING
    return TrialStage.ENDED


def next_trial_task(plan: WritingPlan, participant: Participant, now: datetime) -> WritingTask | None:
    """Return the next trial task: a returned one, or a new, unsaved one; None if none is left.

    The trial topics are in the plan's order. The styles alternate, starting with a different one for each person.
    """
    styles = list(Style.objects.filter(plan_styles__plan=plan).order_by("plan_styles__position", "id"))
    tasks = WritingTask.objects.filter(participant=participant, is_imported=False).order_by("id")
    latest = {task.topic.external_id: task for task in tasks.select_related("topic", "style")}
    for number, topic in enumerate(_trial_topics(plan)):
        known = latest.get(topic.external_id)
        if known is None and styles:
            style = styles[(number + participant.pk) % len(styles)]
            fresh = slots.new_open_task(plan, topic, style, None, now=now)
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


# How often to try another open task after a unique constraint failed. This only happens if something other than a
# claim gave the participant a task on the same topic at the same time.
TRIES = 5
# The problem for participants at each stage of the trial.
_TRIAL_PROBLEMS = {
    TrialStage.ENDED: problems.TrialEnded,
    TrialStage.WAITING: problems.TrialWaits,
    TrialStage.CONTESTED: problems.TrialContested,
    TrialStage.REVISING: problems.TrialInRevision,
}

# Claims a task in one statement. Candidates are the open tasks on topics that are new to the participant, ordered by
# 1. low slot number, so that each topic and style gets its first response before any gets a second;
# 2. the style in which the participant has written least;
# 3. the topic with most open tasks, so that the last open tasks are not all on topics that everybody knows;
# 4. a random draw, so that concurrent claims do not compete for the same row.
_CLAIM = """
    UPDATE writing_writingtask SET state = 'CLAIMED', participant_id = %(participant)s, claimed_at = %(now)s,
        lease_until = %(lease)s, instructions_id = %(instructions)s, pay = %(pay)s
    WHERE id = (
        SELECT task.id FROM writing_writingtask task
        JOIN writing_topic topic ON topic.id = task.topic_id
        JOIN writing_style asked ON asked.id = task.style_id
        JOIN (
            SELECT topic_id, count(*) AS n FROM writing_writingtask
            WHERE study_id = %(study)s AND state = 'OPEN' GROUP BY topic_id
        ) AS remaining ON remaining.topic_id = task.topic_id
        LEFT JOIN (
            SELECT style.name, count(*) AS n FROM writing_writingtask mine
            JOIN writing_style style ON style.id = mine.style_id
            WHERE mine.participant_id = %(participant)s AND NOT mine.is_imported GROUP BY style.name
        ) AS written ON written.name = asked.name
        WHERE task.study_id = %(study)s AND task.state = 'OPEN' AND task.slot IS NOT NULL
            AND topic.external_id <> ALL(%(topics)s)
        ORDER BY task.slot, coalesce(written.n, 0), remaining.n DESC, md5(task.id || %(draw)s), task.id
        LIMIT 1 FOR UPDATE OF task SKIP LOCKED
    )
    RETURNING id
"""


@transaction.atomic
def claim(*, study: Study, participant: Participant, now: datetime, rng: Random | None = None) -> WritingTask:
    """Claim the next task for a participant, or return their current one.

    Without `rng`, the draw among equally good tasks is determined by the participant.

    Raises
    ------
    WorkProblem
        If no task can be claimed: closed, no consent, enough written, trial, nothing left.
    """
    # Lock the participant's row, so that repeated requests claim only one task.
    participant = Participant.objects.select_for_update(no_key=True).get(pk=participant.pk, study=study)
    if participant.withdrawn_at or participant.erased_at:
        raise LeftStudy(WritingTask)
    if (held := leases.task_in_hand(participant)) is not None:
        return held
    plan, where = _admitted(study, participant)
    if not where.may_write:
        return _claim_trial(plan, participant, now)
    return _claim_slot(plan, participant, now, str(participant.pk if rng is None else rng.random()))


def obstacle(*, study: Study, participant: Participant) -> WorkProblem | None:
    """Return why a participant cannot claim a task now; None if they probably can, which only `claim` can decide."""
    try:
        plan, where = _admitted(study, participant)
    except WorkProblem as problem:
        return problem
    if where.may_write and not _open(plan, list(_known(participant))).exists() and slots.is_complete(plan):
        return NothingLeft(WritingTask)
    return None


@transaction.atomic
def give_back(*, task: WritingTask, reason: str = "", now: datetime) -> WritingTask:
    """Return a task at its writer's request: keep its text, and free its slot."""
    task = TASKS.lock(task)
    if task.state == TaskState.RETURNED:
        return task
    if task.state != TaskState.CLAIMED:
        raise NotAllowed(task, TaskState.RETURNED)
    return leases.release(task, cause="given back", note=reason, now=now)


def _admitted(study: Study, participant: Participant) -> tuple[WritingPlan, TrialProgress]:
    """Return the plan and the progress of the participant's trial; raise a problem if they cannot claim tasks."""
    plan = WritingPlan.objects.filter(study=study).select_related("instructions", "consent_text").first()
    if participant.withdrawn_at or participant.erased_at:
        raise LeftStudy(WritingTask)
    if (block := participant.block) is not None:
        raise Blocked(WritingTask, block.reason)
    if plan is None or not plan.is_open or plan.consent_text is None:
        raise problems.WritingClosed
    if not consents.is_given(participant=participant, text=plan.consent_text):
        raise NeedsConsent
    where = trial_progress(plan, participant)
    if where.stage in _TRIAL_PROBLEMS:
        raise _TRIAL_PROBLEMS[where.stage]
    most = plan.tasks_per_person
    if where.may_write and most is not None and leases.count_written(participant) >= most:
        raise problems.EnoughWritten(most)
    return plan, where


def _claim_trial(plan: WritingPlan, participant: Participant, now: datetime) -> WritingTask:
    task = next_trial_task(plan, participant, now)
    if task is None:
        raise NothingLeft(WritingTask)
    if task.pk is not None:
        return leases.resume(task=task, now=now)
    task.state, task.participant = TaskState.CLAIMED, participant
    task.claimed_at, task.lease_until = now, now + leases.lease_length(plan.study_id)
    task.instructions, task.pay = plan.instructions, plan.pay
    task.save(force_insert=True)
    TASKS.record(task, "", "claimed for the trial", now=now)
    return task


def _claim_slot(plan: WritingPlan, participant: Participant, now: datetime, draw: str) -> WritingTask:
    arguments = {
        "study": plan.study_id,
        "participant": participant.pk,
        "now": now,
        "lease": now + leases.lease_length(plan.study_id),
        "instructions": plan.instructions_id,
        "pay": plan.pay,
        "draw": draw,
    }
    for _try in range(TRIES):
        # Exclude all versions of topics on which the participant has had a task, even if it was returned.
        topics = list(_known(participant))
        try:
            with transaction.atomic():
                pk = _take({**arguments, "topics": topics}, plan, topics)
        except IntegrityError as error:
            if "task_nobody_writes_twice_on_a_topic" not in str(error):
                raise
            continue
        if pk is None:
            # Topics may have been imported since the slots were created.
            if slots.is_complete(plan) or slots.ensure(plan, now) == (0, 0):
                break
            continue
        task = WritingTask.objects.select_related("study", "topic", "style", "participant").get(pk=pk)
        TASKS.record(task, TaskState.OPEN, "claimed", now=now)
        return task
    raise NothingLeft(WritingTask)


def _take(arguments: dict[str, Any], plan: WritingPlan, topics: list[str]) -> int | None:
    """Claim a row and return its key; None only if there is none, not if all are locked."""
    with connection.cursor() as cursor:
        while True:
            cursor.execute(_CLAIM, arguments)
            if (row := cursor.fetchone()) is not None:
                return int(row[0])
            # Rows locked by others become open again if their transactions fail, so wait for them one by one.
            if (held := _open(plan, topics).values_list("pk", flat=True).order_by("?").first()) is None:
                return None
            _wait_for(held)


def _wait_for(task: int) -> None:
    """Wait until a task is unlocked, without keeping a lock on it, to prevent deadlocks."""
    savepoint = transaction.savepoint()
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM writing_writingtask WHERE id = %s FOR SHARE", [task])
    transaction.savepoint_rollback(savepoint)


def _open(plan: WritingPlan, topics: list[str]) -> QuerySet[WritingTask]:
    """Return the open tasks on topics other than these."""
    open_ = WritingTask.objects.filter(study=plan.study_id, state=TaskState.OPEN, slot__isnull=False)
    return open_.exclude(topic__external_id__in=topics)


def _known(participant: Participant) -> set[str]:
    tasks = WritingTask.objects.filter(participant=participant, is_imported=False)
    return set(tasks.values_list("topic__external_id", flat=True))
