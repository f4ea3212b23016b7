"""Store the corpus's first study: topics, tasks with surveys and logs, responses."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from django.db.models import Sum

from crowdrag.studies.enums import ParticipantKind
from crowdrag.studies.models import Study
from writing.corpus import responses, versions
from writing.corpus.imports import bulk, topic_files
from writing.corpus.imports.problems import Problems
from writing.corpus.responses import ResponseInput
from writing.editor import logs
from writing.enums import LogSource, SurveyKind, TaskState
from writing.models import Response, Style, Survey, SurveyAnswers, Topic, WritingLog, WritingTask

from . import record_schemas
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
_SURVEYS = {SurveyKind.ENTRY: record_schemas.ENTRY_QUESTIONS, SurveyKind.EXIT: record_schemas.EXIT_QUESTIONS}


def store(*, study: Study, corpus: Corpus, problems: Problems, now: datetime) -> dict[str, int]:
    """Store topics, tasks and responses; return the number of new rows."""
    counts = topic_files.store(study=study, topics=[*corpus.topics, *_new_topics(study, corpus)], now=now)
    tasks, created = _store_tasks(study, corpus, problems, now)
    usable_logs = _usable_logs(corpus, tasks, problems)
    counts |= {
        "writing_tasks": created,
        "writing_logs": _store_logs(usable_logs, corpus.snapshot_file, tasks, problems, now),
    }
    responses_to_store = [
        _human_response(name, log, tasks[name], corpus.snapshot_file) for name, log in usable_logs.items()
    ]
    responses_to_store += corpus.model_responses
    responses_to_store += [
        _with_task(each, tasks) for each in _new_responses(study, corpus) if each.external_id not in usable_logs
    ]
    return counts | responses.store(study=study, responses=responses_to_store, problems=problems, now=now)


def _store_tasks(study: Study, corpus: Corpus, problems: Problems, now: datetime) -> tuple[dict[str, WritingTask], int]:
    """Return the tasks of this import by the id of their response, and the number of new ones."""
    known: dict[str, WritingTask] = {}
    parsed = (response.external_id for response in corpus.parsed_responses)
    for batch in bulk.batches({*corpus.tasks, *corpus.logs, *parsed}):
        rows = WritingTask.objects.filter(study=study, external_id__in=batch).select_related(
            "topic", "style", "participant"
        )
        known |= {row.external_id: row for row in rows.order_by("id")}
    topics = Topic.objects.filter(study=study, external_id__in={t.row.data["topic"] for t in corpus.tasks.values()})
    by_id = {topic.external_id: topic for topic in topics.order_by("version", "id")}
    by_name = versions.ensure_styles(study=study, names=[t.row.data["style"] for t in corpus.tasks.values()], now=now)
    people = bulk.ensure_participants(
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
    problems.refuse_any()
    created = WritingTask.objects.bulk_create(missing, batch_size=bulk.BATCH)
    known |= {row.external_id: row for row in created}
    _store_surveys(study, corpus, known, problems, now)
    return known, len(created)


def _is_fine(
    task: Task,
    topics_: Mapping[str, Topic],
    styles_: Mapping[str, Style],
    known: WritingTask | None,
    problems: Problems,
) -> bool:
    """Return whether a task's references exist and it equals the stored task; report problems."""
    row, data = task.row, task.row.data
    wrong: list[tuple[str, str, str]] = []
    if data["topic"] not in topics_:
        wrong.append(
            ("topic", "a topic of the study", f"there is no topic {data['topic']} in this study or this import")
        )
    if data["style"] not in styles_:
        expected = "one of " + ", ".join(sorted({*styles_, *versions.DEFAULT_STYLES}))
        wrong.append(("style", expected, f"there is no style {data['style']} in this study"))
    for name, expected, message in wrong:
        problems.set_aside(file=row.file, line=row.line, field=name, expected=expected, message=message)
    if known is not None:
        person = known.participant.external_id if known.participant else None
        stored = {"topic": known.topic.external_id, "style": known.style.name, "worker": person}
        for name, value in stored.items():
            if value != data[name]:
                expected = f"{value}, as in the study"
                problems.add(file=row.file, line=row.line, field=name, expected=expected, message=f"got {data[name]}")
    return not wrong


