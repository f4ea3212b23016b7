"""Enumerations of writing, and the limit on texts."""

from typing import Final

from django.db import models
from django.utils.translation import gettext_lazy as _

# The longest accepted text in code points, whether written, imported or generated. It is far above any real response,
# so that nothing is lost even if a book is pasted by mistake. The editor gets this limit when it opens.
LONGEST_TEXT: Final = 1_000_000


class Origin(models.TextChoices):
    """The kind of participant that a response is from."""

    HUMAN = "HUMAN", "human"
    MODEL = "MODEL", "model"
    SYSTEM = "SYSTEM", "system"


class TaskState(models.TextChoices):
    """The state of a writing task."""

    OPEN = "OPEN", _("open")
    CLAIMED = "CLAIMED", _("in progress")
    SUBMITTED = "SUBMITTED", _("submitted")
    ACCEPTED = "ACCEPTED", _("accepted")
    REJECTED = "REJECTED", _("rejected")
    RETURNED = "RETURNED", _("returned")
    REVISION = "REVISION", _("revision requested")


class SurveyKind(models.TextChoices):
    """Whether a survey is shown before or after writing."""

    ENTRY = "ENTRY", "before writing"
    EXIT = "EXIT", "after writing"


class LogSource(models.TextChoices):
    """The source of a writing log."""

    EDITOR = "EDITOR", "recorded by the editor"
    SNAPSHOTS = "SNAPSHOTS", "imported snapshots"


class AnswerOutcome(models.TextChoices):
    """The outcome of a request to a model for a response."""

    WRITTEN = "WRITTEN", "written"
    OVERLONG = "OVERLONG", "too long"
    EMPTY = "EMPTY", "empty"
    REFUSED = "REFUSED", "refused"
    BROKEN = "BROKEN", "broken text"
    FAILED = "FAILED", "no usable answer"
