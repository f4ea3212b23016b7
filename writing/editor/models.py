"""Writing logs, sessions and append-only batches of events."""

import pgtrigger
from django.db import models

from ..assignments.models import WritingTask
from ..corpus.models import Response
from ..enums import LogSource


class WritingLog(models.Model):
    """The log of a writing task, from which the text at any time can be rebuilt."""

    task = models.OneToOneField(WritingTask, models.CASCADE, related_name="log")
    source = models.CharField(max_length=10, choices=LogSource.choices)
    # Events have milliseconds since this time.
    started_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(source__in=LogSource.values), name="log_source_known"),
        ]

    @property
    def response(self) -> Response | None:
        """The submitted response, or None."""
        return getattr(self.task, "response", None)


class EditingSession(models.Model):
    """An editing session: one opening of the editor in one tab, with events numbered from 0.

    It starts from the text after the first `base_events` events of the session `base` (without a base, from an empty
    text). Opening the editor again fences all earlier sessions: their further events are stored and acknowledged, but
    the text continues from the latest session.
    """

    log = models.ForeignKey(WritingLog, models.CASCADE, related_name="sessions")
    number = models.PositiveIntegerField()
    base = models.ForeignKey("self", models.CASCADE, null=True, blank=True, related_name="continued")
    base_events = models.PositiveIntegerField(default=0)
    # The expected number of the next batch, and of its first event.
    next_batch = models.PositiveIntegerField(default=0)
    next_event = models.PositiveIntegerField(default=0)
    # The length of the text after all stored events, so that a splice beyond its end can be rejected at once.
    length = models.PositiveIntegerField(default=0)
    # When a later session was opened; null for the latest session.
    superseded_at = models.DateTimeField(null=True, blank=True)
    opened_at = models.DateTimeField()
    last_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["log", "number"], name="session_number_once_per_log")]


class LogBatch(models.Model):
    """Consecutive compressed events. A batch never changes: if it is sent again, it has the same number and events."""

    # The constraints below begin with it.
    log = models.ForeignKey(WritingLog, models.CASCADE, related_name="batches", db_index=False)
    # The number of its session. Imported logs have only session 0, without a row in `EditingSession`.
    session = models.PositiveIntegerField(default=0)
    number = models.PositiveIntegerField()
    first_event = models.PositiveIntegerField()
    event_count = models.PositiveIntegerField()
    codec = models.CharField(max_length=20)
    payload = models.BinaryField()
    digest = models.BinaryField(max_length=32)
    received_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["log", "session", "number"], name="log_batch_number_once_per_session"),
            models.UniqueConstraint(
                fields=["log", "session", "first_event"], name="log_batch_first_event_once_per_session"
            ),
            models.CheckConstraint(condition=models.Q(event_count__gte=1), name="log_batch_not_empty"),
        ]
        triggers = [pgtrigger.Protect(name="never_updated", operation=pgtrigger.Update)]
