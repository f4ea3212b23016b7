"""Enumerations of studies and participants."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Role(models.IntegerChoices):
    """What a member may do in a study; a higher role includes the lower ones."""

    VIEWER = 10, "viewer"
    REVIEWER = 20, "reviewer"
    EDITOR = 30, "editor"
    OWNER = 40, "owner"


class ParticipantKind(models.TextChoices):
    """Who writes or judges."""

    CROWD = "CROWD", "crowd worker"
    EXPERT = "EXPERT", "expert"
    MODEL = "MODEL", "language model"
    SYSTEM = "SYSTEM", "RAG system"


class DecisionKind(models.TextChoices):
    """The two decisions about a piece of work; neither follows from the other."""

    PAY = "PAY", "paid"
    INCLUDE = "INCLUDE", "included in the analysis"


class EntryKind(models.TextChoices):
    """Whom a link lets in."""

    PERSONAL = "PERSONAL", "personal invitation"
    OPEN = "OPEN", "open link"
    PLATFORM = "PLATFORM", "recruitment platform"


class ReplyKind(models.TextChoices):
    """What a saved reply is used for."""

    REJECTION = "REJECTION", "Rejections"
    REVISION = "REVISION", "Requested revisions"
    ANSWER = "ANSWER", "Answers to messages"


class MessageKind(models.TextChoices):
    """What a participant wants of the researchers."""

    QUESTION = "QUESTION", _("question")
    PROBLEM = "PROBLEM", _("problem")
    CONTEST = "CONTEST", _("contested rejection")


class Outcome(models.TextChoices):
    """How somebody's visit ended, for the platform that sent them."""

    COMPLETED = "COMPLETED", "took part"
    NO_CONSENT = "NO_CONSENT", "did not agree"
    NO_WORK = "NO_WORK", "found no work left"
    WITHDRAWN = "WITHDRAWN", "withdrew"
    BAD_DEVICE = "BAD_DEVICE", "used an unsupported device"


class Device(models.TextChoices):
    """On what people may take part."""

    DESKTOP = "desktop", _("desktop")
    TABLET = "tablet", _("tablet")
    MOBILE = "mobile", _("mobile")


class AuditedContent(models.TextChoices):
    """What a page shows of people who take part: whoever opens it is noted (`access.audited`)."""

    RESPONSE = "RESPONSE", "a response"
    LOG = "LOG", "how a response was written"
    REVIEW = "REVIEW", "work with all its details"
    ANSWERS = "ANSWERS", "what one person answered"
    PEOPLE = "PEOPLE", "a list of people and their work"
    LETTERS = "LETTERS", "messages from participants"
    VISIT = "VISIT", "a visit from a platform"
    FILE = "FILE", "a file with data from participants"
    ADMIN = "ADMIN", "rows in the administration"
