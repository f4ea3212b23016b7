"""Enumerations used in results (docs/reference/tables.md)."""

from django.db import models


class Coders(models.TextChoices):
    """The kinds of coders whose agreement is computed."""

    CROWD = "crowd", "crowd"
    CORRECTED = "corrected", "corrected crowd"
    CORRECTED_QUARTER = "corrected_quarter", "without the least competent quarter of judges"
    EXPERT = "expert", "experts"
    MODEL = "model", "language models"
    POINTWISE = "pointwise", "pointwise"
    POINTWISE_CORRECTED = "pointwise_corrected", "pointwise, corrected"


class Split(models.TextChoices):
    """The presented pairs for which agreement is computed."""

    COMPLETE = "complete", "all pairs"
    DIFFERENTIABLE = "differentiable", "differentiable"
    MINIMAL = "minimal", "minimally differentiable"
    EXPERT_PAIRS = "expert_pairs", "pairs judged by experts"


class Label(models.TextChoices):
    """A gold label of a presented pair: A is the left response."""

    A = "a", "left"
    N = "n", "neither"
    B = "b", "right"


class ReleaseState(models.TextChoices):
    """State of a release; from PUBLISHED on, its contents only change by removals."""

    DRAFT = "DRAFT", "draft"
    BUILDING = "BUILDING", "being built"
    READY = "READY", "ready to publish"
    PUBLISHED = "PUBLISHED", "published"
    MARKED = "MARKED", "marked: data was withdrawn"
    WITHDRAWN = "WITHDRAWN", "withdrawn"


#: States with a public page.
PUBLIC_RELEASES = (ReleaseState.PUBLISHED, ReleaseState.MARKED, ReleaseState.WITHDRAWN)
#: States in which files are public, unless under embargo.
SERVED_RELEASES = (ReleaseState.PUBLISHED, ReleaseState.MARKED)
RELEASE_MOVES = (
    (ReleaseState.DRAFT, ReleaseState.BUILDING),
    (ReleaseState.BUILDING, ReleaseState.DRAFT),
    (ReleaseState.BUILDING, ReleaseState.READY),
    (ReleaseState.READY, ReleaseState.DRAFT),
    (ReleaseState.READY, ReleaseState.PUBLISHED),
    (ReleaseState.PUBLISHED, ReleaseState.MARKED),
    (ReleaseState.PUBLISHED, ReleaseState.WITHDRAWN),
    (ReleaseState.MARKED, ReleaseState.WITHDRAWN),
)


class PersonalKind(models.TextChoices):
    """Kind of possible personal data in a text."""

    EMAIL = "EMAIL", "email address"
    PHONE = "PHONE", "telephone number"
    PROFILE = "PROFILE", "personal page or account"
    HANDLE = "HANDLE", "user name"
    PLATFORM = "PLATFORM", "recruitment platform ID"
    ACCOUNT = "ACCOUNT", "bank account"
    CARD = "CARD", "payment card"
    NATIONAL = "NATIONAL", "national ID"
    NETWORK = "NETWORK", "network address"
    ADDRESS = "ADDRESS", "postal address"
    NAME = "NAME", "own name of a person"
    BIRTH = "BIRTH", "date of birth"
    ANSWER = "ANSWER", "survey answer of the person"


class TextSource(models.TextChoices):
    """Kind of text that is searched for personal data."""

    RESPONSE = "RESPONSE", "response"
    LOG = "LOG", "earlier version of a response"
    SURVEY = "SURVEY", "survey answer"
    JUSTIFICATION = "JUSTIFICATION", "justification of a judgment"
    COMMENT = "COMMENT", "comment on a questionnaire"


class PersonalVerdict(models.TextChoices):
    """Decision on possible personal data."""

    RELEASE = "RELEASE", "release (not personal data)"
    KEEP = "KEEP", "release although it is personal data (reason required)"
    REDACT = "REDACT", "redact it"
    LEAVE_OUT = "LEAVE_OUT", "leave out the whole text"
