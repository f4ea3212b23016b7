"""Records of files in any of the usual containers: JSON lines, one JSON value, CSV or TSV, Parquet and Arrow."""

import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

import pyarrow as pa
from pyarrow import ipc, parquet

from ..imports import csv_files, json_lines
from ..imports.fields import Field, Mismatch
from ..imports.fields import member as clean_field
from ..imports.json_lines import KEPT, MISSING
from ..imports.problems import Problems, quote_value
from ..imports.sources import Member
from .values import Fields, FileContents, Located

PARQUET_MAGIC: Final = b"PAR1"
ARROW_MAGIC: Final = b"ARROW1"
#: How an Arrow stream begins: a continuation marker. `datasets` saves data sets like this.
STREAM_MAGIC: Final = b"\xff\xff\xff\xff"
MAX_DEPTH: Final = 100
Numbered = tuple[int, Any]
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


class JsonValue(Field):
    """Any JSON value whose texts can be stored; numbers that are not finite become None, as JSON cannot hold them."""

    expected = "JSON that can be written again"

    def clean(self, value: Any, depth: int = 0) -> Any:
        """Return the value."""
        if depth > MAX_DEPTH:
            raise Mismatch(f"at most {MAX_DEPTH} levels", "is nested too deeply")
        if isinstance(value, str):
            if not value.isascii():
                try:
                    value.encode()
                except UnicodeEncodeError:
                    raise Mismatch("valid Unicode text", "holds half of a surrogate pair") from None
            return value
        if isinstance(value, float) and not math.isfinite(value):
            return None
        if isinstance(value, list):
            return [self.clean(entry, depth + 1) for entry in value]
        if isinstance(value, dict):
            return {self.clean(str(name)): self.clean(entry, depth + 1) for name, entry in value.items()}
        return value if isinstance(value, bool | int | float | None) else str(value)


JSON: Final = JsonValue()


def rest_of(record: Mapping[str, Any], known: Iterable[str]) -> dict[str, Any]:
    """Return the fields of a record that its format has no name for.

    Raises
    ------
    Mismatch
        If a text of them cannot be stored.
    """
    names = set(known)
    return {JSON.clean(name): JSON.clean(value) for name, value in record.items() if name not in names}


def magic(member: Member) -> bytes:
    """Return the first bytes of a file."""
    with member.open() as file:
        return file.read(8)


def is_table(member: Member) -> bool:
    """Return whether a file is Parquet or Arrow."""
    return magic(member).startswith((PARQUET_MAGIC, ARROW_MAGIC, STREAM_MAGIC))


def json_values(
    member: Member,
    problems: Problems,
    *,
    report: json_lines.Report = json_lines.no_report,
    within: str = "",
    about: dict[str, Any] | None = None,
) -> Iterator[Numbered]:
    """Yield the records of JSON lines, of a JSON array, or of one object, with the lines on which they begin.

    If one object contains a list `within`, its entries are the records, and its other fields are added to `about`.
    """
    texts = json_lines.texts(member, problems, limits=KEPT, report=report, blank=True)
    number, text = next(((number, text) for number, text in texts if text.strip()), (0, ""))
    if not text:
        return
    if _is_one_value(text) or within:
        whole = text + "".join(part for _, part in texts)
        try:
            value = json.loads(whole)
        except (ValueError, RecursionError):
            if text.lstrip().startswith("["):
                json_lines.parse_json(whole, problems, file=member.name, line=number)
                return
        else:
            yield from _entries(whole, value, number, within, {} if about is None else about)
            return
        again = json_lines.texts(member, Problems(), limits=KEPT, blank=True)
        texts = ((line, part) for line, part in again if line > number)
    for line, part in chain([(number, text)], texts):
        if not part.strip():
            continue
        value = json_lines.parse_json(part, problems, file=member.name, line=line)
        if isinstance(value, list):
            yield from ((line, entry) for entry in value)
        elif value is not MISSING:
            yield line, value


def _is_one_value(text: str) -> bool:
    """Return whether a first line begins a JSON value that goes on in the next lines."""
    stripped = text.strip()
    if stripped.startswith("["):
        return not stripped.endswith("]")
    return stripped.startswith("{") and not stripped.endswith("}")


def _entries(whole: str, value: Any, line: int, within: str, about: dict[str, Any]) -> Iterator[Numbered]:
    """Yield the entries of a JSON array, or of the list `within` an object, with their lines; or the value itself."""
    begin = re.search(r"\[", whole)
    if isinstance(value, dict) and isinstance(value.get(within), list):
        about.update({name: part for name, part in value.items() if name != within})
        begin = re.search(rf'"{re.escape(within)}"\s*:\s*\[', whole)
        value = value[within]
    if not isinstance(value, list):
        yield line, value
        return
    try:
        lines = _lines_of_entries(whole, begin.end(), line) if begin else []
    except ValueError:  # the name of the list occurs in a text before it
        lines = []
    yield from zip(lines if len(lines) == len(value) else range(1, len(value) + 1), value, strict=True)


_SEPARATOR = re.compile(r"[\s,]*")


