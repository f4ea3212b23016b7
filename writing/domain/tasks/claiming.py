"""A person claims a task: exactly one gets each, under any number of connections at once."""

from datetime import datetime
from random import Random
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.db.models import QuerySet

from crowdrag.studies.models import Participant, Study
from crowdrag.studies.participants import consents

from ...enums import TaskState
from ...models import WritingPlan, WritingTask
from . import holding, leases, moving, problems, slots, trials

# How often another open task is tried where a unique constraint said no. It can only be so when something other than
# a claim gave the person a task on the same topic in the same moment.
TRIES = 5
# What keeps tasks from somebody who is at a stage of the trial.
_TRIAL_PROBLEMS = {
    trials.Stage.ENDED: problems.TrialEnded,
    trials.Stage.WAITING: problems.TrialWaits,
    trials.Stage.CONTESTED: problems.TrialContested,
    trials.Stage.REVISING: problems.TrialInRevision,
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
    problems.TaskProblem
        with the reason why there is none: closed, no consent, enough written, trial, nothing left.
    """
    # The person's row is the lock: however often a button is pressed, one task comes of it.
    participant = Participant.objects.select_for_update(no_key=True).get(pk=participant.pk, study=study)
    if participant.withdrawn_at or participant.erased_at:
        raise problems.LeftStudy
    if (held := holding.in_hand(participant)) is not None:
        return held
    plan, where = _admitted(study, participant)
    if not where.may_write:
        return _claim_trial(plan, participant, now)
    return _claim_slot(plan, participant, now, str(participant.pk if rng is None else rng.random()))


def obstacle(*, study: Study, participant: Participant) -> problems.TaskProblem | None:
    """Return why somebody would get no task now, or None if they probably get one; only `claim` itself can tell."""
    try:
        plan, where = _admitted(study, participant)
    except problems.TaskProblem as problem:
        return problem
    if where.may_write and not _open(plan, list(_known(participant))).exists() and slots.complete(plan):
        return problems.NothingLeft()
    return None


@transaction.atomic
def give_back(*, task: WritingTask, reason: str = "", now: datetime) -> WritingTask:
    """Take a task back from its writer at their wish: the text stays, the slot is free for somebody else."""
    task = moving.locked(task)
    if task.state == TaskState.RETURNED:
        return task
    if task.state != TaskState.CLAIMED:
        raise problems.NotAllowed(task, TaskState.RETURNED)
    return leases.let_go(task, cause="given back", note=reason, now=now)


def _admitted(study: Study, participant: Participant) -> tuple[WritingPlan, trials.Standing]:
    """Return the plan and where somebody stands with its trial; raise the problem that keeps tasks from them."""
    plan = WritingPlan.objects.filter(study=study).select_related("instructions", "consent_text").first()
    if participant.withdrawn_at or participant.erased_at:
        raise problems.LeftStudy
    if (bar := participant.bar) is not None:
        raise problems.Barred(bar.reason)
    if plan is None or not plan.is_open or plan.consent_text is None:
        raise problems.WritingClosed
    if not consents.is_given(participant=participant, text=plan.consent_text):
        raise problems.NeedsConsent
    where = trials.standing(plan, participant)
    if where.stage in _TRIAL_PROBLEMS:
        raise _TRIAL_PROBLEMS[where.stage]
    most = plan.tasks_per_person
    if where.may_write and most is not None and holding.written(participant) >= most:
        raise problems.EnoughWritten(most)
    return plan, where


def _claim_trial(plan: WritingPlan, participant: Participant, now: datetime) -> WritingTask:
    task = trials.next_task(plan, participant, now)
    if task is None:
        raise problems.NothingLeft
    if task.pk is not None:
        return leases.resume(task=task, now=now)
    task.state, task.participant = TaskState.CLAIMED, participant
    task.claimed_at, task.lease_until = now, now + holding.lease(plan.study_id)
    task.instructions, task.pay = plan.instructions, plan.pay
    task.save(force_insert=True)
    moving.record(task, "", "claimed for the trial", now=now)
    return task


def _claim_slot(plan: WritingPlan, participant: Participant, now: datetime, draw: str) -> WritingTask:
    arguments = {
        "study": plan.study_id,
        "participant": participant.pk,
        "now": now,
        "lease": now + holding.lease(plan.study_id),
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
            if slots.complete(plan) or slots.ensure(plan, now) == (0, 0):
                break
            continue
        task = WritingTask.objects.select_related("study", "topic", "style", "participant").get(pk=pk)
        moving.record(task, TaskState.OPEN, "claimed", now=now)
        return task
    raise problems.NothingLeft


def _take(arguments: dict[str, Any], plan: WritingPlan, topics: list[str]) -> int | None:
    """Claim a row and return its key; None only when there is none, which a look past locked rows cannot tell."""
    with connection.cursor() as cursor:
        while True:
            cursor.execute(_CLAIM, arguments)
            if (found := cursor.fetchone()) is not None:
                return int(found[0])
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
