"""Enumerations of studies and participants."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Role(models.IntegerChoices):
    """What a member may do in a study; a higher role includes the lower ones."""

    VIEWER = 10, _("viewer")
    REVIEWER = 20, _("reviewer")
    EDITOR = 30, _("editor")
    OWNER = 40, _("owner")


class ParticipantKind(models.TextChoices):
    """Who writes or judges."""

    CROWD = "CROWD", _("crowd worker")
    EXPERT = "EXPERT", _("expert")
    MODEL = "MODEL", _("language model")
    SYSTEM = "SYSTEM", _("RAG system")


class DecisionKind(models.TextChoices):
    """The two decisions about a piece of work; neither follows from the other."""

    PAY = "PAY", _("paid")
    INCLUDE = "INCLUDE", _("included in the analysis")


class EntryKind(models.TextChoices):
    """Whom a link lets in."""

    PERSONAL = "PERSONAL", _("personal invitation")
    OPEN = "OPEN", _("open link")
    PLATFORM = "PLATFORM", _("recruitment platform")


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

    COMPLETED = "COMPLETED", _("took part")
    NO_CONSENT = "NO_CONSENT", _("did not agree")
    NO_WORK = "NO_WORK", _("found no work left")
    WITHDRAWN = "WITHDRAWN", _("withdrew")
    BAD_DEVICE = "BAD_DEVICE", _("used an unsupported device")


class Device(models.TextChoices):
    """On what people may take part."""

    DESKTOP = "desktop", _("desktop")
    TABLET = "tablet", _("tablet")
    MOBILE = "mobile", _("mobile")


class AuditedContent(models.TextChoices):
    """What a page shows of people who take part: whoever opens it is noted (`access.audited`)."""

    RESPONSE = "RESPONSE", _("a response")
    LOG = "LOG", _("how a response was written")
    REVIEW = "REVIEW", _("work with all its details")
    ANSWERS = "ANSWERS", _("what one person answered")
    PEOPLE = "PEOPLE", _("a list of people and their work")
    LETTERS = "LETTERS", _("messages from participants")
    VISIT = "VISIT", _("a visit from a platform")
    FILE = "FILE", _("a file with data from participants")
    ADMIN = "ADMIN", _("rows in the administration")
