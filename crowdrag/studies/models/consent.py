"""What a person agreed to, in which version, and under which licence their texts are released."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from .. import codes
from .participant import Participant
from .versioned import Versioned


class ConsentText(Versioned):
    """A consent text in one version; it names what is recorded and the licences of release."""

    text = models.TextField(_("text, in Markdown"))
    text_licence = models.CharField(_("licence of texts"), max_length=100, validators=[codes.validate_licence])
    log_licence = models.CharField(
        _("licence of writing logs"), max_length=100, blank=True, validators=[codes.validate_licence]
    )
    timing_licence = models.CharField(
        _("licence of timing"), max_length=100, blank=True, validators=[codes.validate_licence]
    )

    class Meta(Versioned.Meta):
        pass


class Consent(models.Model):
    """One participant's consent to one version; withdrawn or not."""

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
