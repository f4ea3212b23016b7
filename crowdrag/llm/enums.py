"""Enumerations of calls to language models."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class CallState(models.TextChoices):
    """What has become of a question to a model."""

    OPEN = "OPEN", _("open")
    ANSWERED = "ANSWERED", _("answered")
    FAILED = "FAILED", _("failed")


class AttemptState(models.TextChoices):
    """What has become of one sending of a question."""

    INTENDED = "INTENDED", _("in progress")
    ANSWERED = "ANSWERED", _("answered")
    FAILED = "FAILED", _("failed")
    UNKNOWN = "UNKNOWN", _("unknown outcome")


# An unknown outcome can become known later (a late answer, the provider's bill); what is settled stays.
ATTEMPT_MOVES = [
    (AttemptState.INTENDED, AttemptState.ANSWERED),
    (AttemptState.INTENDED, AttemptState.FAILED),
    (AttemptState.INTENDED, AttemptState.UNKNOWN),
    (AttemptState.UNKNOWN, AttemptState.ANSWERED),
    (AttemptState.UNKNOWN, AttemptState.FAILED),
]


class Fault(models.TextChoices):
    """Why there is no usable answer."""

    NONE = "", _("none")
    BLOCKED = "BLOCKED", _("the address is not allowed")
    UNREACHABLE = "UNREACHABLE", _("no connection")
    TIMEOUT = "TIMEOUT", _("no answer in time")
    CUT = "CUT", _("the connection was lost")
    BUSY = "BUSY", _("the server is busy")
    SERVER = "SERVER", _("the server failed")
    REJECTED = "REJECTED", _("the server rejected the request")
    REDIRECTED = "REDIRECTED", _("the server redirected the request")
    GARBAGE = "GARBAGE", _("the reply could not be read")
    INVALID = "INVALID", _("the answer does not fit its schema")
    LOST = "LOST", _("the calling process was lost")


class TokenParameter(models.TextChoices):
    """How a server calls the limit of an answer's length."""

    MAX_TOKENS = "max_tokens", "max_tokens"
    MAX_COMPLETION_TOKENS = "max_completion_tokens", "max_completion_tokens"
