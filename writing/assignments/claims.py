"""Claim a writing task: exactly one participant gets each, however many claim at once.

New writers first write on the trial topics, are paid for it, and go on when all they wrote was accepted.
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
    """How far somebody is with their trial."""

    NONE = "none"  # the plan has no trial
    WRITING = "writing"
    WAITING = "waiting"
    REVISING = "revising"  # the writer has one to revise, whatever became of the others
    CONTESTED = "contested"  # the writer asked to have a rejection looked at again
    PASSED = "passed"
    ENDED = "ended"


@dataclass(frozen=True)
class TrialProgress:
    """Where somebody stands: of so many trial responses, so many are accepted, and so many wait for a reviewer."""

    stage: TrialStage
    topics: int = 0
    accepted: int = 0
    waiting: int = 0

    @property
    def may_write(self) -> bool:
        """Whether the tasks of the study proper are theirs to claim."""
        return self.stage in {TrialStage.NONE, TrialStage.PASSED}

    @property
    def left(self) -> int:
        """How many trial responses are still to be written."""
        return max(self.topics - self.accepted - self.waiting, 0)


def trial_progress(plan: WritingPlan, participant: Participant) -> TrialProgress:
    """Return where somebody stands with the trial. Who once passed is not tried again when the plan changes."""
    topics = _trial_topics(plan)
    if not topics:
        return TrialProgress(TrialStage.NONE)
    tasks = WritingTask.objects.filter(participant=participant, is_imported=False)
    if tasks.filter(is_trial=False).exists():
        return TrialProgress(TrialStage.PASSED, len(topics))
    # A returned task is none; one that was sent back goes on in its revision.
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
    """Return where a trial stands of which a response was rejected: over only when nothing about it is open."""
    rejected = tasks.filter(is_trial=True, state=TaskState.REJECTED).values("external_id")
    contests = participant.messages.filter(kind=MessageKind.CONTEST, answered_at__isnull=True)
    if contests.filter(about__in=rejected).exists():
        return TrialStage.CONTESTED
    revisions = tasks.filter(is_trial=True, revises__isnull=False)
    if revisions.filter(state__in=[TaskState.CLAIMED, TaskState.RETURNED]).exists():
        return TrialStage.REVISING
    return TrialStage.ENDED


def next_trial_task(plan: WritingPlan, participant: Participant, now: datetime) -> WritingTask | None:
    """Return the next trial task: one that was returned before, or a new one, unsaved; None when none is left.

    The trial topics come in the plan's order; the styles take turns, beginning with another one for each person.
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


# How often another open task is tried where a unique constraint said no. It can only be so when something other than
# a claim gave the person a task on the same topic in the same moment.
TRIES = 5
# What keeps tasks from somebody who is at a stage of the trial.
_TRIAL_PROBLEMS = {
    TrialStage.ENDED: problems.TrialEnded,
    TrialStage.WAITING: problems.TrialWaits,
    TrialStage.CONTESTED: problems.TrialContested,
    TrialStage.REVISING: problems.TrialInRevision,
}

# The claim itself: one statement. Of the open tasks on topics that the person has not written on, in this order: low
# slot numbers first, so that every topic and style gets its first response before any gets its second; then the style
# that the person has written least in; then the topic that has most left, so that none is left with topics that nobody
# may write on any more; and among equals by a draw, so that many claimers do not all reach for the same row.
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
    """Give a person their next task; who has one in hand gets that one again.

    Without `rng` the draw among equally good tasks follows from who claims.

    Raises
    ------
    WorkProblem
        with the reason why there is none: closed, no consent, enough written, trial, nothing left.
    """
    # The person's row is the lock: however often a button is pressed, one task comes of it.
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
    """Return why somebody would get no task now, or None if they probably get one; only `claim` itself can tell."""
    try:
        plan, where = _admitted(study, participant)
    except WorkProblem as problem:
        return problem
    if where.may_write and not _open(plan, list(_known(participant))).exists() and slots.is_complete(plan):
        return NothingLeft(WritingTask)
    return None


@transaction.atomic
def give_back(*, task: WritingTask, reason: str = "", now: datetime) -> WritingTask:
    """Take a task back from its writer at their wish: the text stays, the slot is free for somebody else."""
    task = TASKS.lock(task)
    if task.state == TaskState.RETURNED:
        return task
    if task.state != TaskState.CLAIMED:
        raise NotAllowed(task, TaskState.RETURNED)
    return leases.release(task, cause="given back", note=reason, now=now)


def _admitted(study: Study, participant: Participant) -> tuple[WritingPlan, TrialProgress]:
    """Return the plan and where somebody stands with its trial; raise the problem that keeps tasks from them."""
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
        # A topic in whatever version: whoever wrote on it, had it sent back or gave it back, does not get it again.
        topics = list(_known(participant))
        try:
            with transaction.atomic():
                pk = _take({**arguments, "topics": topics}, plan, topics)
        except IntegrityError as error:
            if "task_nobody_writes_twice_on_a_topic" not in str(error):
                raise
            continue
        if pk is None:
            # Topics may have come in since the slots were made.
            if slots.is_complete(plan) or slots.ensure(plan, now) == (0, 0):
                break
            continue
        task = WritingTask.objects.select_related("study", "topic", "style", "participant").get(pk=pk)
        TASKS.record(task, TaskState.OPEN, "claimed", now=now)
        return task
    raise NothingLeft(WritingTask)


def _take(arguments: dict[str, Any], plan: WritingPlan, topics: list[str]) -> int | None:
    """Claim a row and return its key; None only when there is none, which a look past locked rows cannot tell."""
    with connection.cursor() as cursor:
        while True:
            cursor.execute(_CLAIM, arguments)
            if (row := cursor.fetchone()) is not None:
                return int(row[0])
            # Those that others hold may come back yet, if their transactions fail: wait for them, one after the other.
            if (held := _open(plan, topics).values_list("pk", flat=True).order_by("?").first()) is None:
                return None
            _wait_for(held)


def _wait_for(task: int) -> None:
    """Wait until nobody holds a task, and hold nothing: two who wait must not hold what the other waits for."""
    savepoint = transaction.savepoint()
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM writing_writingtask WHERE id = %s FOR SHARE", [task])
    transaction.savepoint_rollback(savepoint)


def _open(plan: WritingPlan, topics: list[str]) -> QuerySet[WritingTask]:
    """Return the open tasks on other topics than these."""
    open_ = WritingTask.objects.filter(study=plan.study_id, state=TaskState.OPEN, slot__isnull=False)
    return open_.exclude(topic__external_id__in=topics)


def _known(participant: Participant) -> set[str]:
    tasks = WritingTask.objects.filter(participant=participant, is_imported=False)
    return set(tasks.values_list("topic__external_id", flat=True))
