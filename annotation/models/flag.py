"""What reviewers were shown that speaks against a questionnaire (annotation/domain/screening/flags)."""

from django.db import models

from .assignment import Assignment


class ShownFlag(models.Model):
    """A signal as it stood when a reviewer first saw it; it stays with the questionnaire."""

    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="shown_flags")
    name = models.CharField(max_length=50)
    words = models.TextField()
    proposes = models.PositiveSmallIntegerField()
    evidence = models.JSONField(default=dict, blank=True)
    shown_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["assignment", "name"], name="shown_flag_once")]
