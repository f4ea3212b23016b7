"""The first study of the corpus: topics, writing tasks with surveys and logs, responses of people and of a model."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django.db.models import Sum

from crowdrag.studies.enums import ParticipantKind
from crowdrag.studies.models import Study
from writing.domain import logs, responses, styles, versions
from writing.domain.imports import storing, topics
from writing.domain.imports.problems import Problems
from writing.domain.responses import ResponseInput
from writing.enums import LogSource, SurveyKind, TaskState
from writing.models import Style, Survey, SurveyAnswers, Topic, WritingLog, WritingTask

from . import shapes
from .corpus import Corpus, Log, Task

_YES_MAYBE_NO = [{"value": 1, "label": "yes"}, {"value": 0, "label": "maybe"}, {"value": -1, "label": "no"}]
_ONE_TO_FIVE = [{"value": n, "label": str(n)} for n in range(1, 6)]
_QUESTIONS = {
    "query_answerable": ("Can the query be answered?", _YES_MAYBE_NO),
    "query_controversial": ("Is the topic controversial?", _YES_MAYBE_NO),
    "worker_knowledge": ("How much do you know about the topic?", _ONE_TO_FIVE),
    "worker_expertise": ("How much of an expert on the topic are you?", _ONE_TO_FIVE),
    "worker_satisfaction": ("Are you satisfied with your response?", _YES_MAYBE_NO),
    "references_quality": ("How adequate were the passages as sources?", _ONE_TO_FIVE),
    "references_extra": ("How much of your own knowledge did you use?", _ONE_TO_FIVE),
    "references_omission": ("Did you leave out information of the passages?", _YES_MAYBE_NO),
}
_SURVEYS = {SurveyKind.ENTRY: shapes.ENTRY_QUESTIONS, SurveyKind.EXIT: shapes.EXIT_QUESTIONS}


def store(*, study: Study, corpus: Corpus, problems: Problems, now: datetime) -> dict[str, int]:
    """Store what was written. Count what was made."""
    counts = topics.store(study=study, topics=corpus.topics, now=now)
    tasks, made = _store_tasks(study, corpus, problems, now)
    counts |= {"writing_tasks": made, "writing_logs": _store_logs(corpus, tasks, problems, now)}
    given = [*_human_responses(corpus, tasks), *corpus.model_responses]
    return counts | responses.store(study=study, responses=given, problems=problems, now=now)


def _store_tasks(study: Study, corpus: Corpus, problems: Problems, now: datetime) -> tuple[dict[str, WritingTask], int]:
    """Return the tasks of this import by the id of their response, and how many were made."""
    known: dict[str, WritingTask] = {}
    for batch in storing.batched({*corpus.tasks, *corpus.logs}):
        rows = WritingTask.objects.filter(study=study, external_id__in=batch).select_related(
            "topic", "style", "participant"
        )
        known |= {row.external_id: row for row in rows.order_by("id")}
    found = Topic.objects.filter(study=study, external_id__in={t.row.data["topic"] for t in corpus.tasks.values()})
    by_id = {topic.external_id: topic for topic in found.order_by("version", "id")}
    by_name = styles.ensure(study=study, names=[t.row.data["style"] for t in corpus.tasks.values()], now=now)
    people = storing.ensure_participants(
        study=study, people=[(ParticipantKind.CROWD, t.row.data["worker"]) for t in corpus.tasks.values()], now=now
    )
    missing = []
    for name, task in corpus.tasks.items():
        data = task.row.data
        if not _is_fine(task, by_id, by_name, known.get(name), problems) or name in known:
            continue
        log = corpus.logs.get(name)
        begun = _moment(log.encoder.origin) if log else None
        missing.append(
            WritingTask(
                study=study,
                external_id=name,
                topic=by_id[data["topic"]],
                style=by_name[data["style"]],
                participant=people[ParticipantKind.CROWD, data["worker"]],
                state=TaskState.ACCEPTED,
                created_at=begun or now,
                claimed_at=begun,
                submitted_at=_moment(log.latest) if log else None,
                is_imported=True,
            )
        )
    _check_logs(corpus, known, problems)
    problems.refuse_any()
    made = WritingTask.objects.bulk_create(missing, batch_size=storing.BATCH)
    known |= {row.external_id: row for row in made}
    _store_surveys(study, corpus, known, problems, now)
    return known, len(made)


def _is_fine(
    task: Task,
    topics_: Mapping[str, Topic],
    styles_: Mapping[str, Style],
    known: WritingTask | None,
    problems: Problems,
) -> bool:
    """Say whether a task refers to what is there and is the same as before; note what is wrong."""
    row, data = task.row, task.row.data
    wrong: list[tuple[str, str, str]] = []
    if data["topic"] not in topics_:
        wrong.append(
            ("topic", "a topic of the study", f"there is no topic {data['topic']} in this study or this import")
        )
    if data["style"] not in styles_:
        expected = "one of " + ", ".join(sorted({*styles_, *styles.DEFAULTS}))
        wrong.append(("style", expected, f"there is no style {data['style']} in this study"))
    if known is not None:
        person = known.participant.external_id if known.participant else None
        stored = {"topic": known.topic.external_id, "style": known.style.name, "worker": person}
        wrong += [
            (name, f"{value}, as in the study", f"got {data[name]}")
            for name, value in stored.items()
            if value != data[name]
        ]
    for name, expected, message in wrong:
        problems.add(file=row.file, line=row.line, field=name, expected=expected, message=message)
    return not wrong


def _check_logs(corpus: Corpus, known: Mapping[str, WritingTask], problems: Problems) -> None:
    """Note every log without a task, or whose task is on another topic or in another style."""
    for name, log in corpus.logs.items():
        task, row = corpus.tasks.get(name), known.get(name)
        if task is None and row is None:
            message = f"there is no writing task for response {name}"
            expected = f"a response of {shapes.TASKS}"
            problems.add(file=corpus.snapshot_file, line=log.line, field="response", expected=expected, message=message)
            continue
        topic, style = (
            (task.row.data["topic"], task.row.data["style"]) if task else (row.topic.external_id, row.style.name)  # type: ignore[union-attr]
        )
        for field, here, there in (("topic", log.topic, topic), ("style", log.style, style)):
            if here != there:
                expected = f"{there}, as in the writing task"
                problems.add(
                    file=corpus.snapshot_file, line=log.line, field=field, expected=expected, message=f"got {here}"
                )


def _store_surveys(
    study: Study, corpus: Corpus, tasks: Mapping[str, WritingTask], problems: Problems, now: datetime
) -> None:
    if not corpus.tasks:
        return
    surveys = {kind: _survey(study, kind, names, now) for kind, names in _SURVEYS.items()}
    known = {}
    rows = SurveyAnswers.objects.filter(task__study=study, survey__in=surveys.values()).order_by("id")
    for task_id, survey_id, answers in rows.values_list("task_id", "survey_id", "answers"):
        known[task_id, survey_id] = answers
    missing = []
    for name, task in corpus.tasks.items():
        for kind, survey in surveys.items():
            answers = task.answers(_SURVEYS[kind])
            stored = known.get((tasks[name].pk, survey.pk))
            if stored is not None and stored != answers:
                message = f"the study has other answers of response {name} to the {kind.label} survey"
                problems.add(
                    file=task.row.file, line=task.row.line, expected="the same answers as before", message=message
                )
            elif stored is None and answers:
                missing.append(SurveyAnswers(task=tasks[name], survey=survey, answers=answers))
    problems.refuse_any()
    SurveyAnswers.objects.bulk_create(missing, batch_size=storing.BATCH)


def _survey(study: Study, kind: SurveyKind, names: tuple[str, ...], now: datetime) -> Survey:
    questions = [{"name": n, "text": _QUESTIONS[n][0], "options": _QUESTIONS[n][1], "required": False} for n in names]
    survey, _made = versions.ensure(
        Survey, study=study, name=f"crowdrag25-{kind.lower()}", now=now, kind=kind, questions=questions
    )
    return survey


def _store_logs(corpus: Corpus, tasks: Mapping[str, WritingTask], problems: Problems, now: datetime) -> int:
    known: dict[int, int | None] = {}
    for batch in storing.batched([tasks[name].pk for name in corpus.logs]):
        rows = WritingLog.objects.filter(task__in=batch).annotate(count=Sum("batches__event_count")).order_by("id")
        known |= {row.task_id: row.count for row in rows}
    packed = []
    for name, log in corpus.logs.items():
        count = known.get(tasks[name].pk)
        if count is not None and count != log.event_count:
            message = f"the study has {count} snapshots of response {name}, here are {log.event_count}"
            expected = "the same log as before"
            problems.add(file=corpus.snapshot_file, line=log.line, field="response", expected=expected, message=message)
        elif count is None:
            packed.append(logs.PackedLog(tasks[name], _moment(log.encoder.origin), tuple(log.batches)))
    problems.refuse_any()
    return len(logs.store_packed(packed, source=LogSource.SNAPSHOTS, now=now))


def _human_responses(corpus: Corpus, tasks: Mapping[str, WritingTask]) -> list[ResponseInput]:
    return [_human_response(name, log, tasks[name], corpus.snapshot_file) for name, log in corpus.logs.items()]


def _human_response(name: str, log: Log, task: WritingTask, file: str) -> ResponseInput:
    assert task.participant is not None  # an imported task has one
    return ResponseInput(
        external_id=name,
        topic=log.topic,
        style=log.style,
        kind=ParticipantKind(task.participant.kind),
        participant=task.participant.external_id,
        text=log.text,
        submitted_at=_moment(log.latest),
        task=task,
        file=file,
        line=log.line,
    )


def _moment(milliseconds: Any) -> datetime | None:
    if milliseconds is None:
        return None
    seconds, rest = divmod(milliseconds, 1000)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest * 1000)
