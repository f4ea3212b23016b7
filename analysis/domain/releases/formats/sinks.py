"""The formats that hold every table as it is: JSON lines, Parquet, and cells for spreadsheets. Each takes chunks in."""

import hashlib
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from ..contents.table import Column, Table
from . import cells
from .columns import TYPES, Chunk, as_text, iso, lines
from .folder import Folder

# What is free goes back to the system: others keep it for later, and workers live long.
pa.set_memory_pool(pa.system_memory_pool())

# A row group is written when so many bytes of columns wait.
ROW_GROUP = 4 * 1024 * 1024
ROW_GROUP_ROWS = 100_000
WAITING = 4
JSON_LINES = "application/jsonlines+gzip"
PARQUET = "application/vnd.apache.parquet"
CSV = "text/csv; charset=utf-8"

Piece = TypeVar("Piece")
# Takes the rows a chunk at a time. All but making JSON lines is done by a thread of its own.
Sink = Callable[[Chunk], None]


@contextmanager
def json_lines(folder: Folder, path: str, table: Table) -> Iterator[Sink]:
    """Write a table as gzipped JSON lines, UTF-8, an object a line, its fields in the order of the columns."""
    digest = hashlib.sha256()
    with folder.gzipped(path, JSON_LINES, table.meaning) as file:
        compress = file.write

        def write(piece: bytes) -> None:
            digest.update(piece)
            compress(piece)

        with elsewhere(write) as put:

            def sink(chunk: Chunk) -> None:
                file.rows += chunk.arrow.num_rows
                put(lines(table, chunk).encode())

            yield sink
        file.content_sha256 = digest.hexdigest()


@contextmanager
def parquet(folder: Folder, path: str, table: Table, schema: pa.Schema) -> Iterator[Sink]:
    """Write a table as Parquet, a group of rows at a time."""
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
                many = sum(each.num_rows for each in waiting) >= ROW_GROUP_ROWS
                if many or sum(each.nbytes for each in waiting) >= ROW_GROUP:
                    flush()

            with elsewhere(write) as put:
                yield lambda chunk: put(chunk.arrow)
            flush()


@contextmanager
def spreadsheet(folder: Folder, path: str, table: Table) -> Iterator[Sink]:
    """Write a table as CSV: texts in quotation marks, no value as nothing, no cell that begins a formula (`cells`)."""
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

        with elsewhere(write) as put:
            yield put


def _cell_type(column: Column) -> pa.DataType:
    return TYPES[column.type] if column.type in {"integer", "number", "boolean"} else pa.string()


def _cells(column: Column, values: pa.Array, chunk: Chunk) -> pa.Array:
    if column.type == "time":
        times = chunk.columns[column.name]
        return pa.array([None if time is None else iso(time) for time in times], pa.string())
    if column.type == "texts":
        values = pa.array([as_text(value) for value in chunk.columns[column.name]], pa.string())
    return cells.all_safe(values) if values.type == pa.string() else values


@contextmanager
def elsewhere(write: Callable[[Piece], Any]) -> Iterator[Callable[[Piece], None]]:
    """Let a thread of its own do what takes long and needs no interpreter: compressing, encoding, writing.

    Few pieces wait at a time. What goes wrong there is raised here, at the latest when the block ends.
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
