"""Models of runs: runs, units, files, uploads, heartbeats of workers, scheduled tasks."""

import uuid
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.db.models import Count, Exists, F, Min, OuterRef, Q

from crowdrag.studies.models import Study

from .enums import ACTIVE, OPEN, Queue, RunState, UnitState


class RunQuerySet(models.QuerySet["Run"]):
    """Queries of runs."""

    def active(self) -> "RunQuerySet":
        """Keep runs that still have something to do."""
        return self.filter(state__in=ACTIVE)

    def newest_first(self) -> "RunQuerySet":
        """Order as in lists."""
        return self.order_by("-created_at", "-id")

    def before_background(self, moment: Any) -> "RunQuerySet":
        """Keep runs that background runs wait for: a person started them, and units of theirs are due or claimed."""
        claimed = Unit.objects.filter(run=models.OuterRef("pk"), state=UnitState.CLAIMED)
        due = Unit.objects.due(moment).filter(run=models.OuterRef("pk"))
        return self.active().filter(Exists(claimed) | Exists(due), is_background=False)

    def concludable(self) -> "RunQuerySet":
        """Keep active runs without units to do: they only wait to be concluded."""

        return self.active().filter(~models.Exists(Unit.objects.filter(run=models.OuterRef("pk")).going_on()))

    def with_unit_counts(self) -> "RunQuerySet":
        """Annotate units (`units_total`, `units_done`, `units_failed`), their `inner_done` and `inner_total`."""

        counts = Unit.objects.filter(run=models.OuterRef("pk")).order_by().values("run")

        def count(condition: Q | None = None) -> models.Subquery:
            return models.Subquery(counts.annotate(n=models.Count("pk", filter=condition)).values("n"))

        def total(field: str) -> models.Subquery:
            return models.Subquery(counts.annotate(n=models.Sum(field)).values("n"))

        return self.annotate(
            units_total=count(),
            units_done=count(Q(state=UnitState.DONE)),
            units_failed=count(Q(state=UnitState.FAILED)),
            inner_done=total("done"),
            inner_total=total("total"),
        )


