"""Words of results, as they stand in the tables (docs/reference/tables.md)."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Coders(models.TextChoices):
    """The kinds of coders whose agreement is computed."""

    CROWD = "crowd", _("crowd")
    CORRECTED = "corrected", _("corrected crowd")
    CORRECTED_QUARTER = "corrected_quarter", _("without the least competent quarter")
    EXPERT = "expert", _("experts")
    MODEL = "model", _("language models")
    POINTWISE = "pointwise", _("pointwise")
    POINTWISE_CORRECTED = "pointwise_corrected", _("pointwise, corrected")


class Split(models.TextChoices):
    """Which presented pairs an agreement is over."""

    COMPLETE = "complete", _("all pairs")
    DIFFERENTIABLE = "differentiable", _("differentiable")
    MINIMAL = "minimal", _("minimally differentiable")
    EXPERT_PAIRS = "expert_pairs", _("pairs judged by experts")


class Label(models.TextChoices):
    """A gold label of a presented pair: a is the left response."""

    A = "a", _("left")
    N = "n", _("neither")
    B = "b", _("right")


class ReleaseState(models.TextChoices):
    """Where a release stands; from PUBLISHED on nothing of it changes any more, but for what is taken out of it."""

    DRAFT = "DRAFT", _("draft")
    BUILDING = "BUILDING", _("being built")
    READY = "READY", _("ready to publish")
    PUBLISHED = "PUBLISHED", _("published")
    MARKED = "MARKED", _("marked: data was withdrawn")
    WITHDRAWN = "WITHDRAWN", _("withdrawn")


#: What the public knows of.
PUBLIC_RELEASES = (ReleaseState.PUBLISHED, ReleaseState.MARKED, ReleaseState.WITHDRAWN)
#: Whose files anybody may have, once no embargo stands in the way.
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
    """What sort of personal data a text may hold."""

    EMAIL = "EMAIL", _("e-mail address")
    PHONE = "PHONE", _("telephone number")
    PROFILE = "PROFILE", _("personal page or account")
    HANDLE = "HANDLE", _("user name")
    PLATFORM = "PLATFORM", _("recruitment platform ID")
    ACCOUNT = "ACCOUNT", _("bank account")
    CARD = "CARD", _("payment card")
    NATIONAL = "NATIONAL", _("national ID")
    NETWORK = "NETWORK", _("network address")
    ADDRESS = "ADDRESS", _("postal address")
    NAME = "NAME", _("own name of a person")
    BIRTH = "BIRTH", _("date of birth")
    ANSWER = "ANSWER", _("survey answer of the person")


class TextSource(models.TextChoices):
    """The kinds of texts that are searched for personal data."""

    RESPONSE = "RESPONSE", _("response")
    LOG = "LOG", _("earlier version of a response")
    SURVEY = "SURVEY", _("survey answer")
    JUSTIFICATION = "JUSTIFICATION", _("justification of a judgment")
    COMMENT = "COMMENT", _("comment on a questionnaire")


class PersonalVerdict(models.TextChoices):
    """What is done with what looks like personal data."""

    RELEASE = "RELEASE", _("release (not personal data)")
    KEEP = "KEEP", _("release although it is personal data (reason required)")
    REDACT = "REDACT", _("redact it")
    LEAVE_OUT = "LEAVE_OUT", _("leave out the whole text")
