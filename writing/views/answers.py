"""How the editor is answered: JSON, every refusal with its name."""

from collections.abc import Callable
from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, JsonResponse
from django.http.request import RawPostDataException, UnreadablePostError

from ..domain import incoming

STATUSES = {"bad": 400, "token": 403, "large": 413}
CONFLICT, GONE, BUSY = 409, 410, 503


def body(request: HttpRequest) -> bytes:
    """Return a request's body.

    Raises
    ------
    TooLargeError
        if it says that it is larger than what is taken in, without reading it.
    """
    try:
        size = int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        size = 0
    if size > incoming.MOST_BYTES:
        raise incoming.TooLargeError(f"at most {incoming.MOST_BYTES} bytes at once", most_bytes=incoming.MOST_BYTES)
    try:
        return request.body
    except (UnreadablePostError, RawPostDataException) as error:
        raise incoming.BadInputError("The request ended too early.", where="") from error


def respond(answer: Callable[[], dict[str, Any]], *, status: int = 200, closed_next: str | None = None) -> JsonResponse:
    """Return an answer as JSON; what was refused with what to do, a database that is away as something to try again.

    `closed_next` is where a page goes whose task is closed; what has no page is told that it is gone.
    """
    try:
        return JsonResponse(answer(), status=status)
    except incoming.RefusedError as refused:
        facts = {"problem": refused.problem, **refused.facts}
        if refused.problem == "closed":
            if closed_next is None:
                return JsonResponse(facts, status=GONE)
            facts["next"] = closed_next
        return JsonResponse(facts, status=STATUSES.get(refused.problem, CONFLICT))
    except (OperationalError, InterfaceError):
        return JsonResponse({"problem": "busy"}, status=BUSY, headers={"Retry-After": "1"})
