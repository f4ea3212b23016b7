"""Choices of operations."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class BackupKind(models.TextChoices):
    """What was done."""

    BACKUP = "BACKUP", _("backup")
    DRILL = "DRILL", _("restore drill")
