"""A study on the platform: its row here, its draft there, publish, pause, start, stop."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import uuid4

from django.db import transaction
from django.urls import reverse

from crowdrag.studies import activities
from crowdrag.studies.entry import links
from crowdrag.studies.enums import Device
from crowdrag.studies.models import EntryLink, Study, User

from . import completion_codes, listeners, platform_filters, polling, submission_sync
from .enums import StudyStatus, SubmissionStatus
from .models import PlatformStudy, Submission
from .prolific import endpoints
from .prolific.account import get_account
from .prolific.client import Client
from .prolific.errors import OutcomeUnknownError, PlatformError

PLATFORM: Final = "prolific"
LONGEST_NAME: Final = 120
MOST_PLACES: Final = 100_000
# The platform's maximum time is one day.
MOST_MINUTES: Final = 24 * 60 - 1


class DraftError(ValueError):
    """A study that cannot be created like this; nothing was sent."""


@dataclass(frozen=True)
class Terms:
    """The advertised terms. Money in minor units of the study's currency."""

    name: str
    description: str
    reward: int
    places: int
    minutes: int
    most_minutes: int | None = None
    devices: list[str] = field(default_factory=lambda: [Device.DESKTOP.value])
    eligibility: dict[str, Any] = field(default_factory=dict)
    screen_out_reward: int | None = None


def proposed_terms(study: Study, purpose: str) -> Terms | None:
    """Return the activity's own terms; None if the study has not set it up."""
    activity = activities.get(study, purpose)
    offer = activity.offer(study) if activity else None
    if offer is None:
        return None
    listener = listeners.listener_for(purpose)
    needs = listener.needs(study, purpose) if listener else None
    return Terms(
        name=offer.title[:LONGEST_NAME],
        description=str(offer.what),
        reward=offer.pay,
        places=max(needs.places, 1) if needs else 1,
        minutes=offer.minutes,
        eligibility=dict(needs.eligibility) if needs else {},
    )


def allowed_devices(link: EntryLink) -> list[str]:
    """Return the allowed devices of participants whom the platform sends by a link; none if the link is not ours."""
    devices = PlatformStudy.objects.filter(link=link).values_list("devices", flat=True).first()
    return devices or []


@transaction.atomic
def prepare_draft(*, study: Study, purpose: str, terms: Terms, by: User | None, now: datetime) -> PlatformStudy:
    """Store the terms to be advertised, with link and codes. Nothing is sent."""
    activity = activities.get(study, purpose)
    if activity is None or activity.offer(study) is None:
        raise DraftError("This activity is not set up.")
    _check_terms(terms)
    drawn = completion_codes.draw_codes(screens_out=terms.screen_out_reward is not None)
    link = links.create_platform(
        study=study,
        purpose=purpose,
        label=f"Prolific: {terms.name}",
        platform=PLATFORM,
        parameters=links.PLATFORM_PRESETS[PLATFORM],
        completion=completion_codes.completion_urls(drawn),
        by=by,
        now=now,
    )
    return PlatformStudy.objects.create(
        study=study,
        purpose=purpose,
        link=link,
        name=terms.name,
        internal_name=f"{study.slug[:40]} {purpose[:40]} {uuid4().hex[:12]}",
        description=terms.description,
        reward=terms.reward,
        places=terms.places,
        minutes=terms.minutes,
        most_minutes=terms.most_minutes,
        devices=terms.devices,
        eligibility=terms.eligibility,
        codes=drawn,
        screen_out_reward=terms.screen_out_reward,
        created_at=now,
        created_by=by,
    )


def send_draft(*, platform_study: PlatformStudy, base: str, now: datetime) -> PlatformStudy:
    """Create the draft there; one whose response was lost is found by its internal name, not created twice.

    `base` is this system's own public URL.

    Raises
    ------
    PlatformError, EligibilityError
    """
    try:
        return _send_draft(platform_study, base, now)
    except (PlatformError, platform_filters.EligibilityError) as error:
        rows = PlatformStudy.objects.filter(pk=platform_study.pk, external_id="")
        rows.update(problem=str(error))
        raise


