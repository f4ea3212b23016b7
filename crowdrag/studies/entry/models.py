"""Entry links and arrivals."""

from django.conf import settings
from django.db import models

from ..enums import EntryKind
from ..participants.models import Participant
from ..study.models import Study


class EntryLinkQuerySet(models.QuerySet["EntryLink"]):
    """Queries of links."""

    def personal(self) -> "EntryLinkQuerySet":
        """Keep links that belong to one participant."""
        return self.filter(kind=EntryKind.PERSONAL)

    def invitations(self) -> "EntryLinkQuerySet":
        """Keep personal links that are invitations.

        A key created for a participant who entered by an open link is not an invitation: nobody created or named it.
        """
        return self.personal().filter(models.Q(created_by__isnull=False) | ~models.Q(label=""))


class EntryLink(models.Model):
    """A link into a study, for one purpose: personal, open to everybody, or for a recruitment platform.

    A personal link is its holder's key: it leads back to their work on any device, and lets them withdraw. So only the
    hash of its token is stored. The token of the other kinds is not secret and can be shown again.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="entry_links")
    purpose = models.CharField("purpose", max_length=50)
    kind = models.CharField("kind", max_length=10, choices=EntryKind.choices)
    label = models.CharField("label", max_length=200, blank=True)
    participant = models.ForeignKey(Participant, models.CASCADE, null=True, blank=True, related_name="entry_links")
    token = models.CharField(max_length=100, blank=True)
    token_hash = models.BinaryField(max_length=32, unique=True)
    # Platforms only: its name, the names of its URL parameters, and the completion URLs by outcome.
    platform = models.CharField("platform", max_length=30, blank=True)
    parameters = models.JSONField("URL parameters", default=dict, blank=True)
    completion = models.JSONField("completion addresses", default=dict, blank=True)
    created_at = models.DateTimeField("created")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    expires_at = models.DateTimeField("expires", null=True, blank=True)
    closed_at = models.DateTimeField("closed", null=True, blank=True)

    objects = EntryLinkQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(kind__in=EntryKind.values), name="entry_link_kind_known"),
            models.CheckConstraint(
                condition=models.Q(kind=EntryKind.PERSONAL, participant__isnull=False, token="")
                | (~models.Q(kind=EntryKind.PERSONAL) & models.Q(participant__isnull=True) & ~models.Q(token="")),
                name="entry_link_is_of_one_person_or_has_a_token",
            ),
        ]

    def __str__(self) -> str:
        return self.label or self.get_kind_display()


class Arrival(models.Model):
    """The entry of a participant by a link; entering again by the same link is the same arrival."""

    link = models.ForeignKey(EntryLink, models.CASCADE, related_name="arrivals")
    participant = models.ForeignKey(Participant, models.CASCADE, related_name="arrivals")
    platform_study = models.CharField(max_length=200, blank=True)
    session = models.CharField(max_length=200, blank=True)
    arrived_at = models.DateTimeField()
    last_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["link", "participant"], name="arrival_once_per_link")]