class Run(models.Model):
    """One analysis, import, export or experiment.

    Its units are the work; `state` follows from them. `parameters`, `seed`, `inputs_digest`, `code_version` and
    `environment` are the provenance of its result; `stale_at` says that its inputs have changed since (by erasure,
    say).
    """

    key = models.UUIDField(default=uuid.uuid4, editable=False)
    study = models.ForeignKey(Study, models.CASCADE, related_name="runs")
    kind = models.CharField("kind", max_length=100)
    queue = models.CharField("queue", max_length=20, choices=Queue.choices, default=Queue.DEFAULT)
    state = models.CharField("state", max_length=10, choices=RunState.choices, default=RunState.PLANNED)
    # Nobody waits for it: it makes way for all other runs of its queue.
    is_background = models.BooleanField("background", default=False, db_default=False)
    parameters = models.JSONField("parameters", default=dict, blank=True, encoder=DjangoJSONEncoder)
    seed = models.BigIntegerField("seed", default=0)
    inputs_digest = models.CharField("inputs digest", max_length=128, blank=True)
    code_version = models.CharField("code version", max_length=200)
    environment = models.JSONField("environment", default=dict, blank=True)
    error = models.TextField("error", blank=True)
    problems = models.JSONField("input problems", default=list, blank=True, encoder=DjangoJSONEncoder)
    is_rejected = models.BooleanField("input permanently rejected", default=False, db_default=False)
    summary = models.JSONField("summary", default=dict, blank=True, encoder=DjangoJSONEncoder)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField("created")
    started_at = models.DateTimeField("started", null=True, blank=True)
    finished_at = models.DateTimeField("finished", null=True, blank=True)
    cancelled_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    resumed_at = models.DateTimeField("resumed", null=True, blank=True)
    resumed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    stale_at = models.DateTimeField("inputs changed", null=True, blank=True)
    stale_reason = models.TextField("how the inputs changed", blank=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["key"], name="run_key_unique"),
            models.CheckConstraint(condition=Q(state__in=RunState.values), name="run_state_known"),
            models.CheckConstraint(condition=Q(queue__in=Queue.values), name="run_queue_known"),
            models.CheckConstraint(condition=~Q(kind=""), name="run_kind_not_empty"),
            models.CheckConstraint(
                condition=Q(state__in=ACTIVE, finished_at__isnull=True)
                | (~Q(state__in=ACTIVE) & Q(finished_at__isnull=False)),
                name="run_finished_at_goes_with_state",
            ),
            models.CheckConstraint(
                condition=~Q(state=RunState.RUNNING) | Q(started_at__isnull=False), name="run_running_has_started"
            ),
            models.CheckConstraint(
                condition=Q(is_rejected=False) | Q(state=RunState.FAILED), name="run_rejected_failed"
            ),
            models.CheckConstraint(
                condition=Q(stale_at__isnull=True, stale_reason="") | (Q(stale_at__isnull=False) & ~Q(stale_reason="")),
                name="run_stale_has_a_reason",
            ),
        ]
        indexes = [
            models.Index(fields=["study", "-created_at", "-id"], name="run_newest_of_study"),
            models.Index(fields=["queue"], condition=Q(state__in=ACTIVE), name="run_active_by_queue"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"

    @property
    def is_active(self) -> bool:
        """Whether there is still something to do."""
        return self.state in ACTIVE

    @property
    def is_resumable(self) -> bool:
        """Whether it can be resumed."""
        return self.state in {RunState.FAILED, RunState.CANCELLED} and not self.is_rejected

    @property
    def duration(self) -> timedelta | None:
        """From start to end; None while one of them is missing."""
        return self.finished_at - self.started_at if self.started_at and self.finished_at else None


class UnitQuerySet(models.QuerySet["Unit"]):
    """Queries of units. `moment` is a time or an expression for it (the database's clock)."""

    def open(self) -> "UnitQuerySet":
        """Keep units that have not ended."""
        return self.filter(state__in=OPEN)

    def due(self, moment: Any) -> "UnitQuerySet":
        """Keep units that a worker may claim."""
        pending = self.filter(state=UnitState.PENDING, due_at__lte=moment, run__state__in=ACTIVE)
        return pending.filter(Q(stage=0) | ~Exists(_earlier().exclude(state=UnitState.DONE)))

    def going_on(self) -> "UnitQuerySet":
        """Keep open units, except those that will never be due because a unit of an earlier stage failed."""
        return self.open().exclude(Exists(_earlier().filter(state=UnitState.FAILED)))

    def stale(self, moment: Any, *, latest: Any = None) -> "UnitQuerySet":
        """Keep units whose lease has expired, or ends after the latest time at which one can end."""
        is_over = Q(lease_until__lt=moment)
        return self.filter(is_over if latest is None else is_over | Q(lease_until__gt=latest), state=UnitState.CLAIMED)

    def by_queue(self, moment: Any) -> dict[str, dict[str, Any]]:
        """Count open units by queue: `due`, `later`, `claimed`, and since when the `oldest` due one waits."""
        due = Q(state=UnitState.PENDING, due_at__lte=moment)
        counted = (
            self.open()
            .order_by()
            .values("run__queue")
            .annotate(
                due=Count("pk", filter=due),
                later=Count("pk", filter=Q(state=UnitState.PENDING, due_at__gt=moment)),
                claimed=Count("pk", filter=Q(state=UnitState.CLAIMED)),
                oldest=Min("due_at", filter=due),
            )
        )
        return {row["run__queue"]: dict(row) for row in counted}


def _earlier() -> "models.QuerySet[Unit]":
    """Units of the same run in earlier stages."""
    return Unit.objects.filter(run=OuterRef("run"), stage__lt=OuterRef("stage"))


class Unit(models.Model):
    """One unit of work. Units of a later stage wait until those of all earlier ones are done.

    `fence` counts claims: only the claim that holds the current fence may complete the unit, so a worker whose lease
    was taken over commits nothing (docs/adr/0009-runs.md). `attempts` counts failures of the work itself, `lost`
    workers that disappeared while working on it.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="units")
    position = models.PositiveIntegerField()
    stage = models.PositiveSmallIntegerField(default=0)
    payload = models.JSONField(default=dict, blank=True, encoder=DjangoJSONEncoder)
    state = models.CharField(max_length=10, choices=UnitState.choices, default=UnitState.PENDING)
    due_at = models.DateTimeField()
    fence = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)
    worker = models.CharField(max_length=200, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    lost = models.PositiveSmallIntegerField(default=0)
    done = models.BigIntegerField(default=0)
    total = models.BigIntegerField(default=0)
    message = models.TextField(blank=True)
    error = models.TextField(blank=True)
    claimed_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = UnitQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "position"], name="unit_position_unique_in_run"),
            models.CheckConstraint(condition=Q(state__in=UnitState.values), name="unit_state_known"),
            models.CheckConstraint(
                condition=Q(state=UnitState.CLAIMED, lease_until__isnull=False, claimed_at__isnull=False)
                & ~Q(worker="")
                & Q(fence__gte=1)
                | (~Q(state=UnitState.CLAIMED) & Q(lease_until__isnull=True)),
                name="unit_claimed_has_a_lease",
            ),
            models.CheckConstraint(
                condition=Q(state__in=OPEN, finished_at__isnull=True)
                | (~Q(state__in=OPEN) & Q(finished_at__isnull=False)),
                name="unit_finished_at_goes_with_state",
            ),
            models.CheckConstraint(condition=~Q(state=UnitState.DONE) | Q(fence__gte=1), name="unit_done_was_claimed"),
            models.CheckConstraint(
                condition=Q(done__gte=0, total__gte=F("done")) | Q(done__gte=0, total=0),
                name="unit_progress_within_total",
            ),
        ]
        indexes = [
            # Workers and sweeps read open units only; units of finished runs do not enlarge this index.
            models.Index(fields=["run", "due_at", "position"], condition=Q(state=UnitState.PENDING), name="unit_due"),
            models.Index(fields=["lease_until"], condition=Q(state=UnitState.CLAIMED), name="unit_leased"),
            models.Index(fields=["run", "state"], name="unit_by_run_and_state"),
        ]

    def __str__(self) -> str:
        return f"unit {self.position} of run {self.run_id}"


class Artifact(models.Model):
    """One finished file of a run, under a name that is unique in it."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="artifacts")
    name = models.CharField("name", max_length=200)
    media_type = models.CharField("type", max_length=100, default="application/octet-stream")
    size = models.BigIntegerField("size")
    sha256 = models.CharField("SHA-256", max_length=64)
    file = models.FileField(max_length=500)
    created_at = models.DateTimeField("created")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "name"], name="artifact_name_unique_in_run"),
            models.CheckConstraint(condition=Q(name__regex=r"^[^/\\]+$"), name="artifact_name_is_a_file_name"),
            models.CheckConstraint(condition=Q(size__gte=0), name="artifact_size_not_negative"),
            models.CheckConstraint(condition=Q(sha256__regex=r"^[0-9a-f]{64}$"), name="artifact_sha256_is_one"),
        ]

    def __str__(self) -> str:
        return self.name


