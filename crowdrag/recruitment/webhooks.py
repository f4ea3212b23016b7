"""Webhooks from the platform: subscribe, verify, store, handle.

The signature covers the raw bytes (docs.prolific.com/api-reference/webhooks/verifying): HMAC-SHA256 of the request's
timestamp and the body, in base64. Events are handled in any order, once or many times, soon or late.
"""

import base64
import binascii
import hashlib
import hmac
import json
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from django.db import transaction
from django.urls import reverse

from crowdrag.jobs.delivery_queue import Backoff, DeliveryQueue
from crowdrag.studies.models import Arrival
from crowdrag.studies.participants import identity

from . import polling, submission_sync
from .enums import EventState
from .models import PlatformEvent, PlatformStudy, Submission
from .prolific import endpoints
from .prolific.account import get_account, webhook_secret
from .prolific.client import Client
from .prolific.errors import MissingError, NotConfiguredError, PlatformError

PLATFORM: Final = "prolific"
LARGEST_BODY: Final = 64 * 1024
# A request that is older, or from further in the future, may be a replay.
FRESH_FOR: Final = timedelta(minutes=5)
LONGEST_ID: Final = 200
_DIGITS = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,9})?", re.ASCII)
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@=+~-]{0,199}", re.ASCII)


class WebhookError(Exception):
    """A rejected request; `status` is the response's status."""

    status = 400


class NotSetUpError(WebhookError):
    """There is no secret, so nothing can be verified."""

    status = 503


class TooLargeError(WebhookError):
    """The body is too large for an event."""

    status = 413


class ForgedError(WebhookError):
    """The signature is not the platform's, or too old."""

    status = 403


@dataclass(frozen=True)
class WebhookHeaders:
    """The headers used."""

    signature: str
    timestamp: str
    event_id: str
    sent: str

    @classmethod
    def of(cls, headers: Mapping[str, str]) -> "WebhookHeaders":
        """Read them; header names are case-insensitive."""
        return cls(
            headers.get("X-Prolific-Request-Signature", ""),
            headers.get("X-Prolific-Request-Timestamp", ""),
            headers.get("X-Event-Id", ""),
            headers.get("X-Timestamp", ""),
        )


def receive(*, body: bytes, headers: WebhookHeaders, now: datetime) -> bool:
    """Store an event; return whether it is new. Idempotent.

    Raises
    ------
    NotSetUpError, TooLargeError, ForgedError, WebhookError
    """
    requested = verify(body=body, headers=headers, now=now)
    event = _parse_body(body)
    kind, resource = str(event.get("event_type") or "")[:100], str(event.get("resource_id") or "")
    if not kind or not _ID.fullmatch(resource):
        raise WebhookError("The body does not name an event and its subject.")
    event_id = headers.event_id
    if not _ID.fullmatch(event_id):
        # The header is documented; without it, the digest of the body identifies the event.
        event_id = "body:" + hashlib.sha256(headers.timestamp.encode() + body).hexdigest()
    person = str(event.get("participant_id") or "")
    _row, is_new = PlatformEvent.objects.get_or_create(
        event_id=event_id,
        defaults={
            "kind": kind,
            "resource_id": resource,
            "status": str(event.get("status") or "")[:50],
            "identity_hash": identity.identity_hash(f"{PLATFORM}:{person}") if person else None,
            # When it happened, as far as is known: a repeated request has a later timestamp.
            "sent_at": min(_parse_time(headers.sent) or requested, now),
            "received_at": now,
            "due_at": now,
        },
    )
    return is_new


def verify(*, body: bytes, headers: WebhookHeaders, now: datetime) -> datetime:
    """Check that a request is the platform's and fresh; return when it was sent."""
    secret = webhook_secret()
    if not secret:
        raise NotSetUpError("No secret is set.")
    if len(body) > LARGEST_BODY:
        raise TooLargeError("The body is too large.")
    signature = _decode_signature(headers.signature)
    expected = hmac.new(secret.encode(), headers.timestamp.encode() + body, hashlib.sha256).digest()
    if not hmac.compare_digest(expected, signature):
        raise ForgedError("The signature is wrong.")
    requested = _parse_time(headers.timestamp)
    if requested is None or abs(now - requested) > FRESH_FOR:
        raise ForgedError("The request is too old, or the clocks differ.")
    return requested


def _decode_signature(signature: str) -> bytes:
    try:
        return base64.b64decode(signature.encode("ascii"), validate=True)
    except (ValueError, binascii.Error):
        return b""


def _parse_time(text: str) -> datetime | None:
    """Read a UNIX time in seconds, or in milliseconds if it is that long."""
    if not _DIGITS.fullmatch(text):
        return None
    seconds = float(text)
    if seconds > 1e11:
        seconds /= 1000
    return datetime.fromtimestamp(seconds, UTC) if seconds < 1e11 else None


def _parse_body(body: bytes) -> dict[str, Any]:
    try:
        event = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise WebhookError("The body is not valid JSON.") from error
    if not isinstance(event, dict):
        raise WebhookError("The body is not an event.")
    # Text that PostgreSQL cannot store is of no use to us either.
    clean = {name: value for name, value in event.items() if isinstance(value, str) and "\x00" not in value}
    return {name: value.encode("utf-8", "replace").decode() for name, value in clean.items()}


