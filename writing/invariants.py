"""Invariants of tasks and logs (`manage.py check_invariants`)."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from django.db.models import Count, F, Func, QuerySet

from crowdrag.studies.invariants import Invariant, Tally, register

from .assignments.models import PAST
from .editor import codec, logs
from .enums import LogSource
from .models import EditingSession, LogBatch, Response, WritingLog, WritingTask

CHUNK = 100


def register_all() -> None:
    """Register the invariants for the command."""
    for each in (
        Invariant("writing.sequence", "Each session's batches and events are numbered without a gap.", sequence),
        Invariant("writing.digests", "Each batch matches its checksum.", digests),
        Invariant(
            "writing.sessions",
            "All sessions but the last are closed, and each starts from the text before it.",
            sessions,
        ),
        Invariant("writing.lengths", "Each session's log rebuilds a text of the recorded length.", lengths),
        Invariant("writing.texts", "Each recorded response is the text that its log rebuilds.", texts),
        Invariant("writing.slots", "Each slot has at most one active task.", slots),
        Invariant("writing.topics", "Nobody writes twice on a topic.", topics),
        Invariant("writing.erased", "Erased responses have no text and do not count in the analysis.", erased),
    ):
        register(each)


def sequence(tally: Tally) -> None:
    """Compare the numbers of batches and events with those in each session's row."""
    known = {(log, number): counts for log, number, *counts in _sessions("next_batch", "next_event")}
    columns = ("log_id", "session", "number", "first_event", "event_count")
    rows = LogBatch.objects.order_by("log_id", "session", "number").values_list(*columns)
    for (log, session), batch_rows in groupby(rows.iterator(), key=lambda row: row[:2]):
        batches = events = 0
        for _log, _session, number, first, count in batch_rows:
            if (number, first) != (batches, events):
                tally.wrong(f"log {log}, session {session}: batch {number} from event {first}, not {batches}, {events}")
            batches, events = number + 1, first + count
        tally.saw()
        expected = known.pop((log, session), None)
        if expected is not None and expected != [batches, events]:
            tally.wrong(f"log {log}, session {session}: {batches} batches, {events} events; its row says {expected}")
    for (log, session), expected in known.items():
        tally.saw()
        if expected != [0, 0]:
            tally.wrong(f"log {log}, session {session}: nothing is stored; its row says {expected}")


def digests(tally: Tally) -> None:
    """Recompute each batch's digest in the database."""
    tally.saw(LogBatch.objects.count())
    wrong = LogBatch.objects.exclude(digest=Func(F("payload"), function="sha256"))
    for log, session, number in wrong.order_by("pk").values_list("log_id", "session", "number"):
        tally.wrong(f"log {log}, session {session}, batch {number}: its bytes are others")


def sessions(tally: Tally) -> None:
    """Check the order and fencing of sessions."""
    rows = EditingSession.objects.select_related("base").order_by("log_id", "number")
    for log, group in groupby(rows.iterator(chunk_size=CHUNK), key=lambda session: session.log_id):
        session_rows = list(group)
        for i, session in enumerate(session_rows):
            tally.saw()
            before = session_rows[i - 1] if i else None
            if session.number != i or session.base_id != (before.pk if before else None):
                tally.wrong(f"log {log}: session {session.number} does not follow the one before it")
            if before is not None and session.base_events > before.next_event:
                tally.wrong(f"log {log}: session {session.number} began with events that are not there")
            if (session.superseded_at is None) != (session is session_rows[-1]):
                tally.wrong(f"log {log}: session {session.number} is fenced or not, and should not be so")


def lengths(tally: Tally) -> None:
    """Rebuild each log's text, and compare its length with that in the latest session's row."""
    latest = {log: length for log, _number, length in sorted(_sessions("length"))}
    for log in WritingLog.objects.filter(pk__in=latest).order_by("pk").iterator(chunk_size=CHUNK):
        tally.saw()
        for text in _text(log, tally):
            if len(text) != latest[log.pk]:
                tally.wrong(f"log {log.pk}: {len(text)} characters; its last session says {latest[log.pk]}")


def texts(tally: Tally) -> None:
    """Rebuild the text of each response that was written in the editor, and compare it with the response."""
    recorded = WritingLog.objects.filter(source=LogSource.EDITOR, task__response__erased_at__isnull=True)
    recorded = recorded.filter(task__response__isnull=False).select_related("task__response").order_by("pk")
    for log in recorded.iterator(chunk_size=CHUNK):
        tally.saw()
        for text in _text(log, tally):
            if log.response is None or text != log.response.text:
                tally.wrong(f"log {log.pk}: it rebuilds another text than that of its response")


def slots(tally: Tally) -> None:
    """Check that each slot has at most one live task across versions, which the unique index does not cover."""
    live = WritingTask.objects.filter(slot__isnull=False).exclude(state__in=PAST)
    _at_most_one(tally, live.values("study_id", "topic__external_id", "style__name", "slot"))


def topics(tally: Tally) -> None:
    """Check that each participant has at most one live task on a topic across versions."""
    live = WritingTask.objects.filter(is_imported=False, participant__isnull=False).exclude(state__in=PAST)
    _at_most_one(tally, live.values("participant_id", "study_id", "topic__external_id"))


def erased(tally: Tally) -> None:
    """Check that erased texts are not stored or included again."""
    gone = Response.objects.filter(erased_at__isnull=False)
    tally.saw(gone.count())
    for key in gone.exclude(is_included=False, text="").order_by("pk").values_list("external_id", flat=True):
        tally.wrong(f"response {key}: it was erased, and is included or has a text")


def _at_most_one(tally: Tally, groups: "QuerySet[WritingTask, Any]") -> None:
    for group in groups.annotate(n=Count("pk")).order_by():
        tally.saw()
        if group["n"] > 1:
            tally.wrong(", ".join(f"{name} {value}" for name, value in group.items()))


def _sessions(*columns: str) -> Iterator[tuple[int, ...]]:
    yield from EditingSession.objects.order_by("log_id", "number").values_list("log_id", "number", *columns).iterator()


def _text(log: WritingLog, tally: Tally) -> Iterator[str]:
    """Yield the text of a log, or nothing if it cannot be rebuilt."""
    try:
        yield codec.final_text(logs.events(log))
    except codec.BrokenLog as error:
        tally.wrong(f"log {log.pk}: {error}")
