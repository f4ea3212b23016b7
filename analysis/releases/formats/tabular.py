"""Complete tabular formats: JSON Lines, Parquet, CSV for spreadsheets, and the CrowdRAG-25 layout.

Spreadsheets take cells that begin with =, +, - or @ for formulas. If they are set to semicolons or tabs as separators,
they split texts there and at line ends, even inside quotes, so a cell may begin there too. Wherever a cell may begin
and a formula would follow, an apostrophe is inserted. Texts that begin with an apostrophe get one more, so that
removing one restores the original. Other formats hold the texts unchanged.
"""

import hashlib
import json
import queue
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, islice
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from ..contents.content_table import BrokenTableError, Columns, ContentColumn, ContentTable
from .output_folder import CROWDRAG25, Folder

TYPES: dict[str, pa.DataType] = {
    "text": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "time": pa.timestamp("us", tz="UTC"),
    "json": pa.string(),
    "texts": pa.list_(pa.field("element", pa.string(), nullable=False)),
}
# The same as words.
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
    """Return a time in ISO 8601, in UTC.

    Raises
    ------
    TypeError
        If the value is not a time.
    """
    if not isinstance(value, datetime):
        raise TypeError(f"No format supports a value like {value!r}.")
    return value.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _encoder() -> Callable[[Any], str]:
    """Return a JSON encoder: no spaces, minimal escapes, and no numbers that JSON does not allow."""
    options: dict[str, Any] = {"ensure_ascii": False, "separators": (",", ":"), "allow_nan": False, "default": iso}
    plain = json.JSONEncoder(**options)
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return plain.encode
    # `JSONEncoder.encode` builds this on each call, which takes longer than encoding a small value.
    encode = make(None, plain.default, json.encoder.encode_basestring, None, ":", ",", False, False, False)
    return lambda value: "".join(encode(value, 0))


as_json = _encoder()


def as_text(value: Any) -> str | None:
    """Return JSON as text; None stays None."""
    return None if value is None else as_json(value)


def schema(table: ContentTable, about: dict[str, str]) -> pa.Schema:
    """Return a table's Arrow schema: types, and meanings of the columns in the metadata."""
    metadata = {"table": table.name, "description": table.meaning, **about}
    if table.key:
        metadata["key"] = ", ".join(table.key)
    return pa.schema([_field(column) for column in table.columns], metadata=metadata)


def _field(column: ContentColumn) -> pa.Field:
    metadata = {"description": column.meaning}
    if column.type == "json":
        metadata["format"] = "json"
    if column.refers_to:
        metadata["refers_to"] = column.refers_to
    if column.values:
        metadata["values"] = as_json(list(column.values))
    return pa.field(column.name, TYPES[column.type], nullable=column.nullable, metadata=metadata)


@dataclass(frozen=True)
class Chunk:
    """Consecutive rows, prepared once for all formats.

    Attributes
    ----------
    columns
        Values by column; JSON columns as text.
    arrow
        The same as an Arrow table.
    """

    columns: Columns
    arrow: pa.RecordBatch


def chunk(table: ContentTable, schema: pa.Schema, columns: Columns) -> Chunk:
    """Prepare consecutive rows for all formats.

    Raises
    ------
    BrokenTableError
        If a value does not have the type of its column.
    """
    ready = dict(columns)
    arrays = []
    for column in table.columns:
        ready[column.name], array = _ready(table, column, columns[column.name])
        arrays.append(array)
    return Chunk(ready, pa.RecordBatch.from_arrays(arrays, schema=schema))


def _ready(table: ContentTable, column: ContentColumn, values: Sequence[Any]) -> tuple[Sequence[Any], pa.Array]:
    try:
        if column.type == "json":
            values = [None if value is None else as_json(value) for value in values]
        array = _array(column, values)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise BrokenTableError(f"{table.name}.{column.name} should hold {WORDS[column.type]}: {error}") from error
    if array.null_count and not column.nullable:
        raise BrokenTableError(f"{table.name}.{column.name} should have a value in every row.")
    return values, array


