"""Error responses: problem details (RFC 9457) that say what to do.

The codes of problem types (`PROBLEM_TYPES`) never change because scripts compare them.
"""

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.core.signals import got_request_exception
from django.http import Http404
from django.urls import reverse
from django.utils.functional import Promise
from rest_framework import exceptions
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response

from crowdrag import request_limits


@dataclass(frozen=True)
class ProblemType:
    """A problem type: permanent code, HTTP status, title, and remedy."""

    code: str
    status: int
    title: str | Promise
    remedy: str | Promise


_PROBLEM_TYPES = [
    ProblemType(
        "malformed",
        400,
        "The request cannot be read",
        ("Send the body that the endpoint's description specifies, as JSON in UTF-8 unless it says otherwise."),
    ),
    ProblemType(
        "invalid",
        400,
        "The request contains invalid values",
        "Correct the values listed in `errors` and send the request again.",
    ),
    ProblemType(
        "unauthenticated",
        401,
        "Authentication is missing",
        ("Send a valid token as `Authorization: Bearer crowdrag_…`. You can create one on the page “API tokens”."),
    ),
    ProblemType(
        "forbidden",
        403,
        "Your role in this study is not sufficient",
        "Ask an owner of the study for the role named in `detail`.",
    ),
    ProblemType(
        "scope",
        403,
        "The token lacks a scope",
        "Use a token with the scope named in `detail`. You can create one on the page “API tokens”.",
    ),
    ProblemType(
        "not-found",
        404,
        "Not found",
        (
            "Check the URL. All URLs except those of files end with a slash. Studies that you or your token "
            "cannot read are also reported as not found."
        ),
    ),
    ProblemType(
        "method",
        405,
        "Method not allowed",
        "Use one of the methods in the header Allow.",
    ),
    ProblemType(
        "not-acceptable",
        406,
        "The requested media type is not available",
        "Accept `application/json`.",
    ),
    ProblemType(
        "conflict",
        409,
        "The current state does not allow this",
        "Read the current state, then send a request that this state allows.",
    ),
    ProblemType(
        "under-way",
        409,
        "A request with this Idempotency-Key is in progress",
        "Wait for the number of seconds in Retry-After, then send the same request again.",
    ),
    ProblemType(
        "gone",
        410,
        "The resource is gone",
        "Use the replacement named in `detail`.",
    ),
    ProblemType(
        "length-required",
        411,
        "The length of the request is missing",
        "Send the header Content-Length. Chunked bodies are not supported.",
    ),
    ProblemType(
        "changed",
        412,
        "The resource has changed since you read it",
        "Read it again and send your change with its current ETag.",
    ),
    ProblemType(
        "too-large",
        413,
        "The request is too large",
        "Send less data at once, or upload a file if the endpoint accepts one.",
    ),
    ProblemType(
        "media-type",
        415,
        "Unsupported media type",
        "Send `Content-Type: application/json` unless the endpoint's description says otherwise.",
    ),
    ProblemType(
        "key-reused",
        422,
        "This Idempotency-Key was used for a different request",
        "Use a new key for each request. Reuse a key only to send the same request again.",
    ),
    ProblemType(
        "refused",
        422,
        "The request was understood but rejected",
        "Correct the values listed in `errors` and send the request again.",
    ),
    ProblemType(
        "limit",
        429,
        "Too many requests",
        (
            "Wait for the number of seconds in Retry-After. Lists return up to 1000 rows at once, so you can "
            "request more rows each time."
        ),
    ),
    ProblemType(
        "error",
        500,
        "Internal server error",
        (
            "Send the request again, with an Idempotency-Key if it changes something. If the error persists, tell "
            "the operator."
        ),
    ),
    ProblemType(
        "no-room",
        507,
        "The disk of this server is full",
        "Nothing was stored. Tell the operator and try again later.",
    ),
]
PROBLEM_TYPES: dict[str, ProblemType] = {sort.code: sort for sort in _PROBLEM_TYPES}


logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
# The maximum number of errors in a problem's detail; `errors` contains all of them.
ERRORS_IN_DETAIL = 3


