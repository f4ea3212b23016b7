"""Participants (crowd workers, experts, language models, RAG systems), their consent, and their blocks.

A consent is to one version of a text, and says under which licence the participant's data are released.
"""

import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import Q

from .. import codes
from ..enums import ParticipantKind
from ..study.models import Study, Versioned


class ParticipantQuerySet(models.QuerySet["Participant"]):
    """Queries of participants."""

    def of_kind(self, *kinds: str) -> "ParticipantQuerySet":
        """Keep those of the given kinds."""
        return self.filter(kind__in=kinds)

    def awaiting_erasure(self) -> "ParticipantQuerySet":
        """Keep those who requested an erasure that is not done."""
        return self.filter(erasure_requested_at__isnull=False, erased_at__isnull=True)


class Participant(models.Model):
    """One participant of one study.

    `external_id` is the study's own pseudonym of a person (or the name of a model or run): it may leave the system.
    `identity` is the encrypted platform ID; `identity_hash` its keyed hash, which identifies a person across studies.
    Neither ever leaves the system (docs/adr/0003).
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="participants")
    external_id = models.CharField("pseudonym", max_length=200)
    kind = models.CharField("kind", max_length=10, choices=ParticipantKind.choices)
    identity = models.BinaryField(null=True, blank=True)
    identity_hash = models.BinaryField(max_length=32, null=True, blank=True)
    # As a participant, a model has one version, one prompt and one set of parameters.
    specification = models.JSONField("model, prompt and parameters", default=dict, blank=True)
    platform_facts = models.JSONField("platform data", default=dict, blank=True)
    is_simulated = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    # Withdrawn: no longer takes part. Erased: also, the data are deleted and this row is the tombstone.
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    # Requested: a worker erases the data soon.
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
    def block(self) -> "ParticipantBlock | None":
        """The active block, if any."""
        return self.blocks.filter(lifted_at__isnull=True).first()


class ParticipantBlock(models.Model):
    """A participant gets no new work until the block is lifted. They may finish work in progress.

    The record stays: a block is lifted, never deleted or changed.
    """

    participant = models.ForeignKey(Participant, models.CASCADE, related_name="blocks")
    reason = models.CharField("reason (shown to the participant)", max_length=500)
    at = models.DateTimeField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")
    lifted_at = models.DateTimeField(null=True, blank=True)
    lifted_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["participant"], condition=Q(lifted_at__isnull=True), name="participant_block_once"
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="participant_block_has_a_reason"),
        ]
        triggers = [
            pgtrigger.Protect(
                name="only_lifted",
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__lifted_at__isnull=False)
                | pgtrigger.Q(old__reason__df=pgtrigger.F("new__reason"))
                | pgtrigger.Q(old__participant__df=pgtrigger.F("new__participant")),
            )
        ]


class ConsentText(Versioned):
    """One version of a consent text; it names what is recorded and the licences of release."""

    text = models.TextField("text, in Markdown")
    text_licence = models.CharField("licence of texts", max_length=100, validators=[codes.validate_licence])
    log_licence = models.CharField(
        "licence of writing logs", max_length=100, blank=True, validators=[codes.validate_licence]
    )
    timing_licence = models.CharField(
        "licence of timing", max_length=100, blank=True, validators=[codes.validate_licence]
    )

    class Meta(Versioned.Meta):
        pass


class Consent(models.Model):
    """A participant's consent to one version, possibly withdrawn."""

    participant = models.ForeignKey(Participant, models.CASCADE, related_name="consents")
    text = models.ForeignKey(ConsentText, models.PROTECT, related_name="consents")
    given_at = models.DateTimeField()
    releases_text = models.BooleanField(default=True)
    releases_log = models.BooleanField(default=False)
    releases_timing = models.BooleanField(default=False)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["participant", "text"], name="consent_once_per_text"),
            models.CheckConstraint(
                condition=models.Q(withdrawn_at__isnull=True) | models.Q(withdrawn_at__gte=models.F("given_at")),
                name="consent_withdrawn_after_given",
            ),
        ]
