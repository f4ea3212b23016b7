"""Submission of texts: each becomes one response, even if it is submitted repeatedly."""

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from django.db import transaction

from analysis.writing_process import pace
from crowdrag.assignments.problems import LeftStudy, NotAllowed
from crowdrag.studies.enums import DecisionKind

from ..corpus import responses
from ..editor import logs
from ..enums import SurveyKind, TaskState
from ..models import Response, ResponseDecision, WritingTask
from ..plans import surveys
from . import problems, slots
from .lifecycle import TASKS


def measure_times(task: WritingTask) -> tuple[float | None, float | None]:
    """Return the seconds from first to last event of a task's log, and the active seconds; None if unrecorded."""
    log = logs.log_of(task)
    if log is None:
        return None, None
    times = pace.activity(logs.events(log))
    return _known(times.seconds), _known(times.active_seconds)


def _known(seconds: float) -> float | None:
    return None if math.isnan(seconds) else seconds


TRIAL: Final = "Trial responses are excluded by default."
SURPLUS: Final = "Submitted after somebody else got the place."


@transaction.atomic
def submit(*, task: WritingTask, answers: Mapping[str, Any] | None, now: datetime) -> Response:
    """Store the text as a response, with the answers to the exit survey.

    `answers` must have been checked (`surveys.check`); None if the writer could not be asked. Idempotent: a repeated
    call returns the same response.

    Raises
    ------
    NotFinished, EmptyText, TextDiffers, NotAllowed
        The message says what to do.
    """
    task = TASKS.lock(task)
    response = Response.objects.filter(task=task).first()
    if response is not None:
        surveys.answer(task=task, kind=SurveyKind.EXIT, answers=answers, now=now)
        return response
    if task.state != TaskState.CLAIMED:
        raise NotAllowed(task, TaskState.SUBMITTED)
    if task.finished_at is None:
        raise problems.NotFinished
    surveys.answer(task=task, kind=SurveyKind.EXIT, answers=answers, now=now)
    return _store(task, "submitted" if answers is not None else "submitted when the lease was over", now)


@transaction.atomic
def submit_late(*, task: WritingTask, now: datetime) -> Response:
    """Store a late writer's text as a surplus response, which is reviewed but fills no slot.

    Raises
    ------
    NotAllowed
        If the task was not returned, or can still be resumed.
    LeftStudy
        If the writer withdrew.
    """
    task = TASKS.lock(task)
    response = Response.objects.filter(task=task).first()
    if response is not None:
        return response
    if task.participant is not None and task.participant.withdrawn_at:
        raise LeftStudy(WritingTask)
    if task.state != TaskState.RETURNED:
        raise NotAllowed(task, TaskState.SUBMITTED)
    task_in_slot = slots.holder(task)
    if task.slot is not None and task_in_slot is not None and task_in_slot.state == TaskState.OPEN:
        raise NotAllowed(task, TaskState.SUBMITTED)
    return _store(task, "handed in late", now, surplus=True)


def _store(task: WritingTask, cause: str, now: datetime, *, surplus: bool = False) -> Response:
    assert task.participant is not None
    text = logs.current_text(task)
    if not text.strip():
        raise problems.EmptyText
    if not surplus and text != task.draft:
        raise problems.TextDiffers
    response = responses.submit(
        study=task.study,
        topic=task.topic,
        style=task.style,
        participant=task.participant,
        external_id=task.external_id,
        text=text,
        task=task,
        now=now,
    )
    if task.is_trial or surplus:
        _leave_out(response, TRIAL if task.is_trial else SURPLUS, now)
    seconds, active = measure_times(task)
    changes: dict[str, Any] = {"slot": None} if surplus else {}
    TASKS.move(
        task,
        TaskState.SUBMITTED,
        cause,
        now=now,
        submitted_at=now,
        seconds=seconds,
        active_seconds=active,
        lease_until=None,
        draft=text,
        **changes,
    )
    return response


def _leave_out(response: Response, reason: str, now: datetime) -> None:
    ResponseDecision.objects.create(
        response=response, about=DecisionKind.INCLUDE, holds=False, reason=reason, decided_at=now
    )
    response.is_included = False
    response.save(update_fields=["is_included"])