class Upload(models.Model):
    """One input file of a study, stored unchanged."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="uploads")
    name = models.CharField("name", max_length=255)
    size = models.BigIntegerField("size")
    sha256 = models.CharField("SHA-256", max_length=64)
    file = models.FileField(max_length=500)
    uploaded_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    uploaded_at = models.DateTimeField("uploaded")

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(name=""), name="upload_name_not_empty"),
            models.CheckConstraint(condition=Q(size__gte=0), name="upload_size_not_negative"),
            models.CheckConstraint(condition=Q(sha256__regex=r"^[0-9a-f]{64}$"), name="upload_sha256_is_one"),
        ]

    def __str__(self) -> str:
        return self.name


# A worker without a heartbeat for this long is considered gone.
BEAT_IS_FRESH_FOR = timedelta(seconds=20)
# The longest that a worker takes to start for a message, where workers run only while there is work.
WORKER_STARTS_WITHIN = timedelta(seconds=30)


def may_start(queue: str, oldest: datetime | None, now: datetime) -> bool:
    """Return whether a worker starts for the units of a queue, the oldest of which has been due since `oldest`."""
    return queue in settings.ON_DEMAND_QUEUES and (oldest is None or now - oldest <= WORKER_STARTS_WITHIN)


class WorkerHeartbeatQuerySet(models.QuerySet["WorkerHeartbeat"]):
    """Queries of heartbeats."""

    def fresh(self, moment: Any) -> "WorkerHeartbeatQuerySet":
        """Keep recent heartbeats, relative to `moment` (a time or an expression for it)."""
        return self.filter(at__gte=moment - BEAT_IS_FRESH_FOR)


class WorkerHeartbeat(models.Model):
    """When a worker last took something from its queue, or worked on a unit.

    It is written when a message arrives, not by a separate timer: a fresh heartbeat proves the whole way from the
    database through the broker to the worker.
    """

    name = models.CharField(max_length=200)
    queue = models.CharField(max_length=20)
    at = models.DateTimeField()

    objects = WorkerHeartbeatQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["name", "queue"], name="worker_heartbeat_once_per_queue")]

    def __str__(self) -> str:
        return self.name


class ScheduledTask(models.Model):
    """A periodic task. The row stores the time of its last start, so that only one of several sweeps runs it."""

    name = models.CharField(max_length=100, unique=True)
    at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "scheduled tasks"

    def __str__(self) -> str:
        return self.name
