"""Enumerations of calls to language models."""

from django.db import models


class CallState(models.TextChoices):
    """The state of a question to a model."""

    OPEN = "OPEN", "open"
    ANSWERED = "ANSWERED", "answered"
    FAILED = "FAILED", "failed"


class AttemptState(models.TextChoices):
    """The state of one attempt to send a question."""

    INTENDED = "INTENDED", "in progress"
    ANSWERED = "ANSWERED", "answered"
    FAILED = "FAILED", "failed"
    UNKNOWN = "UNKNOWN", "unknown outcome"


# An unknown outcome can become known later (a late answer, the provider's bill); a settled one stays.
ATTEMPT_MOVES = [
    (AttemptState.INTENDED, AttemptState.ANSWERED),
    (AttemptState.INTENDED, AttemptState.FAILED),
    (AttemptState.INTENDED, AttemptState.UNKNOWN),
    (AttemptState.UNKNOWN, AttemptState.ANSWERED),
    (AttemptState.UNKNOWN, AttemptState.FAILED),
]


class Fault(models.TextChoices):
    """Why there is no usable answer."""

    NONE = "", "none"
    BLOCKED = "BLOCKED", "the address is not allowed"
    UNREACHABLE = "UNREACHABLE", "no connection"
    TIMEOUT = "TIMEOUT", "no answer in time"
    CUT = "CUT", "the connection was lost"
    BUSY = "BUSY", "the server is busy"
    SERVER = "SERVER", "the server failed"
    REJECTED = "REJECTED", "the server rejected the request"
    REDIRECTED = "REDIRECTED", "the server redirected the request"
    GARBAGE = "GARBAGE", "the reply could not be read"
    INVALID = "INVALID", "the answer does not fit its schema"
    LOST = "LOST", "the calling process was lost"


class TokenParameter(models.TextChoices):
    """A server's name for the limit of an answer's length."""

    MAX_TOKENS = "max_tokens", "max_tokens"
    MAX_COMPLETION_TOKENS = "max_completion_tokens", "max_completion_tokens"
