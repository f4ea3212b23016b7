"""Enumerations of writing, and the limit on texts."""

from typing import Final

from django.db import models
from django.utils.translation import gettext_lazy as _

# The longest text that is taken in, in code points, however it comes: written, imported, or a model's. Far above any
# response, so that a book pasted by mistake loses nobody a word. The editor is told of it when it opens.
LONGEST_TEXT: Final = 1_000_000


class Origin(models.TextChoices):
    """What kind of participant a response is from."""

    HUMAN = "HUMAN", "human"
    MODEL = "MODEL", "model"
    SYSTEM = "SYSTEM", "system"


class TaskState(models.TextChoices):
    """Where a writing task stands."""

    OPEN = "OPEN", _("open")
    CLAIMED = "CLAIMED", _("in progress")
    SUBMITTED = "SUBMITTED", _("submitted")
    ACCEPTED = "ACCEPTED", _("accepted")
    REJECTED = "REJECTED", _("rejected")
    RETURNED = "RETURNED", _("returned")
    REVISION = "REVISION", _("sent back for revision")


class SurveyKind(models.TextChoices):
    """When a survey is asked."""

    ENTRY = "ENTRY", "before writing"
    EXIT = "EXIT", "after writing"


class LogSource(models.TextChoices):
    """How a writing log came about."""

    EDITOR = "EDITOR", "recorded by the editor"
    SNAPSHOTS = "SNAPSHOTS", "imported snapshots"


class AnswerOutcome(models.TextChoices):
    """What came of asking a model for a response."""

    WRITTEN = "WRITTEN", "written"
    OVERLONG = "OVERLONG", "too long"
    EMPTY = "EMPTY", "empty"
    REFUSED = "REFUSED", "refused"
    BROKEN = "BROKEN", "broken text"
    FAILED = "FAILED", "no usable answer"
