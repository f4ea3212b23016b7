"""A person's visit as the platform counts it."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from crowdrag.studies.models import Participant

from ..enums import SubmissionStatus
from .study import PlatformStudy


class Submission(models.Model):
    """One submission of a platform's study; its id is the session with which the person came.

    Ids of the platform are for paying and for nothing else: they are in no export (docs/adr/0003). Of the person there
    is the keyed hash alone.
    """

    platform_study = models.ForeignKey(PlatformStudy, models.CASCADE, related_name="submissions")
    external_id = models.CharField(_("the platform's id"), max_length=200)
    participant = models.ForeignKey(Participant, models.SET_NULL, null=True, blank=True, related_name="visits")
    identity_hash = models.BinaryField(max_length=32, null=True, blank=True)
    # Empty: they came here, and the platform has not been heard of them.
    status = models.CharField(_("status there"), max_length=20, blank=True, choices=SubmissionStatus.choices)
    status_at = models.DateTimeField(_("status as of"), null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)
    # What the person entered at the end; "NOCODE" where they finished without one.
    code = models.CharField(_("code entered"), max_length=50, blank=True)
    # Each bonus paid, in minor units, as the platform lists them.
    bonuses = models.JSONField(_("bonuses paid"), default=list, blank=True)
    first_heard_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["platform_study", "external_id"], name="submission_once_per_study"),
            models.CheckConstraint(
                condition=models.Q(status="") | models.Q(status__in=SubmissionStatus.values),
                name="submission_status_known",
            ),
            models.CheckConstraint(
                condition=models.Q(status="", status_at__isnull=True)
                | (~models.Q(status="") & models.Q(status_at__isnull=False)),
                name="submission_status_has_a_time",
            ),
        ]
        indexes = [models.Index(fields=["external_id"])]

    def __str__(self) -> str:
        return self.external_id
