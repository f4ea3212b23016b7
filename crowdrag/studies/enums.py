"""Enumerations of studies and participants."""

from typing import Final

from django.db import models
from django.utils.translation import gettext_lazy as _


class Role(models.IntegerChoices):
    """What a member may do in a study; a higher role includes the lower ones."""

    VIEWER = 10, "viewer"
    REVIEWER = 20, "reviewer"
    EDITOR = 30, "editor"
    OWNER = 40, "owner"


class ParticipantKind(models.TextChoices):
    """What a participant is: a kind of writer or judge."""

    CROWD = "CROWD", "crowd worker"
    EXPERT = "EXPERT", "expert"
    MODEL = "MODEL", "language model"
    SYSTEM = "SYSTEM", "RAG system"


#: The kinds of participants that are people.
PEOPLE: Final = (ParticipantKind.CROWD, ParticipantKind.EXPERT)


class DecisionKind(models.TextChoices):
    """The two decisions on a piece of work; they are independent."""

    PAY = "PAY", "paid"
    INCLUDE = "INCLUDE", "included in the analysis"


class EntryKind(models.TextChoices):
    """Who can use a link."""

    PERSONAL = "PERSONAL", "personal invitation"
    OPEN = "OPEN", "open link"
    PLATFORM = "PLATFORM", "recruitment platform"


class ReplyKind(models.TextChoices):
    """What a saved reply is used for."""

    REJECTION = "REJECTION", "Rejections"
    REVISION = "REVISION", "Requested revisions"
    ANSWER = "ANSWER", "Answers to messages"


class MessageKind(models.TextChoices):
    """Why a participant writes to the researchers."""

    QUESTION = "QUESTION", _("question")
    PROBLEM = "PROBLEM", _("problem")
    CONTEST = "CONTEST", _("request for another review")


class Outcome(models.TextChoices):
    """How a visit ended, for the recruitment platform."""

    COMPLETED = "COMPLETED", "took part"
    NO_CONSENT = "NO_CONSENT", "did not agree"
    NO_WORK = "NO_WORK", "found no work left"
    WITHDRAWN = "WITHDRAWN", "withdrew"
    BAD_DEVICE = "BAD_DEVICE", "used an unsupported device"


class Device(models.TextChoices):
    """Devices on which people may take part."""

    DESKTOP = "desktop", _("desktop")
    TABLET = "tablet", _("tablet")
    MOBILE = "mobile", _("mobile")


class AuditedContent(models.TextChoices):
    """Kinds of participants' data that a page shows; each access is recorded (`access.audited`)."""

    RESPONSE = "RESPONSE", "a response"
    LOG = "LOG", "how a response was written"
    REVIEW = "REVIEW", "work with all its details"
    ANSWERS = "ANSWERS", "what one person answered"
    PEOPLE = "PEOPLE", "a list of people and their work"
    LETTERS = "LETTERS", "messages from participants"
    VISIT = "VISIT", "a visit from a platform"
    FILE = "FILE", "a file with data from participants"
    ADMIN = "ADMIN", "rows in the administration"
