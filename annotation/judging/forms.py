"""Validate the JSON that a questionnaire's page sends."""

import json
from dataclasses import dataclass
from typing import Any, Final

from django.http import HttpRequest
from django.http.request import RawPostDataException, UnreadablePostError
from django.utils.translation import gettext as _

# Enough for an answer with the longest justification, or for the times of all items of a long questionnaire.
MAX_BODY_BYTES: Final = 200_000
MOST_TIMES: Final = 500


class BadBodyError(ValueError):
    """A request that cannot be parsed; the message says what is expected."""


@dataclass(frozen=True, slots=True)
class AnswerData:
    """An answer to a dimension of an item; `has_times` if viewing times came along, which `times` reads."""

    item: int
    dimension: int
    value: int
    justification: str
    revision: int
    has_times: bool


@dataclass(frozen=True, slots=True)
class CheckData:
    """An answer to an attention check."""

    check: int
    value: int
    revision: int


@dataclass(frozen=True, slots=True)
class ConfidenceData:
    """Whether the participant is unsure about an item."""

    item: int
    is_unsure: bool
    revision: int


@dataclass(frozen=True, slots=True)
class ProblemData:
    """A problem with an item, in the judge's words."""

    item: int
    text: str


@dataclass(frozen=True, slots=True)
class TimesData:
    """Viewing times of one visit so far."""

    visit: str
    times: list[dict[str, Any]]


def answer(request: HttpRequest) -> AnswerData:
    """Read an answer."""
    fields = _body(request)
    numbers = (_number(fields, name) for name in ("item", "dimension", "value", "revision"))
    item, dimension, value, revision = numbers
    return AnswerData(item, dimension, value, _text(fields, "justification"), revision, "times" in fields)


def check(request: HttpRequest) -> CheckData:
    """Read an answer to an attention check."""
    fields = _body(request)
    return CheckData(*(_number(fields, name) for name in ("check", "value", "revision")))


def confidence(request: HttpRequest) -> ConfidenceData:
    """Read whether the participant is unsure about an item: 1 or 0, because answers are numbers."""
    fields = _body(request)
    item, value, revision = (_number(fields, name) for name in ("item", "value", "revision"))
    if value not in {0, 1}:
        raise BadBodyError(_("“value” must be 0 or 1."))
    return ConfidenceData(item, value == 1, revision)


def problem(request: HttpRequest) -> ProblemData:
    """Read a problem with an item."""
    fields = _body(request)
    return ProblemData(_number(fields, "item"), _text(fields, "text"))


def times(request: HttpRequest) -> TimesData:
    """Read the times of a visit, sent alone or with an answer."""
    fields = _body(request)
    rows = fields.get("times")
    if not isinstance(rows, list) or len(rows) > MOST_TIMES or not all(isinstance(each, dict) for each in rows):
        raise BadBodyError(_("“times” must be a list with one object for each item."))
    return TimesData(_text(fields, "visit"), rows)


def comment(request: HttpRequest) -> str:
    """Read the final comment, from JSON or from a form."""
    if request.content_type == "application/json":
        return _text(_body(request), "comment")
    return request.POST.get("comment", "")


def _body(request: HttpRequest) -> dict[str, Any]:
    if _length(request) > MAX_BODY_BYTES:
        raise BadBodyError(_("The request is too large. Send at most %(n)s bytes at once.") % {"n": MAX_BODY_BYTES})
    try:
        fields = json.loads(request.body)
    except (UnreadablePostError, RawPostDataException) as error:
        raise BadBodyError(_("The request ended too early.")) from error
    except (ValueError, RecursionError) as error:
        raise BadBodyError(_("The request is not valid JSON.")) from error
    if not isinstance(fields, dict):
        raise BadBodyError(_("The request must be a JSON object."))
    return fields


def _length(request: HttpRequest) -> int:
    try:
        return int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        return 0


def _number(fields: dict[str, Any], name: str) -> int:
    value = fields.get(name)
    # `type(...) is int`, because True == 1 in Python.
    if type(value) is not int or not -(2**63) <= value < 2**63:
        raise BadBodyError(_("“%(name)s” must be a whole number.") % {"name": name})
    return value


def _text(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name, "")
    if not isinstance(value, str):
        raise BadBodyError(_("“%(name)s” must be text.") % {"name": name})
    return value
