"""Enumerations of recruitment, with the values of Prolific's API."""

from django.db import models


class SubmissionStatus(models.TextChoices):
    """The status of a participant's submission on the platform."""

    RESERVED = "RESERVED", "place reserved"
    ACTIVE = "ACTIVE", "started"
    TIMED_OUT = "TIMED-OUT", "timed out"
    RETURNED = "RETURNED", "returned"
    AWAITING_REVIEW = "AWAITING REVIEW", "awaiting review"
    SCREENED_OUT = "SCREENED OUT", "screened out"
    REJECTED = "REJECTED", "rejected"
    PARTIALLY_APPROVED = "PARTIALLY APPROVED", "partly approved"
    APPROVED = "APPROVED", "approved"


class StudyStatus(models.TextChoices):
    """The status of a study on the platform; empty while it does not exist there."""

    UNPUBLISHED = "UNPUBLISHED", "draft"
    SCHEDULED = "SCHEDULED", "scheduled"
    PUBLISHING = "PUBLISHING", "publishing"
    ACTIVE = "ACTIVE", "recruiting"
    PAUSED = "PAUSED", "paused"
    AWAITING_REVIEW = "AWAITING REVIEW", "full, reviews open"
    COMPLETED = "COMPLETED", "completed"


class ActionKind(models.TextChoices):
    """Actions on the platform."""

    APPROVE = "APPROVE", "approve"
    REJECT = "REJECT", "reject"
    SCREEN_OUT = "SCREEN_OUT", "screen out"
    BONUS = "BONUS", "pay a bonus"
    PLACES = "PLACES", "open places"


class ActionState(models.TextChoices):
    """The state of an action. UNKNOWN: it may have been carried out, so it is looked up and never just repeated."""

    WAITING = "WAITING", "waiting"
    SENDING = "SENDING", "sending"
    UNKNOWN = "UNKNOWN", "unknown outcome"
    DONE = "DONE", "done"
    FAILED = "FAILED", "needs attention"
    DROPPED = "DROPPED", "discarded"


class EventState(models.TextChoices):
    """The state of an event received from the platform."""

    WAITING = "WAITING", "waiting"
    SENDING = "SENDING", "processing"
    DONE = "DONE", "done"
    FAILED = "FAILED", "failed"


class RejectionCategory(models.TextChoices):
    """The platform's categories of rejection."""

    TOO_QUICKLY = "TOO_QUICKLY", "exceptionally fast"
    TOO_SLOWLY = "TOO_SLOWLY", "exceptionally slow"
    FAILED_INSTRUCTIONS = "FAILED_INSTRUCTIONS", "did not follow the instructions"
    FAILED_CHECK = "FAILED_CHECK", "failed attention checks"
    LOW_EFFORT = "LOW_EFFORT", "low effort"
    INCOMP_LONGITUDINAL = "INCOMP_LONGITUDINAL", "earlier part missing"
    MALINGERING = "MALINGERING", "feigned a condition"
    NO_CODE = "NO_CODE", "no completion code"
    BAD_CODE = "BAD_CODE", "wrong completion code"
    NO_DATA = "NO_DATA", "no data"
    UNSUPP_DEVICE = "UNSUPP_DEVICE", "device not supported"
    OTHER = "OTHER", "other"


class LocalStatus(models.TextChoices):
    """The state of a participant's work in this system, from the app of the activity."""

    NOTHING = "NOTHING", "not started"
    WORKING = "WORKING", "in progress"
    HANDED_IN = "HANDED_IN", "submitted"
    ACCEPTED = "ACCEPTED", "accepted"
    REJECTED = "REJECTED", "rejected"
    GONE = "GONE", "returned"
