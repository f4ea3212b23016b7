"""What the platform tells by itself: proved to be its own, stored, and handled afterwards.

The signature is over the bytes as they came (docs.prolific.com/api-reference/webhooks/verifying): HMAC-SHA256 of the
request's timestamp and the body, in base64.
"""

import base64
import binascii
import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from django.utils.translation import gettext as _

from crowdrag.studies.participants import identity

from ..models import PlatformEvent
from .prolific.account import hook_secret

PLATFORM: Final = "prolific"
LARGEST: Final = 64 * 1024
# A request that is older, or from further in the future, may be one that somebody kept.
FRESH: Final = timedelta(minutes=5)
LONGEST_ID: Final = 200
_DIGITS = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,9})?", re.ASCII)
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@=+~-]{0,199}", re.ASCII)


class HookError(Exception):
    """A request that is not taken; `status` is what it is answered."""

    status = 400


class NotSetUpError(HookError):
    """There is no secret, so nothing can be proved."""

    status = 503


class TooLargeError(HookError):
    """No event is as large as this."""

    status = 413


class ForgedError(HookError):
    """The signature is not the platform's, or too old."""

    status = 403


@dataclass(frozen=True)
class Headers:
    """What stands beside the body."""

    signature: str
    timestamp: str
    event_id: str
    sent: str

    @classmethod
    def of(cls, headers: Mapping[str, str]) -> "Headers":
        """Read them; names of headers are written in any case."""
        return cls(
            headers.get("X-Prolific-Request-Signature", ""),
            headers.get("X-Prolific-Request-Timestamp", ""),
            headers.get("X-Event-Id", ""),
            headers.get("X-Timestamp", ""),
        )


def receive(*, body: bytes, headers: Headers, now: datetime) -> bool:
    """Store an event; say whether it is new. The same one again is the same row.

    Raises
    ------
    NotSetUpError, TooLargeError, ForgedError, HookError
    """
    requested = verify(body=body, headers=headers, now=now)
    event = _read(body)
    kind, resource = str(event.get("event_type") or "")[:100], str(event.get("resource_id") or "")
    if not kind or not _ID.fullmatch(resource):
        raise HookError(_("The body names no event or nothing that it is about."))
    event_id = headers.event_id
    if not _ID.fullmatch(event_id):
        # The header is documented; a platform that leaves it out still tells the same thing once.
        event_id = "body:" + hashlib.sha256(headers.timestamp.encode() + body).hexdigest()
    person = str(event.get("participant_id") or "")
    _row, is_new = PlatformEvent.objects.get_or_create(
        event_id=event_id,
        defaults={
            "kind": kind,
            "resource_id": resource,
            "status": str(event.get("status") or "")[:50],
            "identity_hash": identity.identity_hash(f"{PLATFORM}:{person}") if person else None,
            # When it happened, as far as is known: a request that is sent again later has a later timestamp.
            "sent_at": min(_time(headers.sent) or requested, now),
            "received_at": now,
            "due_at": now,
        },
    )
    return is_new


def verify(*, body: bytes, headers: Headers, now: datetime) -> datetime:
    """Check that a request is the platform's and fresh; return when it was sent."""
    secret = hook_secret()
    if not secret:
        raise NotSetUpError(_("No secret is set."))
    if len(body) > LARGEST:
        raise TooLargeError(_("The body is too large."))
    given = _decoded(headers.signature)
    expected = hmac.new(secret.encode(), headers.timestamp.encode() + body, hashlib.sha256).digest()
    if not hmac.compare_digest(expected, given):
        raise ForgedError(_("The signature is wrong."))
    requested = _time(headers.timestamp)
    if requested is None or abs(now - requested) > FRESH:
        raise ForgedError(_("The request is too old, or the clocks differ."))
    return requested


def _decoded(signature: str) -> bytes:
    try:
        return base64.b64decode(signature.encode("ascii"), validate=True)
    except (ValueError, binascii.Error):
        return b""


def _time(text: str) -> datetime | None:
    """Read a UNIX time in seconds, or in thousandths of them where it is that long."""
    if not _DIGITS.fullmatch(text):
        return None
    seconds = float(text)
    if seconds > 1e11:
        seconds /= 1000
    return datetime.fromtimestamp(seconds, UTC) if seconds < 1e11 else None


def _read(body: bytes) -> dict[str, Any]:
    try:
        event = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise HookError(_("The body is no JSON.")) from error
    if not isinstance(event, dict):
        raise HookError(_("The body is no event."))
    # What PostgreSQL cannot keep as text says nothing to us either.
    clean = {name: value for name, value in event.items() if isinstance(value, str) and "\x00" not in value}
    return {name: value.encode("utf-8", "replace").decode() for name, value in clean.items()}
