"""A unit of a run: what one worker does at once, under a lease."""

from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.db.models import Count, Exists, F, Min, OuterRef, Q

from ..enums import ACTIVE, OPEN, UnitState
from .run import Run


class UnitQuerySet(models.QuerySet["Unit"]):
    """What can be said of units. `moment` is a time or an expression for it (the database's clock)."""

    def open(self) -> "UnitQuerySet":
        """Keep those that are not over."""
        return self.filter(state__in=OPEN)

    def due(self, moment: Any) -> "UnitQuerySet":
        """Keep those that a worker may claim."""
        pending = self.filter(state=UnitState.PENDING, due_at__lte=moment, run__state__in=ACTIVE)
        return pending.filter(Q(stage=0) | ~Exists(_earlier().exclude(state=UnitState.DONE)))

    def going_on(self) -> "UnitQuerySet":
        """Keep those that are not over, but for those that will never be due: a unit of an earlier stage failed."""
        return self.open().exclude(Exists(_earlier().filter(state=UnitState.FAILED)))

    def stale(self, moment: Any) -> "UnitQuerySet":
        """Keep those whose worker has let its lease run out."""
        return self.filter(state=UnitState.CLAIMED, lease_until__lt=moment)

    def by_queue(self, moment: Any) -> dict[str, dict[str, Any]]:
        """Count what is not over by queue: `due`, `later`, `claimed`, and since when the `oldest` due one waits."""
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
    workers that vanished while at it.
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
            # Workers and sweeps look at open units only; a finished run's units weigh nothing here.
            models.Index(fields=["run", "due_at", "position"], condition=Q(state=UnitState.PENDING), name="unit_due"),
            models.Index(fields=["lease_until"], condition=Q(state=UnitState.CLAIMED), name="unit_leased"),
            models.Index(fields=["run", "state"], name="unit_by_run_and_state"),
        ]

    def __str__(self) -> str:
        return f"unit {self.position} of run {self.run_id}"
