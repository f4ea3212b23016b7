"""Responses that wait for review, each with the log that wrote it."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from crowdrag.studies.models import Study
from tests.factories import NOW, RetrievedPassageFactory, StyleFactory, TopicFactory, WritingTaskFactory
from writing.corpus import responses
from writing.editor import codec
from writing.enums import LogSource, TaskState
from writing.models import EditingSession, LogBatch, WritingLog, WritingTask

Event = list[Any]


def typed(text: str, *, start: int = 0, every: int = 180, at: int = 0) -> list[Event]:
    """Type a text, letter by letter, with the keys that it takes."""
    events: list[Event] = []
    for number, letter in enumerate(text):
        ms = start + number * every
        events += [["k", ms, "letter", 80], ["s", ms + 5, at + number, 0, letter, "typed", "insertText"]]
    return events


def pasted(text: str, *, ms: int, at: int, place: int = -2) -> list[Event]:
    """Paste a text; what the page noted comes before the change."""
    return [["p", ms, place, len(text), 0], ["s", ms + 2, at, 0, text, "pasted", "insertFromPaste"]]


def written(*, topic_words: str = "Tides rise and fall because of the moon and the sun.") -> tuple[list[Event], str]:
    """Return a log of a few seconds that holds something of everything, and the text that it ends in."""
    first = "Tides differ [0]. "
    quote = "The moon pulls harder on the near side than on the far side of the earth."
    events: list[Event] = [["a", 0, 0, 1280, 800, False], ["o", 300, 1, 1], ["d", 900, 1, 600], ["q", 950, "moon", 2]]
    events += typed(first, start=1_000)
    now = 1_000 + len(first) * 180
    events += [["v", now + 500, 0], ["v", now + 9_500, 1]]
    events += pasted(quote, ms=now + 10_000, at=len(first))
    events += [["s", now + 11_000, 0, 5, "", "deleted", "deleteContentBackward"], ["c", now + 11_100, 0, 4]]
    events += [["s", now + 12_000, 0, 0, "Tides", "typed", "insertText"], ["b", now + 13_000, 1, 3, "button"]]
    end = len(first + quote)
    events += [["s", now + 13_001, end, 0, " [1].", "cited", ""], ["o", now + 14_000, 1, 0]]
    return events, f"{first}{quote} [1]."


def log_of(
    task: WritingTask, sessions: Sequence[tuple[Iterable[Event], int | None, int]], *, now: datetime = NOW
) -> WritingLog:
    """Store a log: of each session its events, the number of the session that it goes on from, and after how many."""
    log = WritingLog.objects.create(task=task, source=LogSource.EDITOR, started_at=now, created_at=now)
    rows: list[EditingSession] = []
    for number, (events, base, base_events) in enumerate(sessions):
        events = list(events)
        rows.append(
            EditingSession.objects.create(
                log=log,
                number=number,
                base=None if base is None else rows[base],
                base_events=base_events,
                next_event=len(events),
                opened_at=now,
                last_at=now,
            )
        )
        payload = codec.pack(events)
        if events:
            LogBatch.objects.create(
                log=log,
                session=number,
                number=0,
                first_event=0,
                event_count=len(events),
                codec=codec.CODEC,
                payload=payload,
                digest=codec.digest(payload),
                received_at=now,
            )
    return log


def submitted(
    study: Study, *, minutes: int = 0, events: list[Event] | None = None, text: str | None = None, **task: Any
) -> WritingTask:
    """Make a task that was submitted so many minutes ago, with response and log."""
    if events is None:
        events, text = written()
    at = NOW - timedelta(minutes=minutes)
    topic = task.pop("topic", None) or TopicFactory(study=study, query="Why do tides differ from harbour to harbour?")
    if not topic.retrieved.exists():
        for rank in range(3):
            RetrievedPassageFactory(topic=topic, rank=rank)
    style = task.pop("style", None) or StyleFactory(study=study)
    made = WritingTaskFactory(topic=topic, style=style, claimed=True, **task)
    made.state, made.submitted_at, made.active_seconds = TaskState.SUBMITTED, at, 21.0
    made.save()
    log_of(made, [(events, None, 0)], now=at)
    responses.submit(
        study=study,
        topic=topic,
        style=made.style,
        participant=made.participant,
        external_id=f"r-{made.external_id}",
        text=codec.final_text(events) if text is None else text,
        task=made,
        now=at,
    )
    return WritingTask.objects.select_related("response", "log", "topic", "study").get(pk=made.pk)
