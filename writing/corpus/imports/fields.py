"""Validators for the fields of input records; each describes what it expects."""

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from ...enums import LONGEST_TEXT
from .problems import quote_value

# Names and IDs must fit on a page and into a database index.
MAX_ID = 200
MAX_STYLE = 100
MAX_INTEGER = 2**31 - 1
# The largest datetime in milliseconds: the end of the year 9999.
MAX_MILLISECONDS = 253_402_300_799_999


class Mismatch(ValueError):  # noqa: N818 -- describes the value
    """A value is invalid; `path` is its position in the field."""

    def __init__(self, expected: str, message: str, path: str = ""):
        super().__init__(message)
        self.expected, self.message, self.path = expected, message, path


class Field(ABC):
    """A validator that checks one value and returns it cleaned."""

    expected: str = ""
    required = True

    @abstractmethod
    def clean(self, value: Any) -> Any:
        """Return the value, or raise `Mismatch`."""

    def refuse(self, value: Any) -> Mismatch:
        """Return a mismatch that quotes the value."""
        return Mismatch(self.expected, f"got {quote_value(value)}")


@dataclass(frozen=True)
class Text(Field):
    """A text that the database can store: no NUL, no lone surrogate."""

    blank: bool = False
    longest: int = LONGEST_TEXT

    @property
    def expected(self) -> str:  # type: ignore[override]
        """The expected value, for messages."""
        kind = "text" if self.blank else "a text that is not empty"
        return kind if self.longest == LONGEST_TEXT else f"{kind}, at most {self.longest} characters"

    def clean(self, value: Any) -> str:
        """Return the text unchanged."""
        if not isinstance(value, str):
            raise self.refuse(value)
        if "\x00" in value:
            raise Mismatch("text without NUL characters", f"holds NUL (\\u0000): {quote_value(value)}")
        if not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError as error:
                message = f"holds half of a surrogate pair at character {error.start}: {quote_value(value)}"
                raise Mismatch("valid Unicode text", message) from None
        if not self.blank and not value.strip():
            raise Mismatch(self.expected, "is empty")
        if len(value) > self.longest:
            raise Mismatch(self.expected, f"has {len(value)} characters")
        return value


@dataclass(frozen=True)
class Identifier(Field):
    """An ID; a whole number is converted to text."""

    longest: int = MAX_ID

    @property
    def expected(self) -> str:  # type: ignore[override]
        """The expected value, for messages."""
        return f"an id, at most {self.longest} characters"

    def clean(self, value: Any) -> str:
        """Return the ID as text."""
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**18:
            return str(value)
        if not isinstance(value, str) or not value or value != value.strip():
            raise self.refuse(value)
        return Text(longest=self.longest).clean(value)


@dataclass(frozen=True)
class AddressedIdentifier(Identifier):
    """An ID for URLs. Rejects IDs whose URLs browsers would rewrite, so that the page would never be found."""

    def clean(self, value: Any) -> str:
        """Return the ID as text."""
        identifier = super().clean(value)
        segments = identifier.split("/")
        if {".", ".."}.intersection(segments) or (len(segments) > 1 and not (segments[0] and segments[-1])):
            expected = "an id that does not begin or end with “/” and has no part “.” or “..” between slashes"
            raise Mismatch(expected, f"browsers change {quote_value(identifier)} in addresses; rename it in all files")
        return identifier


@dataclass(frozen=True)
class Whole(Field):
    """A whole number. 3.0 is accepted because some programs write all numbers like this."""

    least: int = -MAX_INTEGER
    most: int = MAX_INTEGER

    @property
    def expected(self) -> str:  # type: ignore[override]
        """The expected value, for messages."""
        return f"a whole number from {self.least} to {self.most}"

    def clean(self, value: Any) -> int:
        """Return the number as an integer."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.refuse(value)
        if isinstance(value, float) and not value.is_integer():  # NaN and infinity are not integers either
            raise self.refuse(value)
        if not self.least <= value <= self.most:
            raise self.refuse(value)
        return int(value)


def milliseconds() -> Whole:
    """Return a validator of times in milliseconds since 1970."""
    return Whole(0, MAX_MILLISECONDS)


@dataclass(frozen=True)
class Number(Field):
    """A finite number."""

    least: float = -math.inf
    most: float = math.inf

    @property
    def expected(self) -> str:  # type: ignore[override]
        """The expected value, for messages."""
        return "a number" if math.isinf(self.least) else f"a number, {self.least:g} or more"

    def clean(self, value: Any) -> float:
        """Return the number as a float."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.refuse(value)
        try:
            number = float(value)
        except OverflowError:
            raise self.refuse(value) from None
        if not math.isfinite(number) or not self.least <= number <= self.most:
            raise self.refuse(value)
        return number


