"""The context of a response for reviewers: answers, history, the writer's record, earlier versions."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, QuerySet

from ..enums import SurveyKind, TaskState
from ..models import ResponseDecision, SurveyAnswers, TaskTransition, WritingTask
from .text_difference import Part, difference

# The maximum number of a writer's other responses in the list.
OTHERS = 12


@dataclass(frozen=True)
class Answer:
    """A survey question with its answer; empty if unanswered."""

    kind: str
    question: str
    answer: str


@dataclass(frozen=True)
class WriterRecord:
    """A writer's responses in the study and their decisions, including the current response.

    A response and its revisions count once, by the latest submitted version.
    """

    written: int
    waiting: int
    accepted: int
    rejected: int
    revision: int
    others: list[WritingTask]
    notes: list[TaskTransition]


@dataclass(frozen=True)
class Dossier:
    """The context of a response, besides its text and log."""

    answers: list[Answer]
    history: list[TaskTransition]
    decisions: list[ResponseDecision]
    payments: list[Any]
    paid: int
    record: WriterRecord
    earlier: WritingTask | None
    changes: list[Part]


def collect(task: WritingTask) -> Dossier:
    """Collect the context. Participant, response and revised task should be fetched with the task."""
    earlier = task.revises
    lineage = _lineage(task)
    payments = list(task.payments.select_related("by").order_by("at", "id"))
    transitions = TaskTransition.objects.filter(task__in=lineage).select_related("by", "task").order_by("at", "id")
    return Dossier(
        answers=_answers(task),
        history=list(transitions),
        decisions=list(task.response.decisions.select_related("decided_by").order_by("decided_at", "id")),
        payments=payments,
        paid=sum(payment.amount for payment in payments),
        record=_record(task, lineage),
        earlier=earlier,
        changes=difference(earlier.response.text, task.response.text) if earlier is not None else [],
    )


def _lineage(task: WritingTask) -> list[int]:
    """Return the keys of the task and of all tasks that it revises, in order."""
    task_ids: list[int] = []
    current: WritingTask | None = task
    while current is not None:
        task_ids.append(current.pk)
        current = current.revises
    return task_ids


def _answers(task: WritingTask) -> list[Answer]:
    answers = SurveyAnswers.objects.filter(task=task, answered_at__isnull=False).select_related("survey").order_by("id")
    ordered = sorted(answers, key=lambda each: each.survey.kind != SurveyKind.ENTRY)
    return [
        Answer(each.survey.kind, str(question.get("text", name)), _label(question, each.answers.get(name)))
        for each in ordered
        for question in each.survey.questions
        if (name := question.get("name")) is not None
    ]


def _label(question: dict[str, Any], value: Any) -> str:
    if value is None:
        return ""
    labels = {str(option["value"]): option["label"] for option in question.get("options", [])}
    shown = str(labels.get(str(value), value))
    if question.get("kind") == "scale" and (most := len(labels)):
        return f"{shown} / {most}"
    return shown


def _record(task: WritingTask, lineage: list[int]) -> WriterRecord:
    """Return the writer's record, including imported responses. `lineage` is the task and all that it revises."""
    theirs: QuerySet[WritingTask] = WritingTask.objects.filter(participant=task.participant_id, response__isnull=False)
    latest = theirs.filter(revision__response__isnull=True)
    states = {
        "waiting": TaskState.SUBMITTED,
        "accepted": TaskState.ACCEPTED,
        "rejected": TaskState.REJECTED,
        "revision": TaskState.REVISION,
    }
    sums = latest.aggregate(
        written=Count("id"), **{name: Count("id", filter=Q(state=state)) for name, state in states.items()}
    )
    others = latest.exclude(pk__in=lineage).select_related("topic", "style", "response")
    notes = TaskTransition.objects.filter(task__in=theirs.exclude(pk__in=lineage)).exclude(note="")
    return WriterRecord(
        **sums,
        others=list(others.order_by("-submitted_at", "-id")[:OTHERS]),
        notes=list(notes.select_related("task__topic", "by").order_by("-at", "-id")[:OTHERS]),
    )
