"""Tables of writing logs, at the selected granularity: measures, states of the text, or all events.

A log is released only if its writer agreed to that and nothing in it was left out as personal data. Without consent to
the release of times, or if no times are released at all, events keep their order, and values derived from times are
missing.
"""

import re
from collections.abc import Iterator
from typing import Any

from analysis.writing_process import measures
from analysis.writing_process.events import BrokenLogError
from analysis.writing_process.passage_matches import Sources
from writing.editor import codec, logs
from writing.editor.events import BY_CODE
from writing.models import WritingLog
from writing.review.signal_display import passage_texts

from ..choices import Logs
from ..personal_data import free_texts
from .content_table import Columns, ContentColumn, ContentTable, Row, rows_of
from .selection import Selection
from .source import Source

CHUNK = 50
# Number of events in memory at a time, unless one log has more.
EVENTS = 8000
LOGS = "writing logs"
MINUTES = "text at every minute"
BROKEN = "the log cannot be read"
MINUTE = 60_000
_RESPONSE = ContentColumn("response", "text", False, "The resulting response.", "responses.response")
_SENTENCE_ENDS = re.compile(r"[.!?\u3002\uff01\uff1f\u0964\n]")
#: Measures of durations or speed: they count as times, whatever their unit.
_TIMES = frozenset(
    {
        "seconds",
        "active_seconds",
        "paused_seconds",
        "passage_seconds",
        "away_seconds",
        "typing_rate",
        "pauses",
        "bursts",
    }
) | {"burst_characters", "immediate_revisions", "absences", "at_once_share"}
_SECONDS = frozenset(name for name in measures.NAMES if name.endswith("seconds"))
#: Kinds of events that only contain times or durations.
_OF_TIME = frozenset({"k", "d", "j"})
# Fields of a change, for events that are no changes.
_NO_CHANGE: list[Any] = [None] * 7


def tables(source: Source) -> Iterator[ContentTable]:
    """Yield the selected tables; measures come with full logs too."""
    if source.choices.logs != Logs.NONE and source.choices.responses:
        yield _measures(source)
        if source.choices.logs == Logs.FULL:
            yield _events(source)
        elif source.choices.logs != Logs.MEASURES:
            yield _states(source)


def count(source: Source) -> None:
    """Count the logs of released responses that are left out, once, before anything is read."""
    if source.choices.logs == Logs.NONE or not source.choices.responses:
        return
    rows = WritingLog.objects.filter(task__study=source.study, task__response__isnull=False)
    for pk, response, person in rows.values_list("pk", "task__response__pk", "task__participant_id").iterator(2000):
        if response in source.selection.responses and (
            reason := _reason(source.selection, source.choices.logs, pk, person)
        ):
            source.selection.count.add(LOGS, reason)


def _reason(selection: Selection, granularity: Logs, log: int, person: int) -> str:
    permission = selection.writers[person]
    if permission.log:
        return permission.log
    if granularity == Logs.MINUTES and permission.timing:
        return permission.timing
    return selection.blackout.log_reason(log)


def released(source: Source) -> Iterator[tuple[WritingLog, bool]]:
    """Yield each released log, and whether its times may be released."""
    selection = source.selection
    for log in free_texts.released_logs(source.study).iterator(CHUNK):
        person = log.task.participant_id
        if log.task.response.pk not in selection.responses or person is None:
            continue
        if not _reason(selection, source.choices.logs, log.pk, person):
            yield log, source.clock.is_told and not selection.writers[person].timing


def _measures(source: Source) -> ContentTable:
    columns = (
        _RESPONSE,
        *(
            ContentColumn(name, "number", True, f"{_MEANINGS[name]} Null: not known, or not released.")
            for name in measures.NAMES
        ),
    )

    def rows() -> Iterator[Row]:
        logs_left = released(source)
        while chunk := _some(logs_left):
            passages = passage_texts({log.task.topic_id for log, _released_measures in chunk})
            prepared = {topic: Sources(texts) for topic, texts in passages.items()}
            for log, times_released in chunk:
                try:
                    values = measures.measure(logs.prefetched_events(log), prepared[log.task.topic_id])
                except (codec.BrokenLog, BrokenLogError):
                    values = measures.unknown()
                yield {
                    "response": log.task.response.external_id,
                    **_released_measures(source, values, times_released=times_released),
                }

    return ContentTable("log_measures", "Measures of the writing process of a response.", columns, rows, ("response",))


def _some(logs_left: Iterator[tuple[WritingLog, bool]]) -> list[tuple[WritingLog, bool]]:
    return [log for log, _n in zip(logs_left, range(CHUNK), strict=False)]


def _released_measures(source: Source, values: measures.Measures, *, times_released: bool) -> Row:
    row: Row = {}
    for name in measures.NAMES:
        value = values[name]
        if name in _SECONDS:
            row[name] = source.clock.seconds(value, is_released=times_released)
        else:
            row[name] = float(value) if value is not None and (times_released or name not in _TIMES) else None
    return row


def _states(source: Source) -> ContentTable:
    columns = (
        _RESPONSE,
        ContentColumn("state", "integer", False, "The number of the state of this text, from 0."),
        ContentColumn("ms", "integer", True, "Milliseconds since the log's start. Null: not released."),
        ContentColumn("text", "text", False, "The text at that time.", is_free_text=True),
    )

    def rows() -> Iterator[Row]:
        for log, times_released in released(source):
            name = log.task.response.external_id
            for number, (ms, text) in enumerate(states(log, source.choices.logs)):
                ms_told = source.clock.milliseconds(ms, is_released=times_released)
                yield {"response": name, "state": number, "ms": ms_told, "text": text}

    return ContentTable("log_states", "The state of a text during writing.", columns, rows, ("response", "state"))


