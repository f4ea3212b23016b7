"""What a column of a release is in each format, and a chunk of rows as columns."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import Any

import pyarrow as pa

from ..contents.table import Column, Row, Table

# So many rows are in memory at a time, in every format.
CHUNK = 2000

TYPES: dict[str, pa.DataType] = {
    "text": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "time": pa.timestamp("us", tz="UTC"),
    "json": pa.string(),
    "texts": pa.list_(pa.field("element", pa.string(), nullable=False)),
}
# The same in words.
WORDS = {
    "text": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "time": "time in UTC (ISO 8601)",
    "json": "JSON",
    "texts": "list of texts",
}


class BrokenTableError(ValueError):
    """A table's rows are not what its columns say."""


def iso(value: Any) -> str:
    """Return a time as texts say it: ISO 8601 in UTC.

    Raises
    ------
    TypeError
        if it is no time.
    """
    if not isinstance(value, datetime):
        raise TypeError(f"No format holds a value like {value!r}.")
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z")


# One line of JSON: no blanks, nothing escaped that need not be, and no number that JSON does not know.
as_json: Callable[[Any], str] = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=iso
).encode


def as_text(value: Any) -> str | None:
    """Return JSON as a text; no value is no text."""
    return None if value is None else as_json(value)


def chunks(rows: Iterable[Row], size: int = CHUNK) -> Iterator[list[Row]]:
    """Yield rows a list at a time."""
    rest = iter(rows)
    while chunk := list(islice(rest, size)):
        yield chunk


def schema(table: Table, about: dict[str, str]) -> pa.Schema:
    """Return a table's Arrow schema: types, and what the columns mean, in the metadata."""
    said = {"table": table.name, "description": table.meaning, **about}
    if table.key:
        said["key"] = ", ".join(table.key)
    return pa.schema([_field(column) for column in table.columns], metadata=said)


def _field(column: Column) -> pa.Field:
    said = {"description": column.meaning}
    if column.type == "json":
        said["format"] = "json"
    if column.refers_to:
        said["refers_to"] = column.refers_to
    if column.values:
        said["values"] = as_json(list(column.values))
    return pa.field(column.name, TYPES[column.type], nullable=column.nullable, metadata=said)


def batch(table: Table, schema: pa.Schema, rows: Sequence[Row]) -> pa.RecordBatch:
    """Return rows as columns.

    Raises
    ------
    BrokenTableError
        if a row has other columns than the table, or a value is not of its column's type.
    """
    names = [column.name for column in table.columns]
    for row in rows:
        if list(row) != names and sorted(row) != sorted(names):
            raise BrokenTableError(f"A row of {table.name} has the columns {sorted(row)}, not {sorted(names)}.")
    return pa.RecordBatch.from_arrays([_array(table, column, rows) for column in table.columns], schema=schema)


def _array(table: Table, column: Column, rows: Sequence[Row]) -> pa.Array:
    try:
        found = _converted(column, [row[column.name] for row in rows])
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise BrokenTableError(f"{table.name}.{column.name} should hold {WORDS[column.type]}: {error}") from error
    if found.null_count and not column.nullable:
        raise BrokenTableError(f"{table.name}.{column.name} should have a value in every row.")
    return found


def _converted(column: Column, values: list[Any]) -> pa.Array:
    if column.type == "json":
        return pa.array([as_text(value) for value in values], pa.string())
    if column.type != "texts":
        return pa.array(values, TYPES[column.type])
    # Arrow takes a text for a list of its letters, and lets lists hold nothing.
    if wrong := [value for value in values if not isinstance(value, list | None)]:
        raise TypeError(f"{wrong[0]!r} is no list")
    found = pa.array(values, TYPES["texts"])
    if found.flatten().null_count:
        raise ValueError("a list has a place without a text")
    return found