def _array(column: ContentColumn, values: Sequence[Any]) -> pa.Array:
    if column.type != "texts":
        return pa.array(values, TYPES[column.type])
    # Arrow would accept a text as a list of letters, and None in lists.
    if wrong := [value for value in values if not isinstance(value, list | None)]:
        raise TypeError(f"{wrong[0]!r} is no list")
    array = pa.array(values, TYPES["texts"])
    if array.flatten().null_count:
        raise ValueError("a list has a place without a text")
    return array


def lines(table: ContentTable, chunk: Chunk) -> str:
    """Return rows as JSON Lines; the fields of each object have the order of the columns."""
    fields = [f"{as_json(column.name).replace('%', '%%')}:%s" for column in table.columns]
    line = "{" + ",".join(fields) + "}\n"
    values = [_as_json(column, chunk.columns[column.name]) for column in table.columns]
    return "".join([line % row for row in zip(*values, strict=True)])


def _as_json(column: ContentColumn, values: Sequence[Any]) -> Sequence[Any]:
    """Return the JSON of each value, or a value that formats identically."""
    if column.type in {"integer", "json"}:
        return ["null" if value is None else value for value in values]
    if column.type in {"text", "boolean"}:
        # Many values are equal, such as typed characters: encode each once.
        known = {value: as_json(value) for value in set(values)}
        return [known[value] for value in values]
    return [as_json(value) for value in values]


# In the syntax common to Python's re and Arrow's RE2.
_SIGNS = "[=+\\-@\uff1d\uff0b\uff0d\uff20]"
# Characters that spreadsheets skip, invisible characters, and quotation marks, which some split at wrongly.
_PASSED_OVER = (
    '[ "\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\xa0\\xad\u1680\u180e'
    "\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]*"
)
_WITHIN = f"([;\\t\\r\\n])('*{_PASSED_OVER}{_SIGNS})"
_FIRST = f"\\A('|[\\t\\r\\n]|{_PASSED_OVER}{_SIGNS})"
_within = re.compile(_WITHIN)
_first = re.compile(_FIRST)
_added = re.compile(f"([;\\t\\r\\n])'('*{_PASSED_OVER}{_SIGNS})")


def safe(text: str) -> str:
    """Return a text that is safe as a cell."""
    return _first.sub(r"'\1", _within.sub(r"\1'\2", text))


def original(cell: str) -> str:
    """Return the original text of a cell."""
    return _added.sub(r"\1\2", cell.removeprefix("'"))


def all_safe(texts: pa.Array) -> pa.Array:
    """Apply `safe` to a column of texts; null stays null."""
    # Many values are equal, such as typed characters: process each once.
    encoded = texts.dictionary_encode()
    within = pc.replace_substring_regex(encoded.dictionary, pattern=_WITHIN, replacement=r"\1'\2")
    return pc.replace_substring_regex(within, pattern=_FIRST, replacement=r"'\1").take(encoded.indices)


# Return free memory to the system: other pools keep it, and workers live long.
pa.set_memory_pool(pa.system_memory_pool())

# Write a row group when this many bytes are buffered.
ROW_GROUP = 4 * 1024 * 1024
ROW_GROUP_ROWS = 100_000
WAITING = 4
JSON_LINES = "application/jsonlines+gzip"
PARQUET = "application/vnd.apache.parquet"
CSV = "text/csv; charset=utf-8"

Piece = TypeVar("Piece")
# Takes the rows chunk by chunk. Everything except making JSON Lines runs in a separate thread.
Sink = Callable[[Chunk], None]


@contextmanager
def json_lines(folder: Folder, path: str, table: ContentTable) -> Iterator[Sink]:
    """Write a table as gzipped JSON Lines in UTF-8; the fields of each object have the order of the columns."""
    digest = hashlib.sha256()
    with folder.gzipped(path, JSON_LINES, table.meaning) as file:
        compress = file.write

        def write(piece: bytes) -> None:
            digest.update(piece)
            compress(piece)

        with background_thread(write) as put:

            def sink(chunk: Chunk) -> None:
                file.rows += chunk.arrow.num_rows
                put(lines(table, chunk).encode())

            yield sink
        file.content_sha256 = digest.hexdigest()


