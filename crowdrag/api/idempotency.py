"""Idempotency keys: a repeated request gets the stored reply, which is kept for a day."""

import hashlib
import json
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db import connection, transaction
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag.studies.models import Participant, Study, User

from .models import IdempotentReply
from .problems import Problem

REPLY_RETENTION = timedelta(days=1)
# The number of expired replies deleted with each new one; more than one, so that they do not accumulate.
DELETED_AT_ONCE = 20


class RequestInProgressError(Exception):
    """Another request with this key is in progress."""


class KeyReusedError(Exception):
    """This key was used for a different request."""


def find_reply(*, user: User, key: str, fingerprint: str, now: datetime) -> IdempotentReply | None:
    """Return the stored reply to this request; None if it is new.

    Must be called in the transaction that answers the request. Until it ends, other requests with this key are
    rejected.

    Raises
    ------
    RequestInProgressError
        While another request with this key is in progress.
    KeyReusedError
        If the key was used for a request with another fingerprint.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [_lock_number(user, key)])
        if not cursor.fetchone()[0]:
            raise RequestInProgressError
    reply = IdempotentReply.objects.filter(user=user, key=key).first()
    if reply is not None and reply.stored_at <= now - REPLY_RETENTION:
        reply.delete()
        return None
    if reply is not None and reply.fingerprint != fingerprint:
        raise KeyReusedError
    return reply


def keep_reply(
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
    """Store a reply, and delete some expired ones."""
    IdempotentReply.objects.create(
        user=user,
        key=key,
        study=study,
        fingerprint=fingerprint,
        status=status,
        headers=headers,
        body=body,
        stored_at=now,
    )
    over = IdempotentReply.objects.filter(stored_at__lte=now - REPLY_RETENTION).order_by("stored_at", "id")
    some = over.select_for_update(skip_locked=True).values_list("pk", flat=True)[:DELETED_AT_ONCE]
    IdempotentReply.objects.filter(pk__in=list(some)).delete()


def erase_replies(participant: Participant, now: datetime) -> None:
    """Delete all stored replies of a study, because they may contain the participant's data."""
    IdempotentReply.objects.filter(study=participant.study_id).delete()


def _lock_number(user: User, key: str) -> int:
    """Return the 64-bit number of the database lock for a user and key."""
    digest = hashlib.sha256(f"api reply\0{user.pk}\0{key}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


IDEMPOTENCY_HEADER = "Idempotency-Key"
MAX_KEY_LENGTH = 255
# The response headers that are stored with a reply.
KEPT_HEADERS = ("Location", "ETag")
RETRY_AFTER_SECONDS = "1"


def answer_once(request: Request, study: Study | None, do: Callable[[], HttpResponseBase]) -> HttpResponseBase:
    """Answer a request with `do`, or with the stored reply if its key was used before.

    The effect and the stored reply are committed together. A failed request has no effect and stores nothing.
    """
    key = request.headers.get(IDEMPOTENCY_HEADER)
    if key is None or request.method != "POST":
        return do()
    if not key or len(key) > MAX_KEY_LENGTH or not (key.isascii() and key.isprintable()):
        raise Problem("malformed", "An Idempotency-Key must have 1 to 255 printable ASCII characters.")
    now, fingerprint, user = timezone.now(), _fingerprint(request), request.user
    assert isinstance(user, User)  # endpoints require sign-in
    with transaction.atomic():
        try:
            before = find_reply(user=user, key=key, fingerprint=fingerprint, now=now)
        except RequestInProgressError:
            raise Problem("under-way", headers={"Retry-After": RETRY_AFTER_SECONDS}) from None
        except KeyReusedError:
            raise Problem("key-reused") from None
        if before is not None:
            headers = {**before.headers, "Idempotency-Replayed": "true"}
            return HttpResponse(before.body, status=before.status, content_type="application/json", headers=headers)
        response = do()
        if isinstance(response, Response):
            keep_reply(
                user=user,
                key=key,
                study=study,
                fingerprint=fingerprint,
                status=response.status_code,
                headers={name: response[name] for name in KEPT_HEADERS if name in response},
                # `kept_data` excludes secrets, which are shown only once and never stored.
                body=JSONRenderer().render(getattr(response, "kept_data", response.data)).decode(),
                now=now,
            )
        return response


def _fingerprint(request: Request) -> str:
    """Return a digest of the URL and the data of a request, with the contents of files."""
    data: Any = request.data
    fields = {name: data.getlist(name) for name in data} if hasattr(data, "getlist") else data
    content = json.dumps([request.get_full_path(), fields], sort_keys=True, default=_digest)
    return hashlib.sha256(content.encode()).hexdigest()


def _digest(value: Any) -> str:
    """Return a text for a value that is not JSON; for a file, its name and the digest of its content."""
    if not isinstance(value, UploadedFile):
        return repr(value)
    digest = hashlib.sha256()
    for chunk in value.chunks():
        digest.update(chunk)
    value.seek(0)
    return f"{value.name} {digest.hexdigest()}"
