"""A column of an archive's table: how a value is written, what it must be when it is read, and how it is read back."""

import base64
import binascii
from array import array
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import models

from writing.corpus.imports import fields
from writing.corpus.imports.fields import Field, Mismatch

MAX_LENGTH = 2**31


class DanglingError(Exception):
    """A row refers to a row of another study."""

    def __init__(self, table: str, pk: int):
        super().__init__(
            f"A row refers to row {pk} of {table}, which is no part of this study. "
            "The database is inconsistent: find the row and correct it, then export again."
        )


class Places:
    """Where the rows of each table stand: primary keys by line number, eight bytes a row."""

    def __init__(self) -> None:
        self._keys: dict[str, array[int]] = {}

    def begin(self, table: str) -> None:
        """Start a table."""
        self._keys[table] = array("q")

    def add(self, table: str, pk: int) -> None:
        """Note the primary key of the next row."""
        self._keys[table].append(pk)

    def settle(self, table: str, pks: Sequence[int]) -> None:
        """Give the last rows that were noted their keys, in their order."""
        keys = self._keys[table]
        keys[len(keys) - len(pks) :] = array("q", pks)

    def count(self, table: str) -> int:
        """Return how many rows were noted."""
        return len(self._keys[table])

    def number(self, table: str, pk: int) -> int:
        """Return the line of a row, from 1. The rows were noted in ascending order of their keys."""
        place = self.find(table, pk)
        if place is None:
            raise DanglingError(table, pk)
        return place

    def find(self, table: str, pk: int) -> int | None:
        """Return the line of a row, from 1, or None where it is not there (any more)."""
        keys = self._keys[table]
        place = bisect_left(keys, pk)
        return place + 1 if place < len(keys) and keys[place] == pk else None

    def key(self, table: str, number: int) -> int:
        """Return the primary key of the row of a line."""
        return int(self._keys[table][number - 1])


@dataclass(frozen=True)
class Moment(Field):
    """A time with its zone, to the microsecond."""

    expected = "a time such as 2026-01-31T12:00:00Z"

    def clean(self, value: Any) -> datetime:
        """Return the time in UTC."""
        if not isinstance(value, str):
            raise self.refuse(value)
        try:
            found = datetime.fromisoformat(value)
            if found.tzinfo is None:
                raise self.refuse(value)
            return found.astimezone(UTC)
        except (ValueError, OverflowError):
            raise self.refuse(value) from None


@dataclass(frozen=True)
class Blob(Field):
    """Bytes in Base64."""

    expected = "bytes in Base64"

    def clean(self, value: Any) -> bytes:
        """Return the bytes."""
        if not isinstance(value, str):
            raise self.refuse(value)
        try:
            return base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError):
            raise self.refuse(value) from None


@dataclass(frozen=True)
class Name(Field):
    """A UUID, written as usual."""

    expected = "a UUID such as 6f1c1e0a-9d0e-4b57-8f0a-1f2e3d4c5b6a"

    def clean(self, value: Any) -> UUID:
        """Return the UUID."""
        if not isinstance(value, str):
            raise self.refuse(value)
        try:
            return UUID(value)
        except ValueError:
            raise self.refuse(value) from None


@dataclass(frozen=True)
class Json(Field):
    """Any JSON that the database can hold: no NUL, no lone surrogate, no number beyond all bounds."""

    expected = "JSON"

    def clean(self, value: Any) -> Any:
        """Return the value as it is."""
        text = fields.Text(blank=True, longest=MAX_LENGTH)
        number = fields.Number()
        rest = [value]
        while rest:
            found = rest.pop()
            if isinstance(found, str):
                text.clean(found)
            elif isinstance(found, dict):
                rest.extend(found)
                rest.extend(found.values())
            elif isinstance(found, list):
                rest.extend(found)
            elif isinstance(found, float):
                number.clean(found)
        return value


