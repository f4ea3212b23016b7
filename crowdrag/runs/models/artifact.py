"""A file that a run made. It is listed only when it is whole."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from .run import Run


class Artifact(models.Model):
    """One finished file of a run, under a name that is unique in it."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="artifacts")
    name = models.CharField(_("name"), max_length=200)
    media_type = models.CharField(_("type"), max_length=100, default="application/octet-stream")
    size = models.BigIntegerField(_("size"))
    sha256 = models.CharField(_("SHA-256"), max_length=64)
    file = models.FileField(max_length=500)
    created_at = models.DateTimeField(_("created"))

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "name"], name="artifact_name_unique_in_run"),
            models.CheckConstraint(condition=Q(name__regex=r"^[^/\\]+$"), name="artifact_name_is_a_file_name"),
            models.CheckConstraint(condition=Q(size__gte=0), name="artifact_size_not_negative"),
            models.CheckConstraint(condition=Q(sha256__regex=r"^[0-9a-f]{64}$"), name="artifact_sha256_is_one"),
        ]

    def __str__(self) -> str:
        return self.name
