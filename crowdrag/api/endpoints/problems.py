"""What is answered when something is wrong: problem details (RFC 9457) that say what to do."""

import logging
from collections.abc import Iterator, Mapping
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.core.signals import got_request_exception
from django.http import Http404
from django.urls import reverse
from django.utils.translation import gettext as _
from rest_framework import exceptions
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response

from crowdrag import request_bodies

from .sorts import SORTS

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
# So many errors are said in a problem's detail; all of them stand in `errors`.
SAID = 3


# Django's and the framework's own, as they come out of views, parsers and serializers.
_OTHERS: list[tuple[type[Exception], str]] = [
    (exceptions.ParseError, "malformed"),
    (exceptions.NotAuthenticated, "unauthenticated"),
    (exceptions.AuthenticationFailed, "unauthenticated"),
    (exceptions.PermissionDenied, "forbidden"),
    (PermissionDenied, "forbidden"),
    (exceptions.NotFound, "not-found"),
    (Http404, "not-found"),
    (exceptions.MethodNotAllowed, "method"),
    (exceptions.NotAcceptable, "not-acceptable"),
    (exceptions.UnsupportedMediaType, "media-type"),
    (RequestDataTooBig, "too-large"),
    (SuspiciousOperation, "malformed"),
]


class Problem(Exception):  # noqa: N818 -- it is called what it is answered as
    """Raised by an endpoint: something is wrong, of one of the sorts above.

    Parameters
    ----------
    code
        the sort's name.
    detail
        what is wrong in this case, as a sentence.
    errors
        what is wrong with each field: dicts with `pointer` (`#/title`) or `parameter` (`limit`), `detail`, `code`.
    headers
        sent with the answer, such as Retry-After.
    """

    def __init__(
        self,
        code: str,
        detail: str = "",
        *,
        errors: list[dict[str, Any]] | None = None,
        headers: dict[str, str] | None = None,
    ):
        self.sort, self.detail, self.errors, self.headers = SORTS[code], detail, errors or [], headers or {}
        super().__init__(detail or str(self.sort.title))


def of_parameter(name: str, detail: str, code: str = "invalid") -> Problem:
    """Return the problem that a parameter of the address is not as it must be."""
    return Problem("invalid", detail, errors=[{"parameter": name, "detail": detail, "code": code}])


def of_parameters(error: exceptions.ValidationError) -> Problem:
    """Return the problem that parameters of the address are not as they must be, by what a filter says of them."""
    return of_errors(list(_errors(error.get_full_details(), "parameter")))


def of_errors(errors: list[dict[str, Any]]) -> Problem:
    """Return the problem that these fields or parameters are not as they must be; its detail says what is wrong.

    A script that prints the detail alone, as most do, must not leave its reader with "see elsewhere".
    """
    named = [(error.get("parameter") or error.get("pointer", "")).removeprefix("#").lstrip("/") for error in errors]
    said = [
        f"{name}: {error['detail']}" if name else error["detail"] for name, error in zip(named, errors, strict=True)
    ]
    left = len(said) - SAID
    more = [_("%(count)d more in `errors`.") % {"count": left}] if left > 0 else []
    return Problem("invalid", " ".join([*said[:SAID], *more]), errors=errors)


def of_refusal(
    error: Exception, refused: Mapping[type[Exception], str], fields: Mapping[str, str] | None = None
) -> Problem:
    """Return the problem that something was refused: by its field where another request would be taken, else as things
    stand.

    `refused` says which field it is, by the error's type or a base of it ("": the request as a whole), `fields` what
    this request calls it where that is another name.
    """
    named = next((refused[kind] for kind in type(error).__mro__ if kind in refused), None)
    if not named:
        return Problem("conflict" if named is None else "refused", str(error))
    pointer = f"#/{(fields or {}).get(named, named)}"
    return Problem("refused", str(error), errors=[{"pointer": pointer, "detail": str(error), "code": "refused"}])


def answer(error: Exception, context: dict[str, Any]) -> Response:
    """Answer an exception: the framework's handler of exceptions."""
    request = context["request"]
    problem = _problem(error)
    if problem.sort.status >= 500:
        # As for a page: whoever listens for errors hears of it, and the log has where it was.
        got_request_exception.send(sender=None, request=request._request)
        logger.error("Error in the API: %s %s", request.method, request.path, exc_info=error)
    body: dict[str, Any] = {
        "type": f"{request.build_absolute_uri(reverse('api_problems'))}#{problem.sort.code}",
        "code": problem.sort.code,
        "title": str(problem.sort.title),
        "status": problem.sort.status,
        "detail": problem.detail or str(problem.sort.title),
        "remedy": str(problem.sort.remedy),
    }
    if problem.errors:
        body["errors"] = problem.errors
    request.accepted_renderer, request.accepted_media_type = ProblemRenderer(), MEDIA_TYPE
    return Response(body, status=problem.sort.status, headers=problem.headers)


class ProblemRenderer(JSONRenderer):
    """Writes problem details, whatever the request said it accepts."""

    media_type = MEDIA_TYPE


def _problem(error: Exception) -> Problem:
    if isinstance(error, Problem):
        return error
    if isinstance(error, exceptions.ValidationError):
        return of_errors(list(_errors(error.get_full_details(), "pointer")))
    if request_bodies.is_for_lack_of_room(error):
        return Problem("no-room")
    if request_bodies.is_for_its_content(error):
        return Problem("malformed", _("A value cannot be stored: a number out of range, or a character that is none."))
    code = next((code for kind, code in _OTHERS if isinstance(error, kind)), "error")
    if code == "error":
        return Problem("error")
    headers = {}
    if code == "unauthenticated":
        headers["WWW-Authenticate"] = 'Bearer realm="CrowdRAG"'
    # A 404's own text would say which table was looked into.
    told = "" if code == "not-found" else str(getattr(error, "detail", error))
    return Problem(code, told, headers=headers)


def _errors(details: Any, where: str, path: str = "") -> Iterator[dict[str, Any]]:
    """Flatten a serializer's errors, nested as its fields are, into a list with a pointer each."""
    if isinstance(details, dict) and set(details) == {"message", "code"} and isinstance(details["message"], str):
        named = path.removesuffix("/non_field_errors")
        at = f"#{named}" if where == "pointer" else named.removeprefix("/")
        yield {where: at, "detail": str(details["message"]), "code": str(details["code"])}
    elif isinstance(details, dict):
        for name, inner in details.items():
            step = str(name).replace("~", "~0").replace("/", "~1")
            yield from _errors(inner, where, f"{path}/{step}")
    else:
        for index, inner in enumerate(details):
            nested = isinstance(inner, dict) and not {"message", "code"} <= set(inner)
            yield from _errors(inner, where, f"{path}/{index}" if nested else path)
