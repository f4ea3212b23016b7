"""What a column of a release is in each format, and a chunk of rows as columns."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from ..contents.table import BrokenTableError, Column, Columns, Table

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


def _encoder() -> Callable[[Any], str]:
    """Return what makes JSON: no blanks, nothing escaped that need not be, and no number that JSON does not know."""
    options: dict[str, Any] = {"ensure_ascii": False, "separators": (",", ":"), "allow_nan": False, "default": iso}
    plain = json.JSONEncoder(**options)
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return plain.encode
    # `encode` makes this each time, which takes longer than what it does for a small value.
    made = make(None, plain.default, json.encoder.encode_basestring, None, ":", ",", False, False, False)
    return lambda value: "".join(made(value, 0))


as_json = _encoder()


def as_text(value: Any) -> str | None:
    """Return JSON as a text; no value is no text."""
    return None if value is None else as_json(value)


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


@dataclass(frozen=True)
class Chunk:
    """Consecutive rows, made ready for every format once.

    Attributes
    ----------
    columns
        the values by column; of a column of JSON, its texts.
    arrow
        the same as Arrow holds them.
    """

    columns: Columns
    arrow: pa.RecordBatch


def chunk(table: Table, schema: pa.Schema, columns: Columns) -> Chunk:
    """Return consecutive rows ready for every format.

    Raises
    ------
    BrokenTableError
        if a value is not of its column's type.
    """
    ready = dict(columns)
    arrays = []
    for column in table.columns:
        ready[column.name], array = _ready(table, column, columns[column.name])
        arrays.append(array)
    return Chunk(ready, pa.RecordBatch.from_arrays(arrays, schema=schema))


def _ready(table: Table, column: Column, values: Sequence[Any]) -> tuple[Sequence[Any], pa.Array]:
    try:
        if column.type == "json":
            values = [None if value is None else as_json(value) for value in values]
        array = _array(column, values)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise BrokenTableError(f"{table.name}.{column.name} should hold {WORDS[column.type]}: {error}") from error
    if array.null_count and not column.nullable:
        raise BrokenTableError(f"{table.name}.{column.name} should have a value in every row.")
    return values, array


def _array(column: Column, values: Sequence[Any]) -> pa.Array:
    if column.type != "texts":
        return pa.array(values, TYPES[column.type])
    # Arrow takes a text for a list of its letters, and lets lists hold nothing.
    if wrong := [value for value in values if not isinstance(value, list | None)]:
        raise TypeError(f"{wrong[0]!r} is no list")
    found = pa.array(values, TYPES["texts"])
    if found.flatten().null_count:
        raise ValueError("a list has a place without a text")
    return found


def lines(table: Table, chunk: Chunk) -> str:
    """Return rows as JSON lines, each an object with its fields in the order of the columns."""
    fields = [f"{as_json(column.name).replace('%', '%%')}:%s" for column in table.columns]
    line = "{" + ",".join(fields) + "}\n"
    values = [_as_json(column, chunk.columns[column.name]) for column in table.columns]
    return "".join([line % row for row in zip(*values, strict=True)])


def _as_json(column: Column, values: Sequence[Any]) -> Sequence[Any]:
    """Return what stands in the lines for each value: its JSON, or what Python writes like it."""
    if column.type in {"integer", "json"}:
        return ["null" if value is None else value for value in values]
    if column.type in {"text", "boolean"}:
        # Many are equal, as in what was typed: each is encoded once.
        known = {value: as_json(value) for value in set(values)}
        return [known[value] for value in values]
    return [as_json(value) for value in values]
