"""Columns of archive tables: how values are written, checked, read back and converted.

Each conversion function takes the study and the places of its rows, and returns the converter of one column.
"""

import base64
import binascii
from array import array
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import numpy as np
import zstandard
from django.db import models

from crowdrag.studies.models import Participant, Study
from crowdrag.studies.participants.identity import identity_hash
from writing.corpus.imports import fields
from writing.corpus.imports.fields import Field, Mismatch

from ..inputs import arrays, snapshots

MAX_LENGTH = 2**31


class DanglingError(Exception):
    """A row refers to a row of another study."""

    def __init__(self, table: str, pk: int):
        super().__init__(
            f"A row refers to row {pk} of {table}, which does not belong to this study. "
            "The database is inconsistent: find and correct the row, then export again."
        )


class Places:
    """Line numbers of the rows of each table by primary key; eight bytes per row."""

    def __init__(self) -> None:
        self._keys: dict[str, array[int]] = {}

    def begin(self, table: str) -> None:
        """Start a table."""
        self._keys[table] = array("q")

    def add(self, table: str, pk: int) -> None:
        """Record the primary key of the next row."""
        self._keys[table].append(pk)

    def settle(self, table: str, pks: Sequence[int]) -> None:
        """Set the keys of the last recorded rows, in order."""
        keys = self._keys[table]
        keys[len(keys) - len(pks) :] = array("q", pks)

    def count(self, table: str) -> int:
        """Return the number of recorded rows."""
        return len(self._keys[table])

    def number(self, table: str, pk: int) -> int:
        """Return the line of a row, from 1. Rows must have been recorded in ascending order of keys."""
        line = self.find(table, pk)
        if line is None:
            raise DanglingError(table, pk)
        return line

    def find(self, table: str, pk: int) -> int | None:
        """Return the line of a row, from 1, or None if it does not exist (any more)."""
        keys = self._keys[table]
        index = bisect_left(keys, pk)
        return index + 1 if index < len(keys) and keys[index] == pk else None

    def key(self, table: str, number: int) -> int:
        """Return the primary key of the row on a line."""
        return int(self._keys[table][number - 1])


@dataclass(frozen=True)
class Moment(Field):
    """A time with time zone, to the microsecond."""

    expected = "a time such as 2026-01-31T12:00:00Z"

    def clean(self, value: Any) -> datetime:
        """Return the time in UTC."""
        if not isinstance(value, str):
            raise self.refuse(value)
        try:
            time = datetime.fromisoformat(value)
            if time.tzinfo is None:
                raise self.refuse(value)
            return time.astimezone(UTC)
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
    """A UUID in standard notation."""

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
    """Any JSON that the database can store: no NUL, lone surrogates or infinite numbers."""

    expected = "JSON"

    def clean(self, value: Any) -> Any:
        """Return the value unchanged."""
        text = fields.Text(blank=True, longest=MAX_LENGTH)
        number = fields.Number()
        rest = [value]
        while rest:
            part = rest.pop()
            if isinstance(part, str):
                text.clean(part)
            elif isinstance(part, dict):
                rest.extend(part)
                rest.extend(part.values())
            elif isinstance(part, list):
                rest.extend(part)
            elif isinstance(part, float):
                number.clean(part)
        return value


@dataclass(frozen=True)
class Reference(Field):
    """A line number in another table."""

    table: str
    places: Places | None = None

    @property
    def expected(self) -> str:  # type: ignore[override]
        """The expected value, for error messages."""
        return f"the id of a row of {self.table}"

    def clean(self, value: Any) -> int:
        """Return the line number if the line exists."""
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.refuse(value)
        assert self.places is not None
        if not 1 <= value <= self.places.count(self.table):
            raise Mismatch(self.expected, f"there is no row {value}; {self.table} has {self.places.count(self.table)}")
        return value


@dataclass(frozen=True)
class ArchiveColumn:
    """A column: its name in the file, field of the row, type in words, and the table it refers to."""

    name: str
    source: str
    type: str
    nullable: bool
    check: Field
    references: str = ""

    def checker(self, places: Places) -> Field:
        """Return the field that checks a value, given the rows read so far."""
        check = Reference(self.references, places) if self.references else self.check
        return fields.Optional(check) if self.nullable else check

    def dumper(self, places: Places) -> Callable[[Any], Any]:
        """Return the converter from database values to JSON."""
        dump = DUMPS.get(self.type)
        if self.references:
            number, table = places.number, self.references
            return lambda value: None if value is None else number(table, value)
        if dump is None:
            return lambda value: value
        return lambda value: None if value is None else dump(value)

    def loader(self, places: Places) -> Callable[[Any], Any]:
        """Return the converter from checked values to database values."""
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
    """A model has a field of a type that archives do not support yet."""