@transaction.atomic
def discard_draft(*, platform_study: PlatformStudy, now: datetime) -> None:
    """Give up a draft that was never created there; its link is closed. A leftover draft there does no harm."""
    held = PlatformStudy.objects.select_for_update(of=("self",)).select_related("link").get(pk=platform_study.pk)
    if held.external_id or held.submissions.exists():
        raise DraftError("The study is already on Prolific. Stop it there.")
    links.close(link=held.link, now=now)
    held.delete()


def _send_draft(platform_study: PlatformStudy, base: str, now: datetime) -> PlatformStudy:
    with transaction.atomic():
        # Two simultaneous clicks create one draft: the second waits here, and finds it created.
        held = PlatformStudy.objects.select_for_update(no_key=True, of=("self",)).get(pk=platform_study.pk)
        if held.external_id:
            return held
        with Client(get_account(held.study)) as client:
            answer = _find_draft(client, held) or _create_draft(client, held, base)
        held.external_id = str(answer["id"])
        held.problem = ""
        held.save(update_fields=["external_id", "problem"])
        polling.store_study(held, {"status": StudyStatus.UNPUBLISHED, **answer}, now)
    return held


def draft_body(
    platform_study: PlatformStudy, *, base: str, filters: list[dict[str, Any]], project: str
) -> dict[str, Any]:
    """Return the draft in the platform's format."""
    body: dict[str, Any] = {
        "name": platform_study.name,
        "internal_name": platform_study.internal_name,
        "description": platform_study.description,
        "external_study_url": entry_url(platform_study, base),
        "prolific_id_option": "url_parameters",
        "completion_codes": completion_codes.platform_codes(
            platform_study.codes, screen_out_reward=platform_study.screen_out_reward, places=platform_study.places
        ),
        "estimated_completion_time": platform_study.minutes,
        "reward": platform_study.reward,
        "total_available_places": platform_study.places,
        "device_compatibility": platform_study.devices,
        "peripheral_requirements": [],
        "filters": filters,
    }
    if platform_study.most_minutes:
        body["maximum_allowed_time"] = platform_study.most_minutes
    if project:
        body["project"] = project
    return body


def entry_url(platform_study: PlatformStudy, base: str) -> str:
    """Return the URL that the platform opens: our link, with the three parameters that it fills in."""
    path = reverse("join", args=[platform_study.link.token])
    names = links.PLATFORM_PRESETS[PLATFORM]
    filled = "&".join(f"{names[role]}={{{{%{names[role]}%}}}}" for role in links.PARAMETER_ROLES)
    return f"{base.rstrip('/')}{path}?{filled}"


def _find_draft(client: Client, held: PlatformStudy) -> dict[str, Any] | None:
    return next((row for row in endpoints.drafts(client) if row.get("internal_name") == held.internal_name), None)


def _create_draft(client: Client, held: PlatformStudy, base: str) -> dict[str, Any]:
    chosen = platform_filters.platform_filters(client, held.eligibility)
    body = draft_body(held, base=base, filters=chosen, project=client.account.project)
    try:
        return endpoints.create_study(client, body)
    except OutcomeUnknownError:
        if (draft := _find_draft(client, held)) is not None:
            return draft
        raise


def _check_terms(terms: Terms) -> None:
    if not terms.name.strip() or len(terms.name) > LONGEST_NAME:
        raise DraftError(f"The name must have 1 to {LONGEST_NAME} characters.")
    if not terms.description.strip():
        raise DraftError("Describe what participants will do.")
    if not 1 <= terms.places <= MOST_PLACES:
        raise DraftError(f"The number of places must be from 1 to {MOST_PLACES}.")
    if terms.reward < 1:
        raise DraftError("The reward must be more than 0.")
    if not 1 <= terms.minutes <= MOST_MINUTES:
        raise DraftError(f"The estimated time must be from 1 to {MOST_MINUTES} minutes.")
    if terms.most_minutes is not None and not terms.minutes <= terms.most_minutes <= MOST_MINUTES:
        raise DraftError("The maximum time must be at least the estimated time and less than a day.")
    if not terms.devices or set(terms.devices) - set(Device.values):
        raise DraftError("Select at least one device.")
    if terms.screen_out_reward is not None and not 1 <= terms.screen_out_reward < terms.reward:
        raise DraftError("The screen-out payment must be more than 0 and less than the reward.")


