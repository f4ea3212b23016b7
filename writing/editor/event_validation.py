"""Validation of the editor's requests before anything is stored."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import call
from typing import Any, NoReturn

from ..enums import LONGEST_TEXT
from . import events

# Larger bodies are rejected unread; the editor's batches are much smaller.
MAX_BATCH_BYTES = 256 * 1024
MOST_EVENTS = 2000
MOST_TIME = 10**11  # milliseconds: three years
MOST_NUMBER = 2**31 - 1


class RefusedError(ValueError):
    """The request was rejected. `problem` is the reason for programs; the facts say what to do."""

    problem = "bad"

    def __init__(self, message: str = "", **facts: Any) -> None:
        super().__init__(message)
        self.facts = facts | ({"message": message} if message else {})


class BadInputError(RefusedError):
    """The request is malformed; `where` is the place."""


class TooLargeError(RefusedError):
    """The request is too large; the sender must split it."""

    problem = "large"


@dataclass(frozen=True, slots=True)
class Rule:
    """The check of a field's value, and its description."""

    fits: Callable[[Any], bool]
    expected: str


def _whole(low: int, high: int) -> Rule:
    return Rule(lambda value: type(value) is int and low <= value <= high, f"a whole number from {low} to {high}")


def _one_of(values: tuple[str, ...]) -> Rule:
    allowed = frozenset(values)
    return Rule(lambda value: isinstance(value, str) and value in allowed, "one of " + ", ".join(values))


def _text(most: int) -> Rule:
    return Rule(
        lambda value: isinstance(value, str) and len(value) <= most and _is_storable(value),
        f"text of at most {most} characters, without U+0000 and lone surrogates",
    )


def _is_storable(text: str) -> bool:
    if "\0" in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


_FLAG = Rule(lambda value: value is True or value is False or (type(value) is int and value in (0, 1)), "0 or 1")
_PLACE_IN_TEXT = _whole(0, LONGEST_TEXT)
_HEX = frozenset("0123456789abcdef")
TIME = _whole(0, MOST_TIME)
_NUMBER = _whole(0, MOST_NUMBER)
_FIRST = _whole(0, MOST_NUMBER - MOST_EVENTS)
FIELDS: dict[str, Rule] = {
    "position": _PLACE_IN_TEXT,
    "deleted": _PLACE_IN_TEXT,
    "inserted": _text(LONGEST_TEXT),
    "source": _one_of(events.SOURCES),
    "input_type": _text(50),
    "start": _PLACE_IN_TEXT,
    "end": _PLACE_IN_TEXT,
    "class": _one_of(events.KEYS),
    "held": _whole(0, MOST_TIME),
    "place": _whole(events.ELSEWHERE, 10_000),
    "cut": _FLAG,
    "length": _whole(0, 10 * LONGEST_TEXT),
    "share": _whole(0, 100),
    "on": _FLAG,
    "rank": _whole(0, 10_000),
    "milliseconds": _whole(-MOST_TIME, MOST_TIME),  # negative because a clock may be set back
    "percent": _whole(0, 100),
    "words": _text(500),
    "hits": _whole(0, LONGEST_TEXT),
    "way": _one_of(events.CITED_BY),
    "width": _whole(0, 100_000),
    "height": _whole(0, 100_000),
    # The first hexadecimal digits of the SHA-256 of the text in UTF-8; the number of digits may vary.
    "digest": Rule(
        lambda value: isinstance(value, str) and 8 <= len(value) <= 64 and set(value) <= _HEX,
        "8 to 64 hexadecimal digits",
    ),
    "clock": _whole(0, 2**53),
    "touch": _FLAG,
}
_RULES = {each.code: (("ms", TIME), *((name, FIELDS[name]) for name in each.fields)) for each in events.EVENT_KINDS}
# The checks alone, for speed: nearly all events are valid, and only invalid ones are examined in detail.
_CHECKS = {code: tuple(rule.fits for _, rule in rules) for code, rules in _RULES.items()}


