"""Handling what the platform told: in any order, once or many times, soon or late."""

import logging
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction

from crowdrag.studies.models import Arrival

from ..models import PlatformEvent, PlatformStudy, Submission
from . import hearing, listings, statuses
from .prolific import api
from .prolific.client import Client
from .prolific.errors import MissingError, PlatformError

AT_ONCE: Final = 200
MOST_TRIES: Final = 12
FIRST_WAIT: Final = timedelta(seconds=30)
LONGEST_WAIT: Final = timedelta(hours=1)
log = logging.getLogger(__name__)


def due(now: datetime) -> list[PlatformEvent]:
    """Return what waits to be handled, oldest first."""
    rows = PlatformEvent.objects.filter(handled_at__isnull=True, due_at__lte=now)
    return list(rows.order_by("sent_at", "pk")[:AT_ONCE])


def handle_due(client: Client | None, *, now: datetime) -> int:
    """Handle what waits. Without a client, only what can be said without asking the platform."""
    handled = 0
    for event in due(now):
        try:
            handled += handle(client, event, now=now)
        except PlatformError as error:
            _later(event, str(error), now)
        except Exception:
            log.exception("Platform event %s could not be handled", event.pk)
            _later(event, "", now)
    return handled


def handle(client: Client | None, event: PlatformEvent, *, now: datetime) -> bool:
    """Handle one event; say whether it is done with."""
    if event.kind == api.STUDY_CHANGED:
        note = _study(client, event, now)
    elif event.kind == api.SUBMISSION_CHANGED:
        note = _submission(client, event, now)
    else:
        note = "not of use here"
    if note is None:
        return False
    # Who it was about is not kept: the visit knows, and of a visit that is not ours nothing is kept.
    rows = PlatformEvent.objects.filter(pk=event.pk, handled_at__isnull=True)
    rows.update(handled_at=now, note=note, identity_hash=None)
    return True


def _study(client: Client | None, event: PlatformEvent, now: datetime) -> str | None:
    found = PlatformStudy.objects.filter(external_id=event.resource_id).first()
    if found is None:
        return "not one of ours"
    if client is None:
        return None
    listings.refresh(client, found, now=now)
    return "asked how the study stands"


def _submission(client: Client | None, event: PlatformEvent, now: datetime) -> str | None:
    status = statuses.known(event.status)
    if status is None:
        return "a status that says nothing"
    found, person = _ours(event.resource_id), ""
    if found is None:
        if client is None:
            return None
        # The event names no study: somebody who got a place and has not come here yet, or another study's visit.
        try:
            row = api.submission(client, event.resource_id)
        except MissingError:
            return "a submission that there is not"
        studies = PlatformStudy.objects.exclude(external_id="").select_related("study", "link")
        found = studies.filter(external_id=str(row.get("study_id") or row.get("study") or "")).first()
        if found is None:
            return "another study's"
        # What was just read is newer than the event, and says more.
        if (news := hearing.read(found, row, now)) is not None:
            hearing.hear(found, news, now=now)
            # Of who had all erased the visit may be forgotten again by now: the notice alone would not know them.
            person = news.person
    hashed = bytes(event.identity_hash) if event.identity_hash is not None else None
    with transaction.atomic():
        hearing.hear(found, hearing.News(event.resource_id, status, event.sent_at, hashed, person), now=now)
    return "heard"


def _ours(session: str) -> PlatformStudy | None:
    """Return the study of a visit that is known here: heard of before, or come by one of our links."""
    studies = PlatformStudy.objects.select_related("study", "link")
    submission = Submission.objects.filter(external_id=session).order_by("-pk").first()
    if submission is not None:
        return studies.get(pk=submission.platform_study_id)
    arrival = Arrival.objects.filter(session=session, link__platform_study__isnull=False).order_by("-pk").first()
    return studies.get(link=arrival.link_id) if arrival else None


def _later(event: PlatformEvent, error: str, now: datetime) -> None:
    tries = event.tries + 1
    wait = min(FIRST_WAIT * 2 ** min(event.tries, 10), LONGEST_WAIT)
    rows = PlatformEvent.objects.filter(pk=event.pk, handled_at__isnull=True)
    if tries >= MOST_TRIES:
        # Nothing is lost: the listing of the study says the same.
        rows.update(tries=tries, handled_at=now, note=f"given up: {error}"[:300], identity_hash=None)
    else:
        rows.update(tries=tries, due_at=now + wait, note=error[:300])