PUBLISH: Final = "PUBLISH"
PAUSE: Final = "PAUSE"
START: Final = "START"
STOP: Final = "STOP"
_RUNNING: Final = (StudyStatus.PUBLISHING, StudyStatus.SCHEDULED, StudyStatus.ACTIVE)
# For each step, the statuses in which it is possible and those after it.
STEPS: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    PUBLISH: ((StudyStatus.UNPUBLISHED,), _RUNNING),
    PAUSE: ((StudyStatus.ACTIVE,), (StudyStatus.PAUSED,)),
    START: ((StudyStatus.PAUSED,), _RUNNING),
    STOP: ((StudyStatus.ACTIVE, StudyStatus.PAUSED), (StudyStatus.AWAITING_REVIEW, StudyStatus.COMPLETED)),
}


class StepError(ValueError):
    """A step that is not possible in the study's current state."""


def possible_steps(platform_study: PlatformStudy) -> list[str]:
    """Return the steps that are currently possible."""
    return [step for step, (before, _after) in STEPS.items() if platform_study.status in before]


def take_step(*, platform_study: PlatformStudy, step: str, now: datetime) -> PlatformStudy:
    """Take a step there, once: the study's status is checked before, and afterwards if there was no response.

    Raises
    ------
    StepError, PlatformError
    """
    before, after = STEPS[step]
    with transaction.atomic():
        held = PlatformStudy.objects.select_for_update(no_key=True, of=("self",)).get(pk=platform_study.pk)
        if not held.external_id:
            raise StepError("The study does not exist on Prolific yet.")
        with Client(get_account(held.study)) as client:
            polling.refresh(client, held, now=now)
            if held.status in after:
                return held
            if held.status not in before:
                raise StepError(f"Status of the study on Prolific: {held.status_label}.")
            try:
                answer = endpoints.transition_study(client, held.external_id, step)
                polling.store_study(held, answer, now)
            except OutcomeUnknownError:
                polling.refresh(client, held, now=now)
                if held.status not in after:
                    raise
    return held


def places_needed(platform_study: PlatformStudy, *, still: int) -> int:
    """Return how many places a study needs in all, so that `still` more participants can come.

    Returned, timed-out and rejected submissions free their place there. An approved one keeps its place, whatever
    happened to the work here: if somebody else must do it again, that needs another place. The result is never less
    than the current number, since places can only increase.
    """
    held = Submission.objects.filter(platform_study=platform_study).exclude(
        status__in=[*submission_sync.RELEASED, SubmissionStatus.REJECTED, SubmissionStatus.SCREENED_OUT, ""]
    )
    under_way = held.filter(status__in=submission_sync.UNDER_WAY).count()
    return max(platform_study.places, held.count() - under_way + max(still, under_way))


def fee(total: int, percent: float | None) -> int | None:
    """Return a platform's fee on a payment, by the operator's percentage."""
    return None if percent is None else math.ceil(total * percent / 100)


#: Studies in these states still recruit, or have work that awaits review.
RUNNING: Final = (
    StudyStatus.SCHEDULED, StudyStatus.PUBLISHING, StudyStatus.ACTIVE, StudyStatus.PAUSED, StudyStatus.AWAITING_REVIEW,
)  # fmt: skip


def running(study: Study) -> Iterator[str]:
    """Yield a sentence if studies on the platform are still active."""
    for name in PlatformStudy.objects.filter(study=study, status__in=RUNNING).values_list("name", flat=True):
        yield f"The study “{name}” is running on the recruitment platform. Stop it there first."