@dataclass(frozen=True)
class Flag(Field):
    """True or false."""

    expected = "true or false"

    def clean(self, value: Any) -> bool:
        """Return the flag."""
        if not isinstance(value, bool):
            raise self.refuse(value)
        return value


@dataclass(frozen=True)
class OneOf(Field):
    """One of a few values; a mapping translates it."""

    values: Collection[Any]

    @property
    def expected(self) -> str:  # type: ignore[override]
        """The expected value, for messages."""
        return "one of " + ", ".join(map(str, self.values))

    def clean(self, value: Any) -> Any:
        """Return the value, or its translation if `values` is a mapping."""
        if isinstance(value, bool) or not isinstance(value, str | int | float) or value not in self.values:
            raise self.refuse(value)
        return self.values[value] if isinstance(self.values, Mapping) else value


@dataclass(frozen=True)
class ListOf(Field):
    """A list whose entries have the same type."""

    of: Field
    least: int = 0
    most: int = 100_000

    @property
    def expected(self) -> str:  # type: ignore[override]
        """The expected value, for messages."""
        return f"a list with {self.least} or more entries" if self.least else "a list"

    def clean(self, value: Any) -> list[Any]:
        """Return the list with each entry cleaned."""
        if not isinstance(value, list):
            raise self.refuse(value)
        if len(value) < self.least:
            raise Mismatch(self.expected, f"has {len(value)}")
        if len(value) > self.most:
            raise Mismatch(f"at most {self.most} entries", f"has {len(value)}")
        cleaned = []
        for index, entry in enumerate(value):
            try:
                cleaned.append(self.of.clean(entry))
            except Mismatch as mismatch:
                raise Mismatch(mismatch.expected, mismatch.message, f"[{index}]{mismatch.path}") from None
        return cleaned


@dataclass(frozen=True)
class Object(Field):
    """An object with known fields; other fields are ignored."""

    fields: Mapping[str, Field]
    expected = "an object"

    def clean(self, value: Any) -> dict[str, Any]:
        """Return the known fields cleaned; absent optional fields are None."""
        if not isinstance(value, dict):
            raise self.refuse(value)
        cleaned = {}
        for name, field in self.fields.items():
            try:
                cleaned[name] = member(value, name, field)
            except Mismatch as mismatch:
                raise Mismatch(mismatch.expected, mismatch.message, f".{name}{mismatch.path}") from None
        return cleaned


def member(value: dict[str, Any], name: str, field: Field) -> Any:
    """Return one field of an object cleaned; None if it is optional and absent."""
    if name in value:
        return field.clean(value[name])
    if field.required:
        raise Mismatch(field.expected, "is missing")
    return None


@dataclass(frozen=True)
class Optional(Field):
    """A field that may be absent, null or NaN, which all become None."""

    of: Field
    required = False

    @property
    def expected(self) -> str:  # type: ignore[override]
        """The expected value, for messages."""
        return f"{self.of.expected}, or nothing"

    def clean(self, value: Any) -> Any:
        """Return the value cleaned, or None."""
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return None
        return self.of.clean(value)


@dataclass(frozen=True)
class Either(Field):
    """A value that has one of several types; the first that fits is used."""

    shapes: tuple[Field, ...]

    @property
    def expected(self) -> str:  # type: ignore[override]
        """The expected value, for messages."""
        return " or ".join(shape.expected for shape in self.shapes)

    def clean(self, value: Any) -> Any:
        """Return the value cleaned by the first type that fits."""
        for shape in self.shapes:
            try:
                return shape.clean(value)
            except Mismatch:
                continue
        raise self.refuse(value)