@contextmanager
def parquet(folder: Folder, path: str, table: ContentTable, schema: pa.Schema) -> Iterator[Sink]:
    """Write a table as Parquet, one row group at a time."""
    with folder.file(path, PARQUET, table.meaning) as file:
        waiting: list[pa.RecordBatch] = []
        with pa.parquet.ParquetWriter(pa.PythonFile(file.stream), schema, compression="zstd") as writer:

            def flush() -> None:
                if waiting:
                    writer.write_table(pa.Table.from_batches(waiting), row_group_size=ROW_GROUP_ROWS)
                    waiting.clear()

            def write(columns: pa.RecordBatch) -> None:
                file.rows += columns.num_rows
                waiting.append(columns)
                many = sum(batch.num_rows for batch in waiting) >= ROW_GROUP_ROWS
                if many or sum(batch.nbytes for batch in waiting) >= ROW_GROUP:
                    flush()

            with background_thread(write) as put:
                yield lambda chunk: put(chunk.arrow)
            flush()


@contextmanager
def spreadsheet(folder: Folder, path: str, table: ContentTable) -> Iterator[Sink]:
    """Write a table as CSV: texts quoted, missing values empty, and no cell that begins a formula (`safe`)."""
    fields = pa.schema([(column.name, _cell_type(column)) for column in table.columns])
    with (
        folder.file(path, CSV, table.meaning) as file,
        pa.csv.CSVWriter(pa.PythonFile(file.stream), fields) as writer,
    ):

        def write(chunk: Chunk) -> None:
            file.rows += chunk.arrow.num_rows
            arrays = [
                _cells(column, values, chunk) for column, values in zip(table.columns, chunk.arrow.columns, strict=True)
            ]
            writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=fields))

        with background_thread(write) as put:
            yield put


def _cell_type(column: ContentColumn) -> pa.DataType:
    return TYPES[column.type] if column.type in {"integer", "number", "boolean"} else pa.string()


def _cells(column: ContentColumn, values: pa.Array, chunk: Chunk) -> pa.Array:
    if column.type == "time":
        times = chunk.columns[column.name]
        return pa.array([None if time is None else iso(time) for time in times], pa.string())
    if column.type == "texts":
        values = pa.array([as_text(value) for value in chunk.columns[column.name]], pa.string())
    return all_safe(values) if values.type == pa.string() else values


@contextmanager
def background_thread(write: Callable[[Piece], Any]) -> Iterator[Callable[[Piece], None]]:
    """Run slow work that releases the interpreter lock in a separate thread: compressing, encoding, writing.

    The queue is short. Errors of the thread are raised here, at the latest at the end of the block.
    """
    pieces: queue.Queue[Piece | None] = queue.Queue(maxsize=WAITING)
    failed: list[Exception] = []

    def work() -> None:
        while (piece := pieces.get()) is not None:
            try:
                if not failed:
                    write(piece)
            except Exception as error:  # noqa: BLE001 -- raised again by whoever writes
                failed.append(error)

    def put(piece: Piece) -> None:
        if failed:
            raise failed[0]
        pieces.put(piece)

    thread = threading.Thread(target=work, name="release-writer", daemon=True)
    thread.start()
    try:
        yield put
    finally:
        pieces.put(None)
        thread.join()
    if failed:
        raise failed[0]


# Rows of this layout may be large: a topic includes its passages, a state a whole text.
CHUNK = 200


def write_crowdrag25(folder: Folder, table: ContentTable) -> None:
    """Write a file of the layout, unless it has no rows: readers may take an empty file for a broken one."""
    rows = table.rows()
    if (first := next(rows, None)) is None:
        return
    with (
        folder.gzipped(f"{CROWDRAG25}/{table.name}.jsonl.gz", JSON_LINES, table.meaning) as file,
        background_thread(file.write) as put,
    ):
        rest = chain([first], rows)
        while chunk := list(islice(rest, CHUNK)):
            put("".join([f"{as_json(row)}\n" for row in chunk]).encode())
            file.rows += len(chunk)