@dataclass(frozen=True, slots=True)
class Extent:
    """The effect of a batch on the text: the length that it needs at least, and by how much it grows."""

    needs: int
    grows: int
    changes: bool


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive events of a session. The events of a batch number never change."""

    number: int
    first: int
    events: list[list[Any]]
    extent: Extent


@dataclass(frozen=True, slots=True)
class Finish:
    """A request to finish the text: the number of events, and the SHA-256 of the text."""

    session: int
    events: int
    digest: str


def parse_batch(body: bytes) -> Batch:
    """Parse a batch from the editor.

    Raises
    ------
    BadInputError
        If it is malformed.
    TooLargeError
        If it has too many events.
    """
    fields = _object(body)
    event_list = fields.get("events")
    if not isinstance(event_list, list) or not event_list:
        _refuse("events", "a list of events that is not empty")
    if len(event_list) > MOST_EVENTS:
        raise TooLargeError(f"at most {MOST_EVENTS} events at once", most_events=MOST_EVENTS)
    number = _field(fields, "number", _NUMBER)
    first = _field(fields, "first", _FIRST)
    return Batch(number, first, event_list, check_events(event_list))


def parse_finish(body: bytes) -> Finish:
    """Parse a request to finish."""
    fields = _object(body)
    return Finish(
        session=_field(fields, "session", _NUMBER),
        events=_field(fields, "events", _NUMBER),
        digest=_field(fields, "digest", Rule(_is_sha256, "the SHA-256 of the text, 64 hexadecimal digits")),
    )


def parse_renewal(body: bytes) -> int | None:
    """Return the session whose token is to be renewed; None if a session is to be opened."""
    fields = _object(body)
    return _field(fields, "renew", _NUMBER) if "renew" in fields else None


def parse_device(body: bytes) -> dict[str, Any]:
    """Return the editor's description of its device, without unknown fields."""
    fields = _object(body).get("device", {})
    if not isinstance(fields, dict):
        _refuse("device", "an object")
    return {name: _field(fields, name, FIELDS[name]) for name in ("width", "height", "touch") if name in fields}


def check_events(event_list: list[Any]) -> Extent:
    """Check all events; return their total effect on the text."""
    needs = grows = 0
    changes = False
    for i, event in enumerate(event_list):
        if not isinstance(event, list) or not event or not isinstance(event[0], str) or event[0] not in _CHECKS:
            _refuse(f"events[{i}]", "a list that begins with the code of a kind: " + ", ".join(_RULES))
        checks = _CHECKS[event[0]]
        if len(event) != len(checks) + 1 or not all(map(call, checks, event[1:])):
            _refuse_event(f"events[{i}]", event)
        if event[0] == "s":
            changes = True
            needs = max(needs, event[2] + event[3] - grows)
            grows += len(event[4]) - event[3]
    return Extent(needs, grows, changes)


def _refuse_event(where: str, event: list[Any]) -> NoReturn:
    """Raise an error that says what is wrong with an event of a known kind."""
    rules = _RULES[event[0]]
    if len(event) != len(rules) + 1:
        names = ", ".join(["its kind", "milliseconds", *(name for name, _ in rules[1:])])
        _refuse(where, f"{len(rules) + 1} elements: {names}")
    name, rule = next(pair for pair, value in zip(rules, event[1:], strict=True) if not pair[1].fits(value))
    _refuse(f"{where}.{name}", rule.expected)


def _object(body: bytes) -> dict[str, Any]:
    try:
        content = json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise BadInputError(f"This is not valid JSON: {error}", where="") from error
    if not isinstance(content, dict):
        _refuse("", "an object")
    return content


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _field(fields: Mapping[str, Any], name: str, rule: Rule) -> Any:
    value = fields.get(name)
    if not rule.fits(value):
        _refuse(name, rule.expected)
    return value


def _is_sha256(value: object) -> bool:
    return isinstance(value, str) and len(value) == 64 and set(value) <= _HEX


def _refuse(where: str, expected: str) -> NoReturn:
    raise BadInputError(f"expected {expected}", where=where)


def as_markdown() -> str:
    """Return two tables for the documentation: events with their fields, and the allowed values of fields."""
    kinds = ["| event | what | in plain words |", "|---|---|---|"]
    for each in events.EVENT_KINDS:
        fields = ", ".join([f'"{each.code}"', "ms", *each.fields])
        kinds.append(f"| `[{fields}]` | {each.name} | {each.meaning} |")
    fields_ = ["| field | holds |", "|---|---|", f"| `ms` | {TIME.expected} |"]
    fields_ += [f"| `{name}` | {rule.expected} |" for name, rule in FIELDS.items()]
    return "\n".join([*kinds, "", *fields_])
