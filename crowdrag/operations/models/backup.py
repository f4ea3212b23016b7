"""A backup that was made, and a restore that was rehearsed."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from ..enums import BackupKind


class Backup(models.Model):
    """One backup, or one drill: a backup restored into an empty system, checked, and thrown away."""

    kind = models.CharField(_("what"), max_length=10, choices=BackupKind.choices)
    at = models.DateTimeField(_("when"))
    # The name alone: where backups lie is nobody's business who reads this.
    file = models.CharField(_("file"), max_length=255)
    # When the backup that was rehearsed was made; of a backup, when it was made itself.
    made_at = models.DateTimeField(_("made"), null=True, blank=True)
    size = models.BigIntegerField(_("bytes"), default=0)
    rows = models.BigIntegerField(_("rows"), default=0)
    files = models.BigIntegerField(_("files"), default=0)
    seconds = models.FloatField(_("seconds"), default=0)
    is_good = models.BooleanField(_("good"))
    said = models.TextField(_("what was found"), blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=BackupKind.values), name="backup_kind_known"),
            models.CheckConstraint(condition=~Q(file=""), name="backup_file_not_empty"),
            models.CheckConstraint(
                condition=Q(size__gte=0, rows__gte=0, files__gte=0, seconds__gte=0), name="backup_figures_not_negative"
            ),
            models.CheckConstraint(condition=Q(is_good=True) | ~Q(said=""), name="backup_bad_says_why"),
        ]
        indexes = [models.Index(fields=["kind", "-at"], name="backup_newest")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.file}"
