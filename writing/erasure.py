"""Erase everything that a participant wrote, with its logs."""

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

REASON = "Erased on the writer's wish."
# What stands for a reviewer's words of before: the decision keeps its date, so the erasure cannot be its reason.
REMOVED = "Words removed when the response was erased."
# A text so short is in many calls by chance: erasing those would take away what others said.
SHORTEST_IN_CALLS = 40
# Between sentences, and where citations stand.
_SENTENCE_END = re.compile(rf"{MARKERS.pattern}|(?<=[.!?\u3002])\s++|[\r\n]++")


def erase(participant: Participant, now: datetime) -> None:
    """Erase all that a participant wrote; the rows of tasks and payments stay, since money is owed for them.

    The caller holds the participant and has let them leave, so that nothing is being written. A slot that an erased
    response filled is free again.
    """
    # Held first: whoever still sends events, submits or reviews waits, and then finds nothing to do.
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
    """Erase the calls to models that held one of the texts or a part of one, whoever made them."""
    written = Response.objects.filter(participant=participant).values_list("text", "topic")
    begun = WritingTask.objects.filter(participant=participant).values_list("draft", "topic")
    calls.erase_containing({part for text, topic in {*written, *begun} for part in _parts(text, topic)})


def _parts(text: str, topic: int) -> list[str]:
    """Return a text, and its sentences: in calls it may stand without its citations, in parts, or with words between.

    A sentence that stands in a passage is in calls that have nothing to do with its writer.
    """
    passages = RetrievedPassage.objects.filter(topic=topic).values_list("passage__text", flat=True)
    shown = "\n".join(passages) if text else ""
    sentences = {part for each in _SENTENCE_END.split(text) if len(part := each.strip()) >= SHORTEST_IN_CALLS}
    own_sentences = {part for part in sentences if part not in shown}
    return sorted(part for part in own_sentences | {text.strip()} if len(part) >= SHORTEST_IN_CALLS)


def _erase_responses(participant: Participant, now: datetime) -> None:
    responses = Response.objects.filter(participant=participant, erased_at__isnull=True)
    # Held: an inclusion that is being decided comes before, and its words go with the others.
    keys = list(responses.order_by("pk").select_for_update(no_key=True).values_list("pk", flat=True))
    Statement.objects.filter(response__in=keys).delete()
    ModelAnswer.objects.filter(participant=participant).update(text="", words=0)
    # What reviewers wrote of a text may quote it; that they decided, and how, stays.
    with pgtrigger.ignore("writing.ResponseDecision:never_updated"):
        ResponseDecision.objects.filter(response__in=keys).update(reason=REMOVED, evidence={})
    Response.objects.filter(pk__in=keys).update(text="", words=0, dropped_citations=0, is_included=False, erased_at=now)
    ResponseDecision.objects.bulk_create(
        ResponseDecision(response_id=key, about=DecisionKind.INCLUDE, holds=False, reason=REASON, decided_at=now)
        for key in keys
    )