def of_field(field: "models.Field[Any, Any]", table_of: Mapping[type[models.Model], str]) -> ArchiveColumn:
    """Return the column of a model's field.

    Raises
    ------
    UnknownFieldTypeError
        If the type of the field is not supported.
    """
    if isinstance(field, models.ForeignKey):
        table = table_of[field.related_model]
        return ArchiveColumn(field.name, field.attname, "reference", field.null, Reference(table), table)
    word, check = _type(field)
    return ArchiveColumn(field.name, field.attname, word, field.null, check)


def _type(field: "models.Field[Any, Any]") -> tuple[str, Field]:
    if field.choices and isinstance(field, models.CharField):
        values = [value for value, _label in field.flatchoices]
        return "text", fields.OneOf([*values, ""] if field.blank else values)
    for kind, (least, most) in INTEGERS.items():
        if field.get_internal_type() == kind.__name__:
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
    raise UnknownFieldTypeError(f"{field}: add its type to analysis/archive/columns.py, with a test.")


Converter = Callable[[Any], Any]
# Replaces the line of a deleted judgment.
GONE = 0
MAX_SNAPSHOT = 2 * 1024**3
CURRENT, COUNTS = "is_current", ("judgments", "responses")


def dump_facts(study: Study, _places: Places) -> Converter:
    """Remove platform IDs of the study's people from facts reported by platforms."""
    people = Participant.objects.filter(study=study, identity_hash__isnull=False)
    identities = frozenset(bytes(identity) for identity in people.values_list("identity_hash", flat=True) if identity)

    def is_id(value: Any) -> bool:
        return isinstance(value, str | int) and identity_hash(str(value)) in identities

    def without_ids(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without_ids(item) for key, item in value.items() if not is_id(key) and not is_id(item)}
        if isinstance(value, list):
            return [without_ids(item) for item in value if not is_id(item)]
        return value

    return without_ids if identities else lambda facts: facts


def dump_payload(_study: Study, places: Places) -> Converter:
    """Replace the keys of a snapshot's judgments by line numbers."""

    def line(key: int) -> int:
        return places.find("judgments", key) or GONE

    return lambda payload: base64.b64encode(_with_rows(arrays.unpack(bytes(payload)), line).pack()).decode("ascii")


def load_payload(_study: Study, places: Places) -> Converter:
    """Replace the line numbers of a snapshot's judgments by their new keys."""

    def key(line: int) -> int:
        return places.key("judgments", line) if line != GONE else GONE

    return lambda payload: _with_rows(arrays.unpack(payload), key).pack()


def _with_rows(taken: arrays.Inputs, convert: Callable[[int], int]) -> arrays.Inputs:
    pools = {}
    for name, pool in taken.pools.items():
        rows = np.fromiter(map(convert, pool.row.tolist()), dtype=np.int64, count=len(pool.row))
        pools[name] = replace(pool, row=rows)
    return replace(taken, pools=pools)


def dump_mark(study: Study, _places: Places) -> Converter:
    """Return whether the valid judgments are still those of the snapshot, and their counts."""
    now = snapshots.inputs_fingerprint(study)
    return lambda mark: {CURRENT: mark == now} | {name: mark.get(name, 0) for name in COUNTS}


def load_mark(study: Study, _places: Places) -> Converter:
    """Mark a snapshot that was current as current here, and any other as never current."""
    now = snapshots.inputs_fingerprint(study)
    never = dict.fromkeys(now, -1)
    return lambda mark: now if mark[CURRENT] else never | {name: mark[name] for name in COUNTS}


def check_snapshot(row: dict[str, Any], judgments: int) -> None:
    """Check that a snapshot is readable, matches its digest, and refers to existing judgments.

    Raises
    ------
    Mismatch
        If not; the error says where.
    """
    mark = row["mark"]
    if not isinstance(mark, dict) or not isinstance(mark.get(CURRENT), bool):
        raise Mismatch(f"an object with {CURRENT}", "is not one", "mark")
    if any(not isinstance(mark.get(name), int) for name in COUNTS):
        raise Mismatch("the numbers of judgments and responses", "are missing", "mark")
    expected = "a compressed snapshot"
    try:
        size = zstandard.get_frame_parameters(row["payload"]).content_size
        taken = arrays.unpack(row["payload"]) if 0 <= size <= MAX_SNAPSHOT else None
        digest = taken.digest if taken else ""
        lines = [pool.row for pool in taken.pools.values()] if taken else []
    except Exception as error:  # any error of numpy, zstandard or json on invalid bytes
        raise Mismatch(expected, f"cannot be unpacked: {error}", "payload") from error
    if taken is None:
        raise Mismatch(f"{expected} of at most {MAX_SNAPSHOT} bytes", "is larger, or has no size", "payload")
    if digest != row["digest"]:
        raise Mismatch(f"{expected} with the digest {row['digest']}", f"its digest is {digest}", "payload")
    if any(((references < 0) | (references > judgments)).any() for references in lines):
        raise Mismatch(expected, f"refers to judgments beyond the {judgments} in the archive", "payload")
