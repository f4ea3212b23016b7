"""Poll the state of studies and submissions, in case a webhook did not arrive."""

import logging
from collections import Counter
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import Exists, F, OuterRef, Q

from . import submission_sync
from .enums import StudyStatus
from .models import PlatformStudy, Submission
from .prolific import endpoints
from .prolific.account import get_account
from .prolific.client import Client
from .prolific.errors import BusyError, PlatformError

POLL_EVERY: Final = timedelta(minutes=2)
# Equal counts suggest that nothing changed; each submission is still checked from time to time.
ALL_EVERY: Final = timedelta(minutes=30)
# A study that no longer recruits changes only by reviews, which are ours or made by the researchers there.
QUIET_EVERY: Final = timedelta(hours=1)
QUIET_STATUSES: Final = (StudyStatus.UNPUBLISHED, StudyStatus.AWAITING_REVIEW, StudyStatus.COMPLETED)
LISTED_AT_MOST: Final = 20_000
log = logging.getLogger(__name__)


def due_studies(now: datetime) -> list[PlatformStudy]:
    """Return the studies to be polled, the longest unpolled first."""
    moving = Submission.objects.filter(platform_study=OuterRef("pk"), status__in=submission_sync.UNDER_WAY)
    quiet = Q(status__in=QUIET_STATUSES, seen_at__gt=now - QUIET_EVERY) & ~Exists(moving)
    rows = PlatformStudy.objects.exclude(external_id="").exclude(quiet).select_related("study", "link")
    rows = rows.filter(Q(seen_at__isnull=True) | Q(seen_at__lte=now - POLL_EVERY))
    return list(rows.order_by(F("seen_at").asc(nulls_first=True), "pk"))


def poll(client: Client, platform_study: PlatformStudy, *, now: datetime, everything: bool = False) -> int:
    """Poll a study and, if something changed, each of its submissions; return how many were read.

    Errors are stored with the study and shown; the next poll is due as always.
    """
    try:
        refresh(client, platform_study, now=now)
        read = 0
        if everything or _has_moved(client, platform_study, now):
            read = _read_all(client, platform_study, now)
            platform_study.listed_at = now
    except BusyError:
        PlatformStudy.objects.filter(pk=platform_study.pk).update(seen_at=now)  # its turn comes again, not at once
        raise
    except PlatformError as error:
        log.warning("Platform study %s could not be asked about: %s", platform_study.pk, type(error).__name__)
        platform_study.problem, platform_study.seen_at = str(error), now
        platform_study.save(update_fields=["problem", "seen_at"])
        return 0
    platform_study.problem = ""
    platform_study.save(update_fields=["problem", "listed_at"])
    return read


def refresh(client: Client, platform_study: PlatformStudy, *, now: datetime) -> dict[str, Any]:
    """Fetch the state of a study, and store it."""
    answer = endpoints.study(client, platform_study.external_id)
    store_study(platform_study, answer, now)
    return answer


def store_study(platform_study: PlatformStudy, answer: dict[str, Any], now: datetime) -> None:
    """Store the platform's data of a study. Places only increase, here as there."""
    status = str(answer.get("status") or "").strip().upper().replace("_", " ")[:20]
    platform_study.status = status or platform_study.status
    places, taken = answer.get("total_available_places"), answer.get("places_taken")
    if isinstance(places, int) and places >= 1:
        platform_study.places = places if not platform_study.is_published else max(places, platform_study.places)
    if isinstance(taken, int) and taken >= 0:
        platform_study.places_taken = taken
    if platform_study.published_at is None and platform_study.status not in {"", StudyStatus.UNPUBLISHED}:
        platform_study.published_at = now
    platform_study.seen_at = now
    platform_study.save(update_fields=["status", "places", "places_taken", "published_at", "seen_at"])


def _has_moved(client: Client, platform_study: PlatformStudy, now: datetime) -> bool:
    if platform_study.listed_at is None or platform_study.listed_at <= now - ALL_EVERY:
        return True
    counts: Counter[str] = Counter()
    for name, count in endpoints.counts(client, platform_study.external_id).items():
        status = submission_sync.parse_status(name)
        if status is not None and isinstance(count, int) and count:
            counts[status] = count
    rows = Submission.objects.filter(platform_study=platform_study).exclude(status="")
    return counts != Counter(rows.values_list("status", flat=True))


def _read_all(client: Client, platform_study: PlatformStudy, now: datetime) -> int:
    read = 0
    for row in endpoints.submissions(client, platform_study.external_id):
        # True as of the start of the listing, or later: a webhook event since then is not overwritten by it.
        news = submission_sync.parse_submission(platform_study, row, now)
        if news is not None:
            submission_sync.record(platform_study, news, now=now)
            read += 1
        if read >= LISTED_AT_MOST:
            break
    return read


def refresh_now(*, platform_study: PlatformStudy, now: datetime) -> int:
    """Fetch the state of a study and each of its submissions; return how many were read.

    Raises
    ------
    PlatformError
        with what went wrong.
    """
    with Client(get_account(platform_study.study)) as client:
        read = poll(client, platform_study, now=now, everything=True)
    if platform_study.problem:
        raise PlatformError(platform_study.problem)
    return read