def states(log: WritingLog, granularity: Logs) -> Iterator[tuple[int, str]]:
    """Yield (milliseconds, text) of states: the last one of each minute, those at the end of sentences, or all.

    With sentence granularity, a state is taken before the writer leaves a sentence, and at the end. A sentence is left
    when it is ended, or when a change lies in another sentence than the change before. A full log has the state after
    each change. An unreadable log has no states.
    """
    read = {Logs.MINUTES: _minutes, Logs.SENTENCES: _sentences}.get(granularity, _all)
    try:
        yield from read(log)
    except codec.BrokenLog:
        return


def _all(log: WritingLog) -> Iterator[tuple[int, str]]:
    return codec.states(logs.prefetched_events(log))


def _minutes(log: WritingLog) -> Iterator[tuple[int, str]]:
    last: tuple[int, str] | None = None
    for ms, text in codec.states(logs.prefetched_events(log)):
        if last is not None and ms // MINUTE != last[0] // MINUTE:
            yield last
        last = (ms, text)
    if last is not None:
        yield last


def _sentences(log: WritingLog) -> Iterator[tuple[int, str]]:
    text, ms, at = "", 0, 0
    is_new = False
    for event in logs.prefetched_events(log):
        if event[0] != codec.SPLICE:
            continue
        position, inserted = event[2], event[4]
        if is_new and _SENTENCE_ENDS.search(text, min(position, at), max(position, at)):
            yield ms, text
            is_new = False
        text, ms = codec.apply_splice(text, event), event[1]
        at = position + len(inserted)
        is_new = True
        if _SENTENCE_ENDS.search(inserted):
            yield ms, text
            is_new = False
    if is_new:
        yield ms, text


def _events(source: Source) -> ContentTable:
    columns = (
        _RESPONSE,
        ContentColumn("number", "integer", False, "The number of the event in this log, from 0."),
        ContentColumn("ms", "integer", True, "Milliseconds since the log's start. Null: not released."),
        ContentColumn("event", "text", False, "The event code (docs/reference/log-format.md).", values=tuple(BY_CODE)),
        ContentColumn("position", "integer", True, "For changes: position, in code points."),
        ContentColumn("deleted", "integer", True, "For changes: number of deleted characters."),
        ContentColumn("inserted", "text", True, "For changes: inserted text.", is_free_text=True),
        ContentColumn("source", "text", True, "For changes: the kind of input.", is_free_text=True),
        ContentColumn("input_type", "text", True, "For changes: the browser's input type.", is_free_text=True),
        ContentColumn("details", "json", True, "For other events: fields by name.", is_free_text=True),
    )

    def chunks() -> Iterator[Columns]:
        waiting: dict[str, list[Any]] = {column.name: [] for column in columns}
        for log, times_released in released(source):
            for name, values in _of_log(source, log, times_released=times_released).items():
                waiting[name] += values
            if len(waiting["number"]) >= EVENTS:
                yield dict(waiting)
                waiting = {name: [] for name in waiting}
        if waiting["number"]:
            yield dict(waiting)

    meaning = "An event of a writing log."
    return ContentTable("log_events", meaning, columns, rows_of(chunks), ("response", "number"), chunks)


def _of_log(source: Source, log: WritingLog, *, times_released: bool) -> Columns:
    """Return a log's events by columns, as far as they can be read."""
    kept = BY_CODE.keys() if times_released else BY_CODE.keys() - _OF_TIME
    events = []
    try:
        for event in logs.prefetched_events(log):
            if event[0] in kept:
                events.append(event)  # noqa: PERF401 -- what was read before a broken batch is kept
    except codec.BrokenLog:
        pass
    changes = [event if event[0] == codec.SPLICE else _NO_CHANGE for event in events]
    return {
        "response": [log.task.response.external_id] * len(events),
        "number": range(len(events)),
        "ms": source.clock.all_milliseconds([event[1] for event in events], is_released=times_released),
        "event": [event[0] for event in events],
        "position": [event[2] for event in changes],
        "deleted": [event[3] for event in changes],
        "inserted": [event[4] for event in changes],
        # Imported logs have neither.
        "source": [event[5] if len(event) > 5 else None for event in changes],
        "input_type": [(event[6] or None) if len(event) > 6 else None for event in changes],
        "details": [None if event[0] == codec.SPLICE else _details(source, event) for event in events],
    }


def _details(source: Source, event: list[Any]) -> dict[str, Any]:
    """Return an event's fields by name, without the device's own clock, which could identify a person."""
    details = dict(zip(BY_CODE[event[0]].fields, event[2:], strict=False))
    details.pop("clock", None)
    for name in ("held", "milliseconds"):
        if name in details:
            details[name] = source.clock.milliseconds(details[name])
    return details


_MEANINGS = {
    "seconds": "Time from the first to the last event.",
    "active_seconds": "The same without pauses away from the text.",
    "pauses": "Number of pauses.",
    "bursts": "Number of bursts of writing between pauses.",
    "pastes": "Number of pastes.",
    "pasted_share": "Share of the text that was pasted.",
    "revisions": "Number of revisions.",
    "paused_seconds": "Total time of pauses.",
    "burst_characters": "Mean number of characters per burst.",
    "typing_rate": "Typing speed.",
    "produced": "Number of characters produced.",
    "deleted": "Number of characters deleted.",
    "immediate_revisions": "Number of immediate revisions, at the writing position.",
    "at_once_share": "Share of the text inserted at once.",
    "passage_share": "Share of the text from passages.",
    "elsewhere_share": "Share of the text from elsewhere.",
    "passages_opened": "Number of opened passages.",
    "passage_seconds": "Time with passages in view.",
    "searches": "Number of searches in passages.",
    "absences": "Number of times the page was left.",
    "away_seconds": "Total time away from the page.",
}
