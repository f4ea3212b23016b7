"""Enumerations of recruitment, with the values of Prolific's API."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class SubmissionStatus(models.TextChoices):
    """How a person's visit stands on the platform."""

    RESERVED = "RESERVED", _("place reserved")
    ACTIVE = "ACTIVE", _("started")
    TIMED_OUT = "TIMED-OUT", _("timed out")
    RETURNED = "RETURNED", _("returned")
    AWAITING_REVIEW = "AWAITING REVIEW", _("awaiting review")
    SCREENED_OUT = "SCREENED OUT", _("screened out")
    REJECTED = "REJECTED", _("rejected")
    PARTIALLY_APPROVED = "PARTIALLY APPROVED", _("partly approved")
    APPROVED = "APPROVED", _("approved")


class StudyStatus(models.TextChoices):
    """How a study stands on the platform; empty while it was never made there."""

    UNPUBLISHED = "UNPUBLISHED", _("draft")
    SCHEDULED = "SCHEDULED", _("scheduled")
    PUBLISHING = "PUBLISHING", _("publishing")
    ACTIVE = "ACTIVE", _("recruiting")
    PAUSED = "PAUSED", _("paused")
    AWAITING_REVIEW = "AWAITING REVIEW", _("full, reviews open")
    COMPLETED = "COMPLETED", _("completed")


class ActionKind(models.TextChoices):
    """What the platform is told to do."""

    APPROVE = "APPROVE", _("approve")
    REJECT = "REJECT", _("reject")
    SCREEN_OUT = "SCREEN_OUT", _("screen out")
    BONUS = "BONUS", _("pay a bonus")
    PLACES = "PLACES", _("open places")


class ActionState(models.TextChoices):
    """The state of an action. UNKNOWN: it may have been carried out, so it is looked up and never just repeated."""

    WAITING = "WAITING", _("waiting")
    SENDING = "SENDING", _("sending")
    UNKNOWN = "UNKNOWN", _("unknown outcome")
    DONE = "DONE", _("done")
    FAILED = "FAILED", _("needs attention")
    DROPPED = "DROPPED", _("discarded")


class EventState(models.TextChoices):
    """How an event stands that the platform told of."""

    WAITING = "WAITING", _("waiting")
    SENDING = "SENDING", _("processing")
    DONE = "DONE", _("done")
    FAILED = "FAILED", _("failed")


class RejectionCategory(models.TextChoices):
    """Why a submission is rejected, as the platform sorts it."""

    TOO_QUICKLY = "TOO_QUICKLY", _("exceptionally fast")
    TOO_SLOWLY = "TOO_SLOWLY", _("exceptionally slow")
    FAILED_INSTRUCTIONS = "FAILED_INSTRUCTIONS", _("did not follow the instructions")
    FAILED_CHECK = "FAILED_CHECK", _("failed attention checks")
    LOW_EFFORT = "LOW_EFFORT", _("low effort")
    INCOMP_LONGITUDINAL = "INCOMP_LONGITUDINAL", _("earlier part missing")
    MALINGERING = "MALINGERING", _("feigned a condition")
    NO_CODE = "NO_CODE", _("no completion code")
    BAD_CODE = "BAD_CODE", _("wrong completion code")
    NO_DATA = "NO_DATA", _("no data")
    UNSUPP_DEVICE = "UNSUPP_DEVICE", _("device not supported")
    OTHER = "OTHER", _("other")


class LocalStatus(models.TextChoices):
    """How somebody's work stands in this system, as the app that owns the way says."""

    NOTHING = "NOTHING", _("not started")
    WORKING = "WORKING", _("in progress")
    HANDED_IN = "HANDED_IN", _("submitted")
    ACCEPTED = "ACCEPTED", _("accepted")
    REJECTED = "REJECTED", _("rejected")
    GONE = "GONE", _("returned")
