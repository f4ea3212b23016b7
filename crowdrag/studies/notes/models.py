"""Staff notes."""

from django.conf import settings
from django.db import models

from ..participants.models import Participant


class StaffNote(models.Model):
    """A staff note on a participant, or on one piece of their work (`about` is its id)."""

    participant = models.ForeignKey(Participant, models.CASCADE, related_name="staff_notes")
    about = models.CharField(max_length=200, blank=True)
    text = models.TextField()
    at = models.DateTimeField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        constraints = [models.CheckConstraint(condition=~models.Q(text=""), name="staff_note_has_a_text")]
        indexes = [models.Index(fields=["participant", "at"], name="staff_note_by_person")]
