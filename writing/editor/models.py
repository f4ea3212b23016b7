"""Writing logs, sessions and batches of events, which are only appended."""

import pgtrigger
from django.db import models

from ..assignments.models import WritingTask
from ..corpus.models import Response
from ..enums import LogSource


class WritingLog(models.Model):
    """The log of one writing task; the text at any moment can be rebuilt from it."""

    task = models.OneToOneField(WritingTask, models.CASCADE, related_name="log")
    source = models.CharField(max_length=10, choices=LogSource.choices)
    # The clock time of offset 0; events carry milliseconds since then.
    started_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(source__in=LogSource.values), name="log_source_known"),
        ]

    @property
    def response(self) -> Response | None:
        """The response that came of it, once submitted."""
        return getattr(self.task, "response", None)


class EditingSession(models.Model):
    """One opening of the editor, in one tab: a sequence of events of its own, numbered from 0.

    It began with the text that the events before `base_events` of the session `base` made (an empty one where there is
    none). Whoever opens the editor again fences the sessions before it: what they still send is stored and
    acknowledged, but the text goes on from the latest session.
    """

    log = models.ForeignKey(WritingLog, models.CASCADE, related_name="sessions")
    number = models.PositiveIntegerField()
    base = models.ForeignKey("self", models.CASCADE, null=True, blank=True, related_name="continued")
    base_events = models.PositiveIntegerField(default=0)
    # What the next batch must be called, and the number of its first event.
    next_batch = models.PositiveIntegerField(default=0)
    next_event = models.PositiveIntegerField(default=0)
    # How many characters its text has after the events that are stored: a splice beyond its end is refused at once.
    length = models.PositiveIntegerField(default=0)
    # When a later session was opened; null in the latest one.
    superseded_at = models.DateTimeField(null=True, blank=True)
    opened_at = models.DateTimeField()
    last_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["log", "number"], name="session_number_once_per_log")]


class LogBatch(models.Model):
    """Consecutive events, compressed, frozen when numbered. A batch is never changed; a resent one is the same."""

    log = models.ForeignKey(WritingLog, models.CASCADE, related_name="batches")
    # The number of its session; what was imported has one, 0, without a row of its own.
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
