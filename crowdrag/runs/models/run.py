"""One piece of long work: what was asked, what made it, where it stands."""

import uuid
from datetime import timedelta

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from crowdrag.studies.models import Study

from ..enums import ACTIVE, Queue, RunState, UnitState


class RunQuerySet(models.QuerySet["Run"]):
    """What can be said of runs."""

    def active(self) -> "RunQuerySet":
        """Keep those that still have something to do."""
        return self.filter(state__in=ACTIVE)

    def newest_first(self) -> "RunQuerySet":
        """Order as lists show them."""
        return self.order_by("-created_at", "-id")

    def concludable(self) -> "RunQuerySet":
        """Keep active runs with no unit that is still to be done: they only wait to be concluded."""
        from .unit import Unit

        return self.active().filter(~models.Exists(Unit.objects.filter(run=models.OuterRef("pk")).going_on()))

    def with_unit_counts(self) -> "RunQuerySet":
        """Annotate units (`units_total`, `units_done`, `units_failed`), their `inner_done` and `inner_total`."""
        from .unit import Unit

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
    `environment` say what made its result; `stale_at` says that its inputs have changed since (they were erased, say).
    """

    key = models.UUIDField(default=uuid.uuid4, editable=False)
    study = models.ForeignKey(Study, models.CASCADE, related_name="runs")
    kind = models.CharField(_("kind"), max_length=100)
    queue = models.CharField(_("queue"), max_length=20, choices=Queue.choices, default=Queue.DEFAULT)
    state = models.CharField(_("state"), max_length=10, choices=RunState.choices, default=RunState.PLANNED)
    parameters = models.JSONField(_("parameters"), default=dict, blank=True, encoder=DjangoJSONEncoder)
    seed = models.BigIntegerField(_("seed"), default=0)
    inputs_digest = models.CharField(_("inputs digest"), max_length=128, blank=True)
    code_version = models.CharField(_("code version"), max_length=200)
    environment = models.JSONField(_("environment"), default=dict, blank=True)
    error = models.TextField(_("why it failed"), blank=True)
    problems = models.JSONField(_("problems of the input"), default=list, blank=True, encoder=DjangoJSONEncoder)
    is_rejected = models.BooleanField(_("whether its input was refused for good"), default=False, db_default=False)
    summary = models.JSONField(_("summary"), default=dict, blank=True, encoder=DjangoJSONEncoder)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(_("created"))
    started_at = models.DateTimeField(_("started"), null=True, blank=True)
    finished_at = models.DateTimeField(_("finished"), null=True, blank=True)
    cancelled_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    resumed_at = models.DateTimeField(_("resumed"), null=True, blank=True)
    resumed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    stale_at = models.DateTimeField(_("inputs changed"), null=True, blank=True)
    stale_reason = models.TextField(_("how the inputs changed"), blank=True)

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
        """Whether it can go on where it stopped."""
        return self.state in {RunState.FAILED, RunState.CANCELLED} and not self.is_rejected

    @property
    def duration(self) -> timedelta | None:
        """From start to end; None while one of them is missing."""
        return self.finished_at - self.started_at if self.started_at and self.finished_at else None
