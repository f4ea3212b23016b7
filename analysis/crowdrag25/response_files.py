"""Files of writing: topics and passages, tasks with surveys, snapshots, models' responses, parsed responses."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Prefetch, QuerySet

from annotation.imports.crowdrag25 import record_schemas
from writing.corpus import queries
from writing.corpus.imports.fields import Mismatch
from writing.editor import logs
from writing.enums import Origin
from writing.models import Response, RetrievedPassage, SurveyAnswers, Topic, WritingLog

from . import inclusion
from .inclusion import ExclusionCounts

CHUNK = 50
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
QUESTIONS = (*record_schemas.ENTRY_QUESTIONS, *record_schemas.EXIT_QUESTIONS)
KINDS = {Origin.HUMAN: "human", Origin.MODEL: "llm", Origin.SYSTEM: "llm"}
OTHER_SURVEYS = "answers to survey questions or with options that are not in the layout"
Row = dict[str, Any]


def _as_submitted(response: Response) -> str:
    return response.text


def topics(topics_released: "QuerySet[Topic]") -> Iterator[Row]:
    """Yield each topic with its passages by rank."""
    for topic in _with_passages(topics_released).iterator(chunk_size=CHUNK):
        yield {"topic": topic.external_id, "query": topic.query, **_passages(topic)}


def tasks(responses: "QuerySet[Response]", left_out: ExclusionCounts) -> Iterator[Row]:
    """Yield each human response's task with the survey answers that fit the layout."""
    answers = SurveyAnswers.objects.order_by("id")
    human_responses = _human(responses).select_related("topic", "style", "participant", "task")
    for response in human_responses.prefetch_related(Prefetch("task__survey_answers", answers)).iterator(
        chunk_size=CHUNK
    ):
        answers_given: Row = {}
        for survey_answers in response.task.survey_answers.all() if response.task else ():
            answers_given |= survey_answers.answers
        held = {name: value for name, value in answers_given.items() if name in QUESTIONS and _fits_layout(name, value)}
        left_out.add(OTHER_SURVEYS, len(answers_given) - len(held))
        yield {
            "response": response.external_id,
            "worker": response.participant.external_id,
            "topic": response.topic.external_id,
            "style": response.style.name,
            **{name: held.get(name) for name in QUESTIONS},
        }


def _fits_layout(question: str, answer: Any) -> bool:
    try:
        record_schemas.TASK[question].clean(answer)
    except Mismatch:
        return False
    return True


def snapshots(responses: "QuerySet[Response]", left_out: ExclusionCounts) -> Iterator[Row]:
    """Yield the states of each human response's text, reconstructed from its log; the last one is the response.

    Without a log that may be released, the submitted response is the only state.
    """
    may_show = set(inclusion.keeps_its_log(_human(responses)).values_list("pk", flat=True))
    for response in _human(responses).select_related("topic", "style", "task__log").iterator(chunk_size=CHUNK):
        log = getattr(response.task, "log", None)
        if log is not None and response.pk not in may_show:
            left_out.add(inclusion.LOGS)
            log = None
        head = {"response": response.external_id, "topic": response.topic.external_id, "style": response.style.name}
        for ms, text in _states(response, log):
            yield {**head, "timestamp": ms, "text": text}


def _states(response: Response, log: WritingLog | None) -> Iterator[tuple[int, str]]:
    submitted = _milliseconds(response.submitted_at or response.created_at)
    start = _milliseconds(log.started_at) if log and log.started_at else submitted
    latest, text = start, None
    for ms, text in logs.snapshots(log) if log else ():
        latest = start + ms
        yield latest, text
    if text != response.text:
        yield max(latest, submitted), response.text


def model_responses(
    responses: "QuerySet[Response]", text_of: Callable[[Response], str] = _as_submitted
) -> Iterator[Row]:
    """Yield the responses of models and RAG systems; `text_of` returns the released text."""
    model_written = responses.exclude(origin=Origin.HUMAN).select_related("topic", "style", "participant")
    for response in model_written.iterator(chunk_size=CHUNK):
        yield {
            "response": response.external_id,
            "topic": response.topic.external_id,
            "style": response.style.name,
            "text": text_of(response),
            **_author(response),
        }


def _author(response: Response) -> Row:
    """Return the author of a response that is neither a person nor the model of the published corpus."""
    name = response.participant.external_id
    if response.origin == Origin.SYSTEM:
        return {"system": name}
    return {"model": name} if response.origin == Origin.MODEL and name != record_schemas.WRITER_MODEL else {}


def parsed(responses: "QuerySet[Response]", text_of: Callable[[Response], str] = _as_submitted) -> Iterator[Row]:
    """Yield parsed responses: statements with the IDs of cited passages.

    `text_of` must keep the length of the text, so that the spans of statements hold.
    """
    topics_ = Prefetch("topic", _with_passages(Topic.objects.all()))
    prefetched = queries.with_statements(responses.select_related("style", "participant")).prefetch_related(topics_)  # type: ignore[arg-type]
    for response in prefetched.iterator(chunk_size=CHUNK):
        passages = _passages(response.topic)
        ids = passages["references_ids"]
        text = text_of(response)
        statements: list[Row] = [
            {
                "text": text[statement.start : statement.end].strip() + statement.closing,
                "citations": [ids[citation.retrieved.rank] for citation in statement.citations.all()],
            }
            for statement in response.statements.all()
        ]
        yield {
            "response": response.external_id,
            "topic": response.topic.external_id,
            "style": response.style.name,
            "kind": KINDS[Origin(response.origin)],
            "query": response.topic.query,
            **passages,
            "raw_text": text,
            "cleaned_text": " ".join(statement["text"] for statement in statements),
            "statements": statements,
            **_author(response),
        }


def _human(responses: "QuerySet[Response]") -> "QuerySet[Response]":
    return responses.filter(origin=Origin.HUMAN)


def _with_passages(topics_released: "QuerySet[Topic]") -> "QuerySet[Topic]":
    return topics_released.prefetch_related(
        Prefetch("retrieved", RetrievedPassage.objects.select_related("passage").order_by("rank", "id"))
    )


def _passages(topic: Topic) -> dict[str, list[str]]:
    passages = [retrieved.passage for retrieved in topic.retrieved.all()]
    return {
        "references_ids": [passage.external_id for passage in passages],
        "references_texts": [passage.text for passage in passages],
    }


def _milliseconds(time: datetime) -> int:
    return (time - EPOCH) // timedelta(milliseconds=1)
