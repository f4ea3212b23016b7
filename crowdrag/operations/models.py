"""Models of operations: backups and drills, machines, and removals of expired data."""

from datetime import timedelta

import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import Q


class BackupKind(models.TextChoices):
    """Whether it is a backup or a drill."""

    BACKUP = "BACKUP", "backup"
    DRILL = "DRILL", "restore drill"


class Backup(models.Model):
    """One backup, or one drill: a backup restored into an empty system, verified, and discarded."""

    kind = models.CharField("type", max_length=10, choices=BackupKind.choices)
    at = models.DateTimeField("when")
    # Only the name: readers need not know where backups are stored.
    file = models.CharField("file", max_length=255)
    # For a drill, when the rehearsed backup was made; for a backup, when it was made itself.
    made_at = models.DateTimeField("made", null=True, blank=True)
    size = models.BigIntegerField("bytes", default=0)
    rows = models.BigIntegerField("rows", default=0)
    files = models.BigIntegerField("files", default=0)
    seconds = models.FloatField("seconds", default=0)
    is_good = models.BooleanField("good")
    message = models.TextField("findings", blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=BackupKind.values), name="backup_kind_known"),
            models.CheckConstraint(condition=~Q(file=""), name="backup_file_not_empty"),
            models.CheckConstraint(
                condition=Q(size__gte=0, rows__gte=0, files__gte=0, seconds__gte=0), name="backup_figures_not_negative"
            ),
            models.CheckConstraint(condition=Q(is_good=True) | ~Q(message=""), name="backup_bad_says_why"),
        ]
        indexes = [models.Index(fields=["kind", "-at"], name="backup_newest")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.file}"


# A machine reports about every minute.
SILENT_AFTER = timedelta(minutes=3)


class Machine(models.Model):
    """One machine on which workers or the sweep run, with its latest report.

    `facts`: cpus, load, memory and disk in bytes, and its devices with name, memory, use and temperature.
    """

    name = models.CharField("machine", max_length=200, unique=True)
    at = models.DateTimeField("last report")
    facts = models.JSONField(default=dict)

    class Meta:
        constraints = [models.CheckConstraint(condition=~models.Q(name=""), name="machine_name_not_empty")]

    def __str__(self) -> str:
        return self.name


class Removal(models.Model):
    """One removal of expired data, or one requested erasure: who, when, by which rule, how much.

    For an erasure it names the study, and stores nothing about the person.
    """

    at = models.DateTimeField("when")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    rule = models.CharField("rule", max_length=40)
    study_slug = models.CharField("study", max_length=80, blank=True)
    rows = models.JSONField("rows by table", default=dict)

    class Meta:
        constraints = [models.CheckConstraint(condition=~models.Q(rule=""), name="removal_rule_not_empty")]
        triggers = [pgtrigger.Protect(name="written_once", operation=pgtrigger.Update | pgtrigger.Delete)]

    def __str__(self) -> str:
        return f"{self.rule}, {self.at:%Y-%m-%d}"