# Exceptions that Django and the framework raise in views, parsers and serializers.
_CODES_BY_EXCEPTION: list[tuple[type[Exception], str]] = [
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


class Problem(Exception):  # noqa: N818 -- named like the response
    """An error response, raised by an endpoint.

    Parameters
    ----------
    code
        The code of the problem type.
    detail
        What is wrong in this case, as a sentence.
    errors
        The errors of fields: dicts with `pointer` (`#/title`) or `parameter` (`limit`), `detail`, `code`.
    headers
        Headers of the response, such as Retry-After.
    """

    def __init__(
        self,
        code: str,
        detail: str = "",
        *,
        errors: list[dict[str, Any]] | None = None,
        headers: dict[str, str] | None = None,
    ):
        self.sort, self.detail, self.errors, self.headers = PROBLEM_TYPES[code], detail, errors or [], headers or {}
        super().__init__(detail or str(self.sort.title))


def parameter_problem(name: str, detail: str, code: str = "invalid") -> Problem:
    """Return the problem of an invalid URL parameter."""
    return Problem("invalid", detail, errors=[{"parameter": name, "detail": detail, "code": code}])


def filter_problem(error: exceptions.ValidationError) -> Problem:
    """Return the problem of URL parameters that a filter rejected."""
    return validation_problem(list(_flatten_errors(error.get_full_details(), "parameter")))


def validation_problem(errors: list[dict[str, Any]]) -> Problem:
    """Return the problem of invalid fields or parameters; its detail says what is wrong.

    Most scripts print only the detail, so it must not refer its reader to `errors` alone.
    """
    named = [(error.get("parameter") or error.get("pointer", "")).removeprefix("#").lstrip("/") for error in errors]
    details = [
        f"{name}: {error['detail']}" if name else error["detail"] for name, error in zip(named, errors, strict=True)
    ]
    left = len(details) - ERRORS_IN_DETAIL
    more = [f"`errors` lists {left} more."] if left > 0 else []
    return Problem("invalid", " ".join([*details[:ERRORS_IN_DETAIL], *more]), errors=errors)


def refusal_problem(
    error: Exception, refused: Mapping[type[Exception], str], fields: Mapping[str, str] | None = None
) -> Problem:
    """Return the problem of a rejected request: an invalid field, or a conflict with the current state.

    `refused` maps the error's type, or a base of it, to the invalid field ("" for the whole request). `fields` maps
    these names to the names in the request, where they differ.
    """
    named = next((refused[kind] for kind in type(error).__mro__ if kind in refused), None)
    if not named:
        return Problem("conflict" if named is None else "refused", str(error))
    pointer = f"#/{(fields or {}).get(named, named)}"
    return Problem("refused", str(error), errors=[{"pointer": pointer, "detail": str(error), "code": "refused"}])


def handle_exception(error: Exception, context: dict[str, Any]) -> Response:
    """Return the response to an exception; the framework's exception handler."""
    request = context["request"]
    problem = _problem_of(error)
    if problem.sort.status >= 500:
        # Report the error as for pages: send the signal, and log the traceback.
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
    """A renderer of problem details that ignores the request's Accept header."""

    media_type = MEDIA_TYPE


def _problem_of(error: Exception) -> Problem:
    if isinstance(error, Problem):
        return error
    if isinstance(error, exceptions.ValidationError):
        return validation_problem(list(_flatten_errors(error.get_full_details(), "pointer")))
    if request_limits.is_disk_full(error):
        return Problem("no-room")
    if request_limits.is_invalid_value(error):
        return Problem("malformed", "A value cannot be stored. A number is out of range, or a character is invalid.")
    code = next((code for kind, code in _CODES_BY_EXCEPTION if isinstance(error, kind)), "error")
    if code == "error":
        return Problem("error")
    headers = {}
    if code == "unauthenticated":
        headers["WWW-Authenticate"] = 'Bearer realm="CrowdRAG"'
    # The framework's text of a 404 would reveal the table.
    detail = "" if code == "not-found" else str(getattr(error, "detail", error))
    return Problem(code, detail, headers=headers)


def _flatten_errors(details: Any, where: str, path: str = "") -> Iterator[dict[str, Any]]:
    """Flatten a serializer's nested errors to a list; each has a pointer."""
    if isinstance(details, dict) and set(details) == {"message", "code"} and isinstance(details["message"], str):
        named = path.removesuffix("/non_field_errors")
        at = f"#{named}" if where == "pointer" else named.removeprefix("/")
        yield {where: at, "detail": str(details["message"]), "code": str(details["code"])}
    elif isinstance(details, dict):
        for name, inner in details.items():
            step = str(name).replace("~", "~0").replace("/", "~1")
            yield from _flatten_errors(inner, where, f"{path}/{step}")
    else:
        for index, inner in enumerate(details):
            nested = isinstance(inner, dict) and not {"message", "code"} <= set(inner)
            yield from _flatten_errors(inner, where, f"{path}/{index}" if nested else path)