def _lines_of_entries(whole: str, position: int, line: int) -> list[int]:
    """Return the lines on which the entries of a list begin, from the position after its bracket."""
    decoder = json.JSONDecoder()
    counted = 0
    lines: list[int] = []
    while True:
        separator = _SEPARATOR.match(whole, position)
        position = separator.end() if separator else position
        if position >= len(whole) or whole[position] == "]":
            return lines
        line += whole.count("\n", counted, position)
        counted = position
        lines.append(line)
        _, position = decoder.raw_decode(whole, position)


def csv_records(
    member: Member, problems: Problems, *, report: json_lines.Report = json_lines.no_report
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a CSV or TSV file as records; a row with more cells than the header is set aside."""
    rows = csv_files.read_rows(member, problems, report=report)
    first = next(rows, None)
    if first is None:
        return
    columns = csv_files.read_header(member, first[1], problems)
    for line, cells in rows:
        if len(cells) > len(columns):
            message = f"has {len(cells)} cells, the header {len(columns)}"
            problems.set_aside(file=member.name, line=line, expected="as many cells as the header", message=message)
            continue
        yield line, dict(zip(columns, cells, strict=False))


def table_records(member: Member, problems: Problems) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows of a Parquet or Arrow file as records, with their numbers."""
    if member.size > KEPT.file:
        problems.add(file=member.name, expected="at most 384 MB", message=f"has {member.size:,} bytes")
        return
    with member.open() as raw:
        data = raw.read(KEPT.file + 1)
    number = seen = 0
    try:
        for batch in _batches(data):
            seen += batch.nbytes
            if seen > KEPT.file:
                problems.add(file=member.name, line=number, expected="at most 384 MB unpacked", message="there is more")
                return
            for record in batch.to_pylist():
                number += 1
                yield number, record
    except (pa.ArrowException, OSError, ValueError) as error:
        message = f"cannot be read after row {number}: {error}"
        problems.add(file=member.name, line=number, expected="a Parquet or Arrow file that is whole", message=message)


def _batches(data: bytes) -> Iterator[pa.RecordBatch]:
    source = pa.BufferReader(data)
    if data.startswith(PARQUET_MAGIC):
        yield from parquet.ParquetFile(source).iter_batches(batch_size=1000)
    elif data.startswith(ARROW_MAGIC):
        reader = ipc.open_file(source)
        yield from (reader.get_batch(n) for n in range(reader.num_record_batches))
    else:
        yield from ipc.open_stream(source)


def collect(
    member: Member,
    problems: Problems,
    records: Iterable[Numbered],
    parse: Callable[[Any], Any],
    key: Callable[[Any], tuple[str, str]] | None = None,
) -> FileContents:
    """Return the values of records; a record that `parse` refuses, or whose key another has, is set aside.

    `key` returns what identifies a value, and its name for messages.
    """
    rows: list[Located] = []
    seen: dict[str, int] = {}
    for line, record in records:
        try:
            value = parse(record)
        except Mismatch as mismatch:
            set_aside(problems, member, line, mismatch)
            continue
        if key is not None:
            identity, name = key(value)
            first = seen.get(identity)
            seen.setdefault(identity, line)
            if first is not None:
                set_aside(problems, member, line, Mismatch("each once", f"{name} is on line {first} already"))
                continue
        rows.append(Located(line, value))
    return FileContents(rows)


def set_aside(problems: Problems, member: Member, line: int, mismatch: Mismatch) -> None:
    """Record that a row cannot be used."""
    field = mismatch.path.lstrip(".")
    problems.set_aside(file=member.name, line=line, field=field, expected=mismatch.expected, message=mismatch.message)


def checked(record: Any, shape: Mapping[str, Field]) -> dict[str, Any]:
    """Return the cleaned fields of a record.

    Raises
    ------
    Mismatch
        For the first field that is missing or wrong.
    """
    if not isinstance(record, dict):
        raise Mismatch("one JSON object per line", f"got {quote_value(record)}")
    cleaned = {}
    for name, field in shape.items():
        try:
            cleaned[name] = clean_field(record, name, field)
        except Mismatch as mismatch:
            raise Mismatch(mismatch.expected, mismatch.message, f"{name}{mismatch.path}") from None
    return cleaned


def as_json_lines(records: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    """Write records as JSON lines."""
    for record in records:
        yield _encode(record).encode() + b"\n"


def as_csv(records: Sequence[Mapping[str, Any]], columns: Sequence[str], *, delimiter: str = ",") -> Iterator[bytes]:
    """Write records as CSV with a header; None is an empty cell."""
    for cells in chain([columns], ([record.get(name) for name in columns] for record in records)):
        line = io.StringIO()
        csv.writer(line, delimiter=delimiter).writerow(["" if cell is None else cell for cell in cells])
        yield line.getvalue().encode()


def without_none(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record without its fields that are None."""
    return {name: value for name, value in record.items() if value is not None}


def columns_of(records: Iterable[Fields]) -> list[str]:
    """Return the names of all fields in the order in which they first appear."""
    return list(dict.fromkeys(name for record in records for name in record))
