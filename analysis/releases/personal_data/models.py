"""Possible personal data in texts, and the decisions about it."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from crowdrag.studies.models import Participant, Study

from ...enums import PersonalKind, PersonalVerdict, TextSource


class PersonalDataFindingQuerySet(models.QuerySet["PersonalDataFinding"]):
    """Queries of findings."""

    def undecided(self) -> "PersonalDataFindingQuerySet":
        """Keep those without a decision."""
        return self.filter(verdict="")

    def in_order(self) -> "PersonalDataFindingQuerySet":
        """Sort by text, for review."""
        return self.order_by("source", "row", "field", "start", "end", "kind")


class PersonalDataFinding(models.Model):
    """A span of a text in a study, and the decision about it, which holds for every release (docs/adr/0026).

    The text itself is not stored here but read from its place, so an erasure leaves nothing behind. `row` is the
    primary key in the table of `source`; `field` is the question of a survey.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="personal_data_findings")
    participant = models.ForeignKey(Participant, models.CASCADE, related_name="personal_data_findings")
    source = models.CharField("source", max_length=15, choices=TextSource.choices)
    row = models.BigIntegerField()
    field = models.CharField(max_length=200, blank=True)
    kind = models.CharField("kind", max_length=10, choices=PersonalKind.choices)
    # In code points, as everywhere.
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    # The text also occurs in a passage of the topic, so it is probably about a public person.
    in_passages = models.BooleanField("also in a passage", default=False)
    found_at = models.DateTimeField()
    verdict = models.CharField("decision", max_length=10, choices=PersonalVerdict.choices, blank=True)
    reason = models.CharField("reason", max_length=500, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")

    objects = PersonalDataFindingQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["source", "row", "field", "start", "end", "kind"], name="personal_data_once_per_place"
            ),
            models.CheckConstraint(condition=Q(end__gt=F("start")), name="personal_data_end_after_start"),
            models.CheckConstraint(condition=Q(kind__in=PersonalKind.values), name="personal_data_kind_known"),
            models.CheckConstraint(condition=Q(source__in=TextSource.values), name="personal_data_source_known"),
            models.CheckConstraint(
                condition=Q(verdict="", decided_at__isnull=True, reason="")
                | Q(verdict__in=PersonalVerdict.values, decided_at__isnull=False),
                name="personal_data_decision_has_a_time",
            ),
            models.CheckConstraint(
                condition=~Q(verdict=PersonalVerdict.KEEP) | ~Q(reason=""),
                name="personal_data_kept_for_a_reason",
            ),
        ]
        indexes = [models.Index(fields=["study", "verdict"], name="personal_data_by_verdict")]
