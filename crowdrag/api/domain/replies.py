"""Requests that may be sent again: what was answered the first time is kept for a day, and answered again."""

import hashlib
from datetime import datetime, timedelta

from django.db import connection

from crowdrag.studies.models import Participant, Study, User

from ..models import KeptReply

KEPT_FOR = timedelta(days=1)
# How many that are over go with each that is kept: more than one, so that they never gather.
CLEARED_AT_ONCE = 20


class UnderWayError(Exception):
    """Another request with this key is being answered at this moment."""


class ReusedError(Exception):
    """This key came with another request."""


def find(*, user: User, key: str, fingerprint: str, now: datetime) -> KeptReply | None:
    """Return what was answered to this request before; None where it is to be answered now.

    To be called in the transaction in which it is answered: until that ends, another request with this key is told so.

    Raises
    ------
    UnderWayError
        while another one is being answered.
    ReusedError
        when the key came with a request of another fingerprint.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [_lock(user, key)])
        if not cursor.fetchone()[0]:
            raise UnderWayError
    found = KeptReply.objects.filter(user=user, key=key).first()
    if found is not None and found.kept_at <= now - KEPT_FOR:
        found.delete()
        return None
    if found is not None and found.fingerprint != fingerprint:
        raise ReusedError
    return found


def keep(
    *,
    user: User,
    key: str,
    study: Study | None,
    fingerprint: str,
    status: int,
    headers: dict[str, str],
    body: str,
    now: datetime,
) -> None:
    """Keep what was answered, and let go of some that are over."""
    KeptReply.objects.create(
        user=user,
        key=key,
        study=study,
        fingerprint=fingerprint,
        status=status,
        headers=headers,
        body=body,
        kept_at=now,
    )
    over = KeptReply.objects.filter(kept_at__lte=now - KEPT_FOR).order_by("kept_at", "id")
    some = over.select_for_update(skip_locked=True).values_list("pk", flat=True)[:CLEARED_AT_ONCE]
    KeptReply.objects.filter(pk__in=list(some)).delete()


def erase(participant: Participant, now: datetime) -> None:
    """Let go of all that was answered in a study: something that this person gave may stand in it."""
    KeptReply.objects.filter(study=participant.study_id).delete()


def _lock(user: User, key: str) -> int:
    """Return a number for the database's lock: of 64 bits, the same for the same person and key."""
    digest = hashlib.sha256(f"api reply\0{user.pk}\0{key}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)
