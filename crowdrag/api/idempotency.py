"""Idempotency keys: a request that is sent again gets the stored reply.

What was answered the first time is kept for a day, and answered again.
"""

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
# How many that are over go with each that is kept: more than one, so that they never gather.
DELETED_AT_ONCE = 20


class RequestInProgressError(Exception):
    """Another request with this key is being answered at this moment."""


class KeyReusedError(Exception):
    """This key came with another request."""


def find_reply(*, user: User, key: str, fingerprint: str, now: datetime) -> IdempotentReply | None:
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
    """Keep what was answered, and let go of some that are over."""
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
    """Let go of all that was answered in a study: something that this person gave may stand in it."""
    IdempotentReply.objects.filter(study=participant.study_id).delete()


def _lock_number(user: User, key: str) -> int:
    """Return a number for the database's lock: of 64 bits, the same for the same person and key."""
    digest = hashlib.sha256(f"api reply\0{user.pk}\0{key}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)


IDEMPOTENCY_HEADER = "Idempotency-Key"
MAX_KEY_LENGTH = 255
# What of an answer's headers is part of what was done.
KEPT_HEADERS = ("Location", "ETag")
RETRY_AFTER_SECONDS = "1"


def answer_once(request: Request, study: Study | None, do: Callable[[], HttpResponseBase]) -> HttpResponseBase:
    """Answer a request by `do`; one that was answered before under the same key, as it was answered then.

    What is done and the answer that is kept commit together. A request that failed had no effect and keeps nothing.
    """
    key = request.headers.get(IDEMPOTENCY_HEADER)
    if key is None or request.method != "POST":
        return do()
    if not key or len(key) > MAX_KEY_LENGTH or not (key.isascii() and key.isprintable()):
        raise Problem("malformed", "An Idempotency-Key must have 1 to 255 printable ASCII characters.")
    now, fingerprint, user = timezone.now(), _fingerprint(request), request.user
    assert isinstance(user, User)  # nobody else comes so far
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
                # What is said once and kept nowhere, a secret, is not kept here either.
                body=JSONRenderer().render(getattr(response, "kept_data", response.data)).decode(),
                now=now,
            )
        return response


def _fingerprint(request: Request) -> str:
    """Return what tells requests apart: their address and what came with them, files by their contents."""
    data: Any = request.data
    fields = {name: data.getlist(name) for name in data} if hasattr(data, "getlist") else data
    content = json.dumps([request.get_full_path(), fields], sort_keys=True, default=_digest)
    return hashlib.sha256(content.encode()).hexdigest()


def _digest(value: Any) -> str:
    """Return what stands for a value that JSON cannot hold: of a file, its contents."""
    if not isinstance(value, UploadedFile):
        return repr(value)
    digest = hashlib.sha256()
    for chunk in value.chunks():
        digest.update(chunk)
    value.seek(0)
    return f"{value.name} {digest.hexdigest()}"
