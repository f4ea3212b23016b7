"""What participants ask the researchers, and what they are answered."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from ..enums import EnquiryKind
from ..participants.models import Participant


class Enquiry(models.Model):
    """A question, a problem, or a rejection contested. `about` is the id of the piece of work that it is about."""

    participant = models.ForeignKey(Participant, models.CASCADE, related_name="enquiries")
    kind = models.CharField(_("kind"), max_length=10, choices=EnquiryKind.choices)
    about = models.CharField(_("about"), max_length=200, blank=True)
    text = models.TextField(_("text"))
    asked_at = models.DateTimeField(_("asked"))
    answer = models.TextField(_("answer"), blank=True)
    answered_at = models.DateTimeField(_("answered"), null=True, blank=True)
    answered_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        verbose_name_plural = "enquiries"
        constraints = [
            models.CheckConstraint(condition=models.Q(kind__in=EnquiryKind.values), name="enquiry_kind_known"),
            models.CheckConstraint(condition=~models.Q(text=""), name="enquiry_has_a_text"),
            models.CheckConstraint(
                condition=models.Q(answered_at__isnull=True, answer="")
                | (models.Q(answered_at__isnull=False) & ~models.Q(answer="")),
                name="enquiry_answer_and_time_go_together",
            ),
        ]
        indexes = [models.Index(fields=["participant", "asked_at"], name="enquiry_by_participant")]
