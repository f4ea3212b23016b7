"""Whoever writes or judges: a crowd worker, an expert, a language model, a RAG system."""

from typing import TYPE_CHECKING

from django.db import models
from django.utils.translation import gettext_lazy as _

from ..enums import ParticipantKind
from .study import Study

if TYPE_CHECKING:
    from .bar import Bar


class ParticipantQuerySet(models.QuerySet["Participant"]):
    """What can be said of participants."""

    def of_kind(self, *kinds: str) -> "ParticipantQuerySet":
        """Keep those of the given kinds."""
        return self.filter(kind__in=kinds)

    def awaiting_erasure(self) -> "ParticipantQuerySet":
        """Keep those who asked for an erasure that is not done."""
        return self.filter(erasure_requested_at__isnull=False, erased_at__isnull=True)


class Participant(models.Model):
    """One participant of one study.

    `external_id` is the study's own pseudonym of a person (or the name of a model or run): it may leave the system.
    `identity` is the platform's id, encrypted; `identity_hash` its keyed hash, by which a person is found again
    across studies. Neither ever leaves the system (docs/adr/0003).
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="participants")
    external_id = models.CharField(_("pseudonym"), max_length=200)
    kind = models.CharField(_("kind"), max_length=10, choices=ParticipantKind.choices)
    identity = models.BinaryField(null=True, blank=True)
    identity_hash = models.BinaryField(max_length=32, null=True, blank=True)
    # A model is a participant in one version, with one prompt and one set of parameters.
    specification = models.JSONField(_("model, prompt and parameters"), default=dict, blank=True)
    platform_facts = models.JSONField(_("what the platform said"), default=dict, blank=True)
    is_simulated = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    # Withdrawn: takes no further part. Erased: moreover, what they gave is gone and this row is the tombstone.
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    # Asked for: a worker erases it soon.
    erasure_requested_at = models.DateTimeField(null=True, blank=True)
    erased_at = models.DateTimeField(null=True, blank=True)

    objects = ParticipantQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["study", "kind", "external_id"], name="participant_external_id_unique_per_study_and_kind"
            ),
            models.UniqueConstraint(
                fields=["study", "identity_hash"],
                condition=models.Q(identity_hash__isnull=False),
                name="participant_identity_once_per_study",
            ),
            models.CheckConstraint(condition=models.Q(kind__in=ParticipantKind.values), name="participant_kind_known"),
            models.CheckConstraint(condition=~models.Q(external_id=""), name="participant_external_id_not_empty"),
            models.CheckConstraint(
                condition=models.Q(identity__isnull=True, identity_hash__isnull=True)
                | models.Q(identity__isnull=False, identity_hash__isnull=False),
                name="participant_identity_and_hash_go_together",
            ),
            models.CheckConstraint(
                condition=models.Q(erased_at__isnull=True)
                | models.Q(identity__isnull=True, identity_hash__isnull=True),
                name="participant_erased_has_no_identity",
            ),
        ]

    def __str__(self) -> str:
        return self.external_id

    @property
    def bar(self) -> "Bar | None":
        """Why they are given nothing more, if so."""
        return self.bars.filter(lifted_at__isnull=True).first()
