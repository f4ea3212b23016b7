"""Erase all texts of a participant, with their logs."""

import re
from datetime import datetime

import pgtrigger

from crowdrag.llm import erasure as calls
from crowdrag.studies.enums import DecisionKind
from crowdrag.studies.models import Participant
from writing.assignments.lifecycle import TASKS

from .assignments import slots
from .corpus.imports import importers
from .corpus.queries import MARKERS
from .enums import TaskState
from .models import (
    ModelAnswer,
    Response,
    ResponseDecision,
    RetrievedPassage,
    Statement,
    SurveyAnswers,
    TaskTransition,
    WritingLog,
    WritingTask,
)

REASON = "Erased at the writer's request."
# Replaces reviewers' messages. `REASON` would be wrong there: these decisions are older than the erasure.
REMOVED = "Words removed when the response was erased."
# Shorter texts occur in unrelated calls by chance, which must not be erased.
SHORTEST_IN_CALLS = 40
# Ends of sentences, and citation markers.
_SENTENCE_END = re.compile(rf"{MARKERS.pattern}|(?<=[.!?\u3002])\s++|[\r\n]++")


def erase(participant: Participant, now: datetime) -> None:
    """Erase all texts of a participant. Tasks and payments are kept because money is owed for them.

    The caller must have locked the participant and recorded that they left, so that nothing is being written. The slots
    of erased responses become free.
    """
    # Lock the tasks first: concurrent events, submissions and reviews wait, and then find nothing to do.
    tasks = [TASKS.lock(task) for task in WritingTask.objects.filter(participant=participant).order_by("pk")]
    _erase_calls(participant)
    importers.erase_uploads(study=participant.study, now=now)
    _erase_responses(participant, now)
    tasks_of_participant = WritingTask.objects.filter(participant=participant)
    WritingLog.objects.filter(task__in=tasks_of_participant).delete()
    SurveyAnswers.objects.filter(task__in=tasks_of_participant).delete()
    with pgtrigger.ignore("writing.TaskTransition:never_updated"):
        TaskTransition.objects.filter(task__in=tasks_of_participant).exclude(note="").update(note="")
    tasks_of_participant.update(draft="", seconds=None, active_seconds=None)
    for task in tasks:
        if task.slot is not None and task.state in {TaskState.SUBMITTED, TaskState.ACCEPTED}:
            WritingTask.objects.filter(pk=task.pk).update(slot=None)
            slots.refill(task, now)


def _erase_calls(participant: Participant) -> None:
    """Erase all calls to models that contain one of the texts or a part of one."""
    written = Response.objects.filter(participant=participant).values_list("text", "topic")
    begun = WritingTask.objects.filter(participant=participant).values_list("draft", "topic")
    calls.erase_containing({part for text, topic in {*written, *begun} for part in _parts(text, topic)})


def _parts(text: str, topic: int) -> list[str]:
    """Return a text and its sentences, because calls may contain it in parts or without its citations.

    Sentences that occur in a passage are skipped: calls that contain them may be unrelated to the writer.
    """
    passages = RetrievedPassage.objects.filter(topic=topic).values_list("passage__text", flat=True)
    shown = "\n".join(passages) if text else ""
    sentences = {part for each in _SENTENCE_END.split(text) if len(part := each.strip()) >= SHORTEST_IN_CALLS}
    own_sentences = {part for part in sentences if part not in shown}
    return sorted(part for part in own_sentences | {text.strip()} if len(part) >= SHORTEST_IN_CALLS)


def _erase_responses(participant: Participant, now: datetime) -> None:
    responses = Response.objects.filter(participant=participant, erased_at__isnull=True)
    # Lock the rows: a concurrent decision on inclusion comes first, and its text is also erased.
    keys = list(responses.order_by("pk").select_for_update(no_key=True).values_list("pk", flat=True))
    Statement.objects.filter(response__in=keys).delete()
    ModelAnswer.objects.filter(participant=participant).update(text="", words=0)
    # Reviewers' messages may quote the text. The decisions themselves stay.
    with pgtrigger.ignore("writing.ResponseDecision:never_updated"):
        ResponseDecision.objects.filter(response__in=keys).update(reason=REMOVED, evidence={})
    Response.objects.filter(pk__in=keys).update(text="", words=0, dropped_citations=0, is_included=False, erased_at=now)
    ResponseDecision.objects.bulk_create(
        ResponseDecision(response_id=key, about=DecisionKind.INCLUDE, holds=False, reason=REASON, decided_at=now)
        for key in keys
    )