@dataclass(frozen=True)
class Reference(Field):
    """The line of a row in another table."""

    table: str
    places: Places | None = None

    @property
    def expected(self) -> str:  # type: ignore[override]
        """What a reader is told."""
        return f"the id of a row of {self.table}"

    def clean(self, value: Any) -> int:
        """Return the line, if there is such a line."""
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.refuse(value)
        assert self.places is not None
        if not 1 <= value <= self.places.count(self.table):
            raise Mismatch(self.expected, f"there is no row {value}; {self.table} has {self.places.count(self.table)}")
        return value


@dataclass(frozen=True)
class Column:
    """One column: its name in the file, where its value stands in the row, its type in words, and what it refers to."""

    name: str
    source: str
    type: str
    nullable: bool
    check: Field
    references: str = ""

    def checker(self, places: Places) -> Field:
        """Return what a value must be, given the rows that were read so far."""
        check = Reference(self.references, places) if self.references else self.check
        return fields.Optional(check) if self.nullable else check

    def dumper(self, places: Places) -> Callable[[Any], Any]:
        """Return what turns a value of the database into one of JSON."""
        dump = DUMPS.get(self.type)
        if self.references:
            number, table = places.number, self.references
            return lambda value: None if value is None else number(table, value)
        if dump is None:
            return lambda value: value
        return lambda value: None if value is None else dump(value)

    def loader(self, places: Places) -> Callable[[Any], Any]:
        """Return what turns a checked value into one of the database."""
        if self.references:
            key, table = places.key, self.references
            return lambda value: None if value is None else key(table, value)
        return lambda value: value


def _dump_time(value: datetime) -> str:
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _dump_bytes(value: Any) -> str:
    return base64.b64encode(bytes(value)).decode("ascii")


DUMPS: Mapping[str, Callable[[Any], Any]] = {"time": _dump_time, "bytes": _dump_bytes, "uuid": str}
INTEGERS = {
    models.PositiveSmallIntegerField: (0, 2**15 - 1),
    models.SmallIntegerField: (-(2**15), 2**15 - 1),
    models.PositiveIntegerField: (0, 2**31 - 1),
    models.BigIntegerField: (-(2**63), 2**63 - 1),
}


class UnknownFieldTypeError(TypeError):
    """A model has a field of a type that archives do not know yet."""


def of_field(field: "models.Field[Any, Any]", table_of: Mapping[type[models.Model], str]) -> Column:
    """Return the column of a model's field.

    Raises
    ------
    UnknownFieldTypeError
        if no way is known to write its values.
    """
    if isinstance(field, models.ForeignKey):
        table = table_of[field.related_model]
        return Column(field.name, field.attname, "reference", field.null, Reference(table), table)
    word, check = _type(field)
    return Column(field.name, field.attname, word, field.null, check)


def _type(field: "models.Field[Any, Any]") -> tuple[str, Field]:
    if field.choices and isinstance(field, models.CharField):
        values = [value for value, _label in field.flatchoices]
        return "text", fields.OneOf([*values, ""] if field.blank else values)
    for kind, (least, most) in INTEGERS.items():
        if type(field) is kind:
            return "integer", fields.Whole(least, most)
    simple: list[tuple[type[models.Field[Any, Any]], str, Field]] = [
        (models.BooleanField, "boolean", fields.Flag()),
        (models.CharField, "text", fields.Text(blank=True, longest=field.max_length or MAX_LENGTH)),
        (models.TextField, "text", fields.Text(blank=True, longest=MAX_LENGTH)),
        (models.FloatField, "number", fields.Number()),
        (models.DateTimeField, "time", Moment()),
        (models.JSONField, "json", Json()),
        (models.UUIDField, "uuid", Name()),
        (models.BinaryField, "bytes", Blob()),
    ]
    for sort, word, check in simple:
        if isinstance(field, sort):
            return word, check
    raise UnknownFieldTypeError(f"{field}: add its type to analysis/domain/corpus/columns.py, with a test.")