AT_ONCE: Final = 200
# In order of occurrence. The lease is longer than all tries of all requests about one event.
QUEUE: Final = DeliveryQueue(PlatformEvent, lease=timedelta(minutes=5), order=("sent_at", "pk"))
BACKOFF: Final = Backoff.exponential(timedelta(seconds=30), timedelta(hours=1), tries=12)
log = logging.getLogger(__name__)


def handle_due(client: Client | None, *, now: datetime) -> int:
    """Handle waiting events, earliest first. Without a client, only those that need no request to the platform."""
    handled, passed = 0, set[int]()
    while len(passed) < AT_ONCE and (event := QUEUE.claim(now, passed=passed)) is not None:
        passed.add(event.pk)
        try:
            handled += handle(client, event, now=now)
        except PlatformError as error:
            _postpone(event, str(error), now)
        except Exception:
            log.exception("Platform event %s could not be handled", event.pk)
            _postpone(event, "", now)
    return handled


def handle(client: Client | None, event: PlatformEvent, *, now: datetime) -> bool:
    """Handle one claimed event; return whether it is settled."""
    if event.kind == endpoints.STUDY_CHANGED:
        note = _handle_study(client, event, now)
    elif event.kind == endpoints.SUBMISSION_CHANGED:
        note = _handle_submission(client, event, now)
    else:
        note = "not of use here"
    if note is None:
        QUEUE.put_back(event)
        return False
    # The person is not stored with the event: the visit has them, and of visits that are not ours nothing is kept.
    QUEUE.settle(event, state=EventState.DONE, handled_at=now, note=note, identity_hash=None)
    return True


def _handle_study(client: Client | None, event: PlatformEvent, now: datetime) -> str | None:
    platform_study = PlatformStudy.objects.filter(external_id=event.resource_id).first()
    if platform_study is None:
        return "not one of ours"
    if client is None:
        return None
    polling.refresh(client, platform_study, now=now)
    return "asked how the study stands"


def _handle_submission(client: Client | None, event: PlatformEvent, now: datetime) -> str | None:
    status = submission_sync.parse_status(event.status)
    if status is None:
        return "a status that says nothing"
    platform_study, person = _find_study(event.resource_id), ""
    if platform_study is None:
        if client is None:
            return None
        # The event names no study: a participant who has a place and has not come here yet, or another study's visit.
        try:
            row = endpoints.submission(client, event.resource_id)
        except MissingError:
            return "a submission that there is not"
        studies = PlatformStudy.objects.exclude(external_id="").select_related("study", "link")
        platform_study = studies.filter(external_id=str(row.get("study_id") or row.get("study") or "")).first()
        if platform_study is None:
            return "another study's"
        # What was just read is newer than the event, and more complete.
        if (news := submission_sync.parse_submission(platform_study, row, now)) is not None:
            submission_sync.record(platform_study, news, now=now)
            # The visit of an erased participant may be deleted by now, and the event alone would not identify them.
            person = news.person
    hashed = bytes(event.identity_hash) if event.identity_hash is not None else None
    with transaction.atomic():
        submission_sync.record(
            platform_study,
            submission_sync.SubmissionUpdate(event.resource_id, status, event.sent_at, hashed, person),
            now=now,
        )
    return "heard"


def _find_study(session: str) -> PlatformStudy | None:
    """Return the study of a known visit: reported before, or entered by one of our links."""
    studies = PlatformStudy.objects.select_related("study", "link")
    submission = Submission.objects.filter(external_id=session).order_by("-pk").first()
    if submission is not None:
        return studies.get(pk=submission.platform_study_id)
    arrival = Arrival.objects.filter(session=session, link__platform_study__isnull=False).order_by("-pk").first()
    return studies.get(link=arrival.link_id) if arrival else None


def _postpone(event: PlatformEvent, error: str, now: datetime) -> None:
    wait = BACKOFF.after(event.tries)
    if wait is None:
        # Nothing is lost: polling the study returns the same.
        note = f"given up: {error}"[:300]
        QUEUE.settle(event, state=EventState.FAILED, handled_at=now, note=note, identity_hash=None)
    else:
        QUEUE.settle(event, state=EventState.WAITING, due_at=now + wait, note=error[:300])


def subscribe(*, base: str) -> list[str]:
    """Subscribe this system to the events it needs; return the new ones.

    `base` is this system's own URL. Prolific calls public https URLs only.
    """
    target = f"{base.rstrip('/')}{reverse('prolific_hook')}"
    with Client(get_account()) as client:
        parts = urlsplit(target)
        if parts.scheme != "https" and not client.account.is_loopback:
            raise NotConfiguredError("Prolific only calls URLs that start with https://.")
        if not client.account.workspace:
            raise NotConfiguredError("CROWDRAG_PROLIFIC_WORKSPACE is not set.")
        subscribed = {
            str(row.get("event_type"))
            for row in endpoints.subscriptions(client)
            if row.get("target_url") == target and row.get("is_enabled", True)
        }
        missing = [event for event in endpoints.EVENTS if event not in subscribed]
        for event in missing:
            endpoints.subscribe(client, event=event, target=target, workspace=client.account.workspace)
    return missing
