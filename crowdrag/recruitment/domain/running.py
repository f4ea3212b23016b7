"""Publishing, pausing, starting and stopping a study on the platform, and how many places it should have."""

import math
from datetime import datetime
from typing import Final

from django.db import transaction
from django.utils.translation import gettext as _

from ..enums import StudyStatus, SubmissionStatus
from ..models import PlatformStudy, Submission
from . import listings, statuses
from .prolific import api
from .prolific.account import account
from .prolific.client import Client
from .prolific.errors import OutcomeUnknownError

PUBLISH: Final = "PUBLISH"
PAUSE: Final = "PAUSE"
START: Final = "START"
STOP: Final = "STOP"
_RUNS: Final = (StudyStatus.PUBLISHING, StudyStatus.SCHEDULED, StudyStatus.ACTIVE)
# From which status what can be done, and how it stands when it is done.
STEPS: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    PUBLISH: ((StudyStatus.UNPUBLISHED,), _RUNS),
    PAUSE: ((StudyStatus.ACTIVE,), (StudyStatus.PAUSED,)),
    START: ((StudyStatus.PAUSED,), _RUNS),
    STOP: ((StudyStatus.ACTIVE, StudyStatus.PAUSED), (StudyStatus.AWAITING_REVIEW, StudyStatus.COMPLETED)),
}


class StepError(ValueError):
    """What cannot be done with a study as it stands."""


def steps(platform_study: PlatformStudy) -> list[str]:
    """Return what can be done with a study now."""
    return [step for step, (before, _after) in STEPS.items() if platform_study.status in before]


def take(*, platform_study: PlatformStudy, step: str, now: datetime) -> PlatformStudy:
    """Take a step there, once: how the study stands is asked before, and after where no answer came.

    Raises
    ------
    StepError, PlatformError
    """
    before, after = STEPS[step]
    with transaction.atomic():
        held = PlatformStudy.objects.select_for_update(no_key=True, of=("self",)).get(pk=platform_study.pk)
        if not held.external_id:
            raise StepError(_("The study is not made on Prolific yet."))
        with Client(account(held.study)) as client:
            listings.refresh(client, held, now=now)
            if held.status in after:
                return held
            if held.status not in before:
                raise StepError(_("On Prolific the study is: %(status)s.") % {"status": held.status_label})
            try:
                answer = api.transition_study(client, held.external_id, step)
                listings.keep(held, answer, now)
            except OutcomeUnknownError:
                listings.refresh(client, held, now=now)
                if held.status not in after:
                    raise
    return held


def places_wanted(platform_study: PlatformStudy, *, still: int) -> int:
    """Return how many places a study should have in all, so that `still` more people can come.

    Whoever returned, timed out or was rejected gave the place back there. An approved visit keeps its place, whatever
    became of the work here: if it is to be done again by somebody else, that needs a place more. The answer is never
    less than what there is, since places only go up.
    """
    held = Submission.objects.filter(platform_study=platform_study).exclude(
        status__in=[*statuses.LET_GO, SubmissionStatus.REJECTED, SubmissionStatus.SCREENED_OUT, ""]
    )
    under_way = held.filter(status__in=statuses.UNDER_WAY).count()
    return max(platform_study.places, held.count() - under_way + max(still, under_way))


def fee(total: int, percent: float | None) -> int | None:
    """Return a platform's fee on what is paid, by the operator's percentage."""
    return None if percent is None else math.ceil(total * percent / 100)
