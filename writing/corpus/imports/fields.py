"""Field checkers for input records. Each says what it expected."""

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from ...enums import LONGEST_TEXT
from .problems import quote_value

# A name or id may be long, but a page has to show it and an index has to hold it.
MAX_ID = 200
MAX_STYLE = 100
MAX_INTEGER = 2**31 - 1
# The last millisecond that a datetime can hold: the end of the year 9999.
MAX_MILLISECONDS = 253_402_300_799_999


class Mismatch(ValueError):  # noqa: N818 -- it says what was found
    """A value is not what it should be; `path` says where inside the field."""

    def __init__(self, expected: str, message: str, path: str = ""):
        super().__init__(message)
        self.expected, self.message, self.path = expected, message, path


class Field(ABC):
    """Checks one value and returns it cleaned."""

    expected: str = ""
    required = True

    @abstractmethod
    def clean(self, value: Any) -> Any:
        """Return the value, or raise `Mismatch`."""

    def refuse(self, value: Any) -> Mismatch:
        """Return the mismatch that quotes the value."""
        return Mismatch(self.expected, f"got {quote_value(value)}")


@dataclass(frozen=True)
class Text(Field):
    """A text that the database can hold: no NUL, no lone surrogate."""

    blank: bool = False
    longest: int = LONGEST_TEXT

    @property
    def expected(self) -> str:  # type: ignore[override]
        """What a reader is told."""
        kind = "text" if self.blank else "a text that is not empty"
        return kind if self.longest == LONGEST_TEXT else f"{kind}, at most {self.longest} characters"

    def clean(self, value: Any) -> str:
        """Return the text as it is."""
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
    """An id; a whole number counts as the text that it is written as."""

    longest: int = MAX_ID

    @property
    def expected(self) -> str:  # type: ignore[override]
        """What a reader is told."""
        return f"an id, at most {self.longest} characters"

    def clean(self, value: Any) -> str:
        """Return the id as text."""
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**18:
            return str(value)
        if not isinstance(value, str) or not value or value != value.strip():
            raise self.refuse(value)
        return Text(longest=self.longest).clean(value)


@dataclass(frozen=True)
class AddressedIdentifier(Identifier):
    """An id that stands in the addresses of pages. Browsers rewrite some paths, so that their page is never found."""

    def clean(self, value: Any) -> str:
        """Return the id as text."""
        identifier = super().clean(value)
        segments = identifier.split("/")
        if {".", ".."}.intersection(segments) or (len(segments) > 1 and not (segments[0] and segments[-1])):
            expected = "an id that does not begin or end with “/” and has no part “.” or “..” between slashes"
            raise Mismatch(expected, f"browsers change {quote_value(identifier)} in addresses; rename it in all files")
        return identifier


@dataclass(frozen=True)
class Whole(Field):
    """A whole number; 3.0 counts as one, as some programs write every number so."""

    least: int = -MAX_INTEGER
    most: int = MAX_INTEGER

    @property
    def expected(self) -> str:  # type: ignore[override]
        """What a reader is told."""
        return f"a whole number from {self.least} to {self.most}"

    def clean(self, value: Any) -> int:
        """Return the number as an integer."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.refuse(value)
        if isinstance(value, float) and not value.is_integer():  # also false for NaN and infinity
            raise self.refuse(value)
        if not self.least <= value <= self.most:
            raise self.refuse(value)
        return int(value)


def milliseconds() -> Whole:
    """Return the field of a time in milliseconds since 1970."""
    return Whole(0, MAX_MILLISECONDS)


@dataclass(frozen=True)
class Number(Field):
    """A finite number."""

    least: float = -math.inf
    most: float = math.inf

    @property
    def expected(self) -> str:  # type: ignore[override]
        """What a reader is told."""
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
    """One of a few values; with a mapping, what it stands for."""

    values: Collection[Any]

    @property
    def expected(self) -> str:  # type: ignore[override]
        """What a reader is told."""
        return "one of " + ", ".join(map(str, self.values))

    def clean(self, value: Any) -> Any:
        """Return the value, or what it stands for."""
        if isinstance(value, bool) or not isinstance(value, str | int | float) or value not in self.values:
            raise self.refuse(value)
        return self.values[value] if isinstance(self.values, Mapping) else value


@dataclass(frozen=True)
class ListOf(Field):
    """A list of things of one kind."""

    of: Field
    least: int = 0
    most: int = 100_000

    @property
    def expected(self) -> str:  # type: ignore[override]
        """What a reader is told."""
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
    """An object with known fields; whatever else it holds is left alone."""

    fields: Mapping[str, Field]
    expected = "an object"

    def clean(self, value: Any) -> dict[str, Any]:
        """Return the known fields cleaned; a field that is absent and may be is None."""
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
    """Return one field of an object cleaned; None where it is absent and may be."""
    if name in value:
        return field.clean(value[name])
    if field.required:
        raise Mismatch(field.expected, "is missing")
    return None


@dataclass(frozen=True)
class Optional(Field):
    """A field that may be absent, null or NaN: None then."""

    of: Field
    required = False

    @property
    def expected(self) -> str:  # type: ignore[override]
        """What a reader is told."""
        return f"{self.of.expected}, or nothing"

    def clean(self, value: Any) -> Any:
        """Return the value cleaned, or None."""
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return None
        return self.of.clean(value)


@dataclass(frozen=True)
class Either(Field):
    """A value that may take one of several shapes; the first that fits."""

    shapes: tuple[Field, ...]

    @property
    def expected(self) -> str:  # type: ignore[override]
        """What a reader is told."""
        return " or ".join(shape.expected for shape in self.shapes)

    def clean(self, value: Any) -> Any:
        """Return the value as the first fitting shape cleans it."""
        for shape in self.shapes:
            try:
                return shape.clean(value)
            except Mismatch:
                continue
        raise self.refuse(value)
