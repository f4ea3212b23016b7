"""Free texts of a study that may be released, read one by one with constant memory."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from annotation.models import Assignment, Judgment
from crowdrag.studies.models import Study
from writing.editor import codec, logs
from writing.models import Response, SurveyAnswers, WritingLog

from ...enums import TextSource

CHUNK = 500
#: Searches in the passages (docs/reference/log-format.md).
SEARCH = "q"
#: Number of characters of context around a change; no rule has a longer pattern.
AROUND = 200
# Questions in surveys about the person.
_OF_ONESELF = (
    *("name", "mail", "phone", "address", "account", "handle", "prolific", "worker id", "employer", "company"),
    *("school", "university", "city", "town", "village", "postcode", "zip", "birth", "contact"),
)
_LONGEST, _MOST_WORDS, _SHORTEST = 60, 5, 3


@dataclass(frozen=True, slots=True)
class Text:
    """A text, its place, and its author; `topic` is None if it is not about one."""

    source: TextSource
    row: int
    field: str
    participant: int
    topic: int | None
    text: str


def texts_of(study: Study, sources: Collection[TextSource] = tuple(TextSource)) -> Iterator[Text]:
    """Yield the texts of these sources. Of logs, only deleted text: the rest is in the response."""
    for source, read in _READERS.items():
        if source in sources:
            yield from read(study)


def _responses(study: Study) -> Iterator[Text]:
    rows = Response.objects.filter(study=study).exclude(text="").order_by("pk")
    for pk, person, topic, text in rows.values_list("pk", "participant_id", "topic_id", "text").iterator(CHUNK):
        yield Text(TextSource.RESPONSE, pk, "", person, topic, text)


def _surveys(study: Study) -> Iterator[Text]:
    rows = SurveyAnswers.objects.filter(task__study=study, task__participant__isnull=False).order_by("pk")
    columns = ("pk", "task__participant_id", "task__topic_id", "answers")
    for pk, person, topic, answers in rows.values_list(*columns).iterator(CHUNK):
        for name, value in answers.items():
            if isinstance(value, str) and value:
                yield Text(TextSource.SURVEY, pk, name, person, topic, value)


def _justifications(study: Study) -> Iterator[Text]:
    rows = Judgment.objects.of_study(study).exclude(justification="").order_by("pk")
    columns = ("pk", "assignment__participant_id", "item__topic_id", "justification")
    for pk, person, topic, text in rows.values_list(*columns).iterator(CHUNK):
        yield Text(TextSource.JUSTIFICATION, pk, "", person, topic, text)


def _comments(study: Study) -> Iterator[Text]:
    rows = Assignment.objects.filter(questionnaire__campaign__study=study).exclude(comment="").order_by("pk")
    for pk, person, text in rows.values_list("pk", "participant_id", "comment").iterator(CHUNK):
        yield Text(TextSource.COMMENT, pk, "", person, None, text)


def _logs(study: Study) -> Iterator[Text]:
    for log in released_logs(study).iterator(CHUNK // 10):
        person, topic = log.task.participant_id, log.task.topic_id
        assert person is not None  # a response has an author
        for number, text in discarded(log):
            yield Text(TextSource.LOG, log.pk, str(number), person, topic, text)


_READERS = {
    TextSource.RESPONSE: _responses,
    TextSource.SURVEY: _surveys,
    TextSource.JUSTIFICATION: _justifications,
    TextSource.COMMENT: _comments,
    TextSource.LOG: _logs,
}


def released_logs(study: Study) -> "QuerySet[WritingLog]":
    """Return the logs that led to a response, with their events, sorted by response."""
    logs = WritingLog.objects.filter(Q(task__study=study, task__response__isnull=False))
    return logs.select_related("task__response").prefetch_related("batches", "sessions").order_by("task__response__pk")


def discarded(log: WritingLog) -> Iterator[tuple[int, str]]:
    """Yield text in a log that the final text does not contain, with the number of the event.

    This is the context of each deletion of text written earlier, and search queries. An unreadable log yields nothing,
    because nothing of it could be released.
    """
    try:
        yield from gone(logs.prefetched_events(log))
    except codec.BrokenLog:
        return


def gone(events: Iterable[codec.Event]) -> Iterator[tuple[int, str]]:
    """Yield the same from events.

    Raises
    ------
    BrokenLog
        If a splice lies outside its text, and something would have been yielded after it.
    """
    text, low, high = "", 0, 0
    grown = False
    for number, event in _telling(events):
        if event[0] == SEARCH:
            yield number, str(event[2])
            continue
        position, deleted, inserted = event[2], event[3], event[4]
        if deleted and grown:
            yield number, text[max(0, min(low, position) - AROUND) : max(high, position + deleted) + AROUND]
            grown = False
        text = codec.apply_splice(text, event)
        if inserted:
            end = position + len(inserted)
            low, high = (min(low, position), max(high + len(inserted), end)) if grown else (position, end)
            grown = True


def _telling(events: Iterable[codec.Event]) -> Iterator[tuple[int, codec.Event]]:
    """Yield searches and changes with their numbers.

    Characters typed in a row are merged into one change, with the number of the event that ended it; if nothing changed
    overall, there is none.
    """
    typed: list[str] = []
    begin = end = 0
    for number, event in enumerate(events):
        is_change = event[0] == codec.SPLICE
        if not is_change and (event[0] != SEARCH or len(event) < 3):
            continue
        is_typed = is_change and not event[3]
        if typed and not (is_typed and event[2] == end):
            yield number, [codec.SPLICE, 0, begin, 0, "".join(typed)]
            typed = []
        if is_typed:
            begin = begin if typed else event[2]
            end = event[2] + len(event[4])
            typed.append(event[4])
        else:
            yield number, event


def answers_about_themselves(study: Study) -> dict[int, tuple[str, ...]]:
    """Return short answers that people gave about themselves in surveys, by participant.

    These are free texts in answer to questions about who they are, or texts that look like a name.
    """
    answers_by_participant: dict[int, set[str]] = defaultdict(set)
    rows = SurveyAnswers.objects.filter(task__study=study, task__participant__isnull=False).order_by("pk")
    columns = ("task__participant_id", "answers", "survey__questions")
    for person, answers, questions in rows.values_list(*columns).iterator(CHUNK):
        questions_by_name = {question.get("name"): question for question in questions if isinstance(question, dict)}
        for name, value in answers.items():
            if isinstance(value, str) and _is_telling(value.strip(), name, questions_by_name.get(name, {})):
                answers_by_participant[person].add(value.strip())
    return {person: tuple(sorted(own_answers)) for person, own_answers in answers_by_participant.items()}


def _is_telling(value: str, name: str, question: dict[str, Any]) -> bool:
    words = value.split()
    if question.get("options") or not (_SHORTEST <= len(value) <= _LONGEST and len(words) <= _MOST_WORDS):
        return False
    question_text = f"{name} {question.get('text', '')}".replace("_", " ").lower()
    if any(word in question_text for word in _OF_ONESELF):
        return True
    return len(words) > 1 and all(word[0].isupper() and word[1:].islower() for word in words)
