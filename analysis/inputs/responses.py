"""Reading of valid responses into arrays, with their passages, survey answers and log measures.

A submitted log never changes, so its measures are computed once and stored with the version of the method: processing a
log takes milliseconds, and a large study has ten thousand. Stored measures are deleted with their log.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from django.db import IntegrityError, transaction
from django.db.models import Q

from analysis.writing_process import measures
from analysis.writing_process.events import BrokenLogError
from analysis.writing_process.passage_matches import Sources
from crowdrag.studies.models import Study
from writing.editor import codec, logs
from writing.models import Response, RetrievedPassage, SurveyAnswers, WritingLog
from writing.review.signal_display import passage_texts

from . import arrays
from .models import LogMeasures
from .texts import Digest

#: Number of rows in memory at a time; they are short.
CHUNK = 5_000


@dataclass(frozen=True)
class ResponseInputs:
    """Responses sorted by name, and related data; see `inputs.Inputs`."""

    responses: tuple[arrays.Response, ...]
    passages: tuple[str, ...]
    rankings: tuple[tuple[int, ...], ...]
    answers: tuple[arrays.Answer, ...]


def load_responses(study: Study) -> ResponseInputs:
    """Read all valid responses of a study."""
    shown, passages = _passages_of_topics(study)
    rankings = sorted(set(shown.values()))
    ranking_index = {ranking: i for i, ranking in enumerate(rankings)}
    responses, keys = _responses(study, {topic: ranking_index[ranking] for topic, ranking in shown.items()})
    return ResponseInputs(responses, passages, tuple(rankings), _answers(study, keys))


def _passages_of_topics(study: Study) -> tuple[dict[int, tuple[int, ...]], tuple[str, ...]]:
    """Return the passages of each topic version with responses, as indices of digests; -1 at a missing rank."""
    rows = RetrievedPassage.objects.filter(topic__in=Response.objects.filter(study=study).included().values("topic"))
    rankings: dict[int, list[str]] = {}
    columns = ("topic_id", "rank", Digest("passage__text"))
    for topic, rank, text in rows.order_by("topic_id", "rank").values_list(*columns).iterator(chunk_size=CHUNK):
        ranking = rankings.setdefault(topic, [])
        ranking += [""] * (rank - len(ranking)) + [text]
    passages = sorted({name for ranking in rankings.values() for name in ranking} - {""})
    passage_index = {name: i for i, name in enumerate(passages)} | {"": -1}
    return {topic: tuple(passage_index[name] for name in ranking) for topic, ranking in rankings.items()}, tuple(
        passages
    )


def _responses(study: Study, ranking: dict[int, int]) -> tuple[tuple[arrays.Response, ...], dict[int, int]]:
    """Return the responses, and their indices by the primary key of the task."""
    columns = ("external_id", "topic__external_id", "style__name", "origin", "participant__external_id", "words",
               Digest("text"), "topic_id", "task_id")  # fmt: skip
    rows = Response.objects.filter(study=study).included().values_list(*columns).iterator(chunk_size=CHUNK)
    responses = sorted(
        (
            (arrays.Response(name, topic, style, origin.lower(), participant, words, text,
                             ranking.get(version, -1)), task)
            for name, topic, style, origin, participant, words, text, version, task in rows
        ),
        key=lambda entry: entry[0].name,
    )  # fmt: skip
    return tuple(response for response, _ in responses), {
        task: i for i, (_, task) in enumerate(responses) if task is not None
    }


def _answers(study: Study, response_index: dict[int, int]) -> tuple[arrays.Answer, ...]:
    """Return numeric answers of the tasks with valid responses; free text is not analysed."""
    rows = SurveyAnswers.objects.filter(Q(task__study=study) & Q(task__response__is_included=True))
    numbers = set()
    for task, kind, answers in rows.values_list("task_id", "survey__kind", "answers").iterator(chunk_size=CHUNK):
        for question, value in answers.items():
            if task in response_index and isinstance(value, int | float) and not isinstance(value, bool):
                numbers.add(arrays.Answer(response_index[task], kind.lower(), question, float(value)))
    return tuple(sorted(numbers, key=lambda answer: (answer.response, answer.kind, answer.question, answer.value)))


MEASURES = measures.NAMES
#: Number of logs in memory at a time.
LOGS_AT_ONCE = 100


def load_log_measures(study: Study, responses: Sequence[arrays.Response]) -> tuple[arrays.Process, ...]:
    """Read the log measures of each response with a log; compute and store missing ones."""
    response_index = {response.name: i for i, response in enumerate(responses)}
    logs = WritingLog.objects.filter(task__study=study, task__response__is_included=True)
    columns = ("pk", "task__response__external_id", "measures__version", "measures__values")
    names, kept = {}, {}
    for pk, name, version, values in logs.values_list(*columns):
        names[pk] = name
        if version == measures.VERSION:
            kept[pk] = values
    kept |= _computed(sorted(set(names) - set(kept)))
    ordered = sorted((response_index[name], pk) for pk, name in names.items() if name in response_index and pk in kept)
    return tuple(arrays.Process(at, {name: kept[pk].get(name) for name in MEASURES}) for at, pk in ordered)


def _computed(keys: Sequence[int]) -> dict[int, measures.Measures]:
    """Measure some logs and store the measures."""
    measures_by_log: dict[int, measures.Measures] = {}
    # Sort by topic, so that a topic's passages are prepared once.
    rows = WritingLog.objects.filter(pk__in=keys).order_by("task__topic_id", "pk")
    ordered = list(rows.values_list("pk", flat=True))
    for start in range(0, len(ordered), LOGS_AT_ONCE):
        chosen = rows.filter(pk__in=ordered[start : start + LOGS_AT_ONCE])
        batch_measures = dict(_measured(chosen.select_related("task").prefetch_related("batches", "sessions")))
        _keep(batch_measures)
        measures_by_log |= batch_measures
    return measures_by_log


def _measured(chosen: Iterable[WritingLog]) -> Iterable[tuple[int, measures.Measures]]:
    taken = list(chosen)
    sources = {topic: Sources(texts) for topic, texts in passage_texts({log.task.topic_id for log in taken}).items()}
    for log in taken:
        try:
            yield log.pk, measures.measure(logs.prefetched_events(log), sources[log.task.topic_id])
        except (codec.BrokenLog, BrokenLogError):
            yield log.pk, measures.unknown()


def _keep(measures_by_log: dict[int, measures.Measures]) -> None:
    """Store measures, except those of logs that were erased in the meantime."""
    with suppress(IntegrityError), transaction.atomic():
        existing = set(
            WritingLog.objects.filter(pk__in=measures_by_log)
            .select_for_update(no_key=True)
            .values_list("pk", flat=True)
        )
        LogMeasures.objects.bulk_create(
            [
                LogMeasures(log_id=pk, version=measures.VERSION, values=values)
                for pk, values in measures_by_log.items()
                if pk in existing
            ],
            update_conflicts=True,
            unique_fields=["log"],
            update_fields=["version", "values"],
        )
