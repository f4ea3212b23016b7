"""Messages of participants to researchers, with the answers."""

from django.conf import settings
from django.db import models

from ..enums import MessageKind
from ..participants.models import Participant


class ParticipantMessage(models.Model):
    """A question, a problem, or a contested rejection. `about` is the id of the piece of work."""

    participant = models.ForeignKey(Participant, models.CASCADE, related_name="messages")
    kind = models.CharField("kind", max_length=10, choices=MessageKind.choices)
    about = models.CharField("about", max_length=200, blank=True)
    text = models.TextField("text")
    asked_at = models.DateTimeField("asked")
    answer = models.TextField("answer", blank=True)
    answered_at = models.DateTimeField("answered", null=True, blank=True)
    answered_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        verbose_name_plural = "participant messages"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(kind__in=MessageKind.values), name="participant_message_kind_known"
            ),
            models.CheckConstraint(condition=~models.Q(text=""), name="participant_message_has_a_text"),
            models.CheckConstraint(
                condition=models.Q(answered_at__isnull=True, answer="")
                | (models.Q(answered_at__isnull=False) & ~models.Q(answer="")),
                name="participant_message_answer_and_time_go_together",
            ),
        ]
        indexes = [models.Index(fields=["participant", "asked_at"], name="participant_message_by_person")]
