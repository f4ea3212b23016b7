"""Requests that may be sent again without being done twice: those that carry an Idempotency-Key."""

import hashlib
import json
from collections.abc import Callable
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext as _
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from crowdrag.studies.models import Study, User

from ..domain import replies
from .problems import Problem

HEADER = "Idempotency-Key"
LONGEST = 255
# What of an answer's headers is part of what was done.
KEPT_HEADERS = ("Location", "ETag")
SECONDS = "1"


def once(request: Request, study: Study | None, do: Callable[[], HttpResponseBase]) -> HttpResponseBase:
    """Answer a request by `do`; one that was answered before under the same key, as it was answered then.

    What is done and the answer that is kept commit together. A request that failed had no effect and keeps nothing.
    """
    key = request.headers.get(HEADER)
    if key is None or request.method != "POST":
        return do()
    if not key or len(key) > LONGEST or not (key.isascii() and key.isprintable()):
        raise Problem("malformed", _("An Idempotency-Key is 1 to 255 printable ASCII characters."))
    now, fingerprint, user = timezone.now(), _fingerprint(request), request.user
    assert isinstance(user, User)  # nobody else comes so far
    with transaction.atomic():
        try:
            before = replies.find(user=user, key=key, fingerprint=fingerprint, now=now)
        except replies.UnderWayError:
            raise Problem("under-way", headers={"Retry-After": SECONDS}) from None
        except replies.ReusedError:
            raise Problem("key-reused") from None
        if before is not None:
            headers = {**before.headers, "Idempotency-Replayed": "true"}
            return HttpResponse(before.body, status=before.status, content_type="application/json", headers=headers)
        response = do()
        if isinstance(response, Response):
            replies.keep(
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
    said = json.dumps([request.get_full_path(), fields], sort_keys=True, default=_digest)
    return hashlib.sha256(said.encode()).hexdigest()


def _digest(value: Any) -> str:
    """Return what stands for a value that JSON cannot hold: of a file, its contents."""
    if not isinstance(value, UploadedFile):
        return repr(value)
    digest = hashlib.sha256()
    for chunk in value.chunks():
        digest.update(chunk)
    value.seek(0)
    return f"{value.name} {digest.hexdigest()}"