def _usable_logs(corpus: Corpus, tasks: Mapping[str, WritingTask], problems: Problems) -> dict[str, Log]:
    """Return the logs with an existing writing task of the same topic and style; report the others."""
    usable = {}
    for name, log in corpus.logs.items():
        task = tasks.get(name)
        here = (log.topic, log.style)
        key_of_task = (task.topic.external_id, task.style.name) if task else None
        if here == key_of_task:
            usable[name] = log
            continue
        field, expected = "response", f"a response of {record_schemas.TASKS}"
        message = f"there is no writing task for response {name}"
        if key_of_task is not None:
            field, expected = "topic, style", f"topic {key_of_task[0]}, style {key_of_task[1]}, as in the writing task"
            message = f"got topic {here[0]}, style {here[1]}"
        problems.set_aside(
            file=corpus.snapshot_file,
            line=log.line,
            field=field,
            expected=expected,
            message=message,
            rows=log.event_count,
        )
    problems.refuse_any()
    return usable


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
        if name not in tasks:
            continue  # set aside
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
    SurveyAnswers.objects.bulk_create(missing, batch_size=bulk.BATCH)


def _survey(study: Study, kind: SurveyKind, names: tuple[str, ...], now: datetime) -> Survey:
    questions = [{"name": n, "text": _QUESTIONS[n][0], "options": _QUESTIONS[n][1], "required": False} for n in names]
    survey, _made = versions.ensure(
        Survey, study=study, name=f"crowdrag25-{kind.lower()}", now=now, kind=kind, questions=questions
    )
    return survey


def _store_logs(
    logs_by_id: Mapping[str, Log], file: str, tasks: Mapping[str, WritingTask], problems: Problems, now: datetime
) -> int:
    known: dict[int, int | None] = {}
    for batch in bulk.batches([tasks[name].pk for name in logs_by_id]):
        rows = WritingLog.objects.filter(task__in=batch).annotate(count=Sum("batches__event_count")).order_by("id")
        known |= {row.task_id: row.count for row in rows}
    packed = []
    for name, log in logs_by_id.items():
        count = known.get(tasks[name].pk)
        if count is not None and count != log.event_count:
            message = f"the study has {count} snapshots of response {name}, here are {log.event_count}"
            expected = "the same log as before"
            problems.add(file=file, line=log.line, field="response", expected=expected, message=message)
        elif count is None:
            packed.append(logs.PackedLog(tasks[name], _moment(log.encoder.origin), tuple(log.batches)))
    problems.refuse_any()
    return len(logs.store_packed(packed, source=LogSource.SNAPSHOTS, now=now))


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


def _new_topics(study: Study, corpus: Corpus) -> list[topic_files.TopicInput]:
    ids = [topic.external_id for topic in corpus.parsed_topics]
    known = set(Topic.objects.filter(study=study, external_id__in=ids).values_list("external_id", flat=True))
    return [topic for topic in corpus.parsed_topics if topic.external_id not in known]


def _new_responses(study: Study, corpus: Corpus) -> list[ResponseInput]:
    ids = [response.external_id for response in corpus.parsed_responses]
    known = set(Response.objects.filter(study=study, external_id__in=ids).values_list("external_id", flat=True))
    return [response for response in corpus.parsed_responses if response.external_id not in known]


def _with_task(response: ResponseInput, tasks: Mapping[str, WritingTask]) -> ResponseInput:
    """Return a person's response with its writing task, if any, which says who wrote it."""
    task = tasks.get(response.external_id)
    if task is None or task.participant is None or response.kind != ParticipantKind.CROWD:
        return response
    kind, writer = ParticipantKind(task.participant.kind), task.participant.external_id
    return replace(response, kind=kind, participant=writer, task=task)


def _moment(milliseconds: Any) -> datetime | None:
    if milliseconds is None:
        return None
    seconds, rest = divmod(milliseconds, 1000)
    return datetime.fromtimestamp(seconds, UTC).replace(microsecond=rest * 1000)
