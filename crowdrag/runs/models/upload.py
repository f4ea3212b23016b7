"""A file that somebody handed in for a run to read."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from crowdrag.studies.models import Study


class Upload(models.Model):
    """One input file of a study, kept as it came."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="uploads")
    name = models.CharField(_("name"), max_length=255)
    size = models.BigIntegerField(_("size"))
    sha256 = models.CharField(_("SHA-256"), max_length=64)
    file = models.FileField(max_length=500)
    uploaded_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+")
    uploaded_at = models.DateTimeField(_("uploaded"))

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(name=""), name="upload_name_not_empty"),
            models.CheckConstraint(condition=Q(size__gte=0), name="upload_size_not_negative"),
            models.CheckConstraint(condition=Q(sha256__regex=r"^[0-9a-f]{64}$"), name="upload_sha256_is_one"),
        ]

    def __str__(self) -> str:
        return self.name
