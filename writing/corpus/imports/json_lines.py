"""Read JSON lines as a stream, compressed or not, with size limits."""

import gzip
import hashlib
import io
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple

import zstandard

from .fields import Field, Mismatch
from .fields import member as clean_member
from .problems import Effect, Problems, quote_value
from .sources import UNREADABLE, Member, Source

MIB = 1024**2
GIB = 1024**3
BUFFER = 256 * 1024
GZIP_MAGIC = b"\x1f\x8b"
ZSTANDARD_MAGIC = b"\x28\xb5\x2f\xfd"
# The memory limit of Zstandard decompression: a frame may claim a window of terabytes.
MAX_WINDOW = 128 * MIB
BOM = b"\xef\xbb\xbf"
OTHER_ENCODINGS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")

Report = Callable[[int, int, str], None]
Shape = Mapping[str, Field]


@dataclass(frozen=True)
class Limits:
    """Maximum sizes of an uncompressed file and of a line, in bytes. Files kept in memory have a lower limit."""

    file: int = 2 * GIB
    line: int = 16 * MIB


STREAMED = Limits()
KEPT = Limits(file=384 * MIB)


class Row(NamedTuple):
    """A checked record with its file and line."""

    file: str
    line: int
    data: dict[str, Any]


def no_report(_done: int, _total: int, _message: str) -> None:
    """Ignore progress reports."""


def lines(
    member: Member, problems: Problems, *, limits: Limits = STREAMED, report: Report = no_report
) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file with their numbers; a read error is a problem and ends the file."""
    if member.size > limits.file:
        problems.add(file=member.name, expected=f"at most {_size(limits.file)}", message=f"has {_size(member.size)}")
        return
    number = seen = 0
    with member.open() as raw:
        try:
            stream = _unpacked(raw)
            while line := stream.readline(limits.line + 1):
                number += 1
                seen += len(line)
                if len(line) > limits.line:
                    expected = f"a line of at most {_size(limits.line)}"
                    problems.add(file=member.name, line=number, expected=expected, message="is longer")
                    return
                if seen > limits.file:
                    expected = f"at most {_size(limits.file)} uncompressed"
                    problems.add(file=member.name, line=number, expected=expected, message="there is more")
                    return
                if number == 1:
                    line = line.removeprefix(BOM)
                if number % 256 == 1:
                    report(min(_position(raw), member.size), member.size, f"{member.name} (bytes)")
                yield number, line
        except UNREADABLE as error:
            message = f"cannot be unpacked after line {number}: {error}"
            problems.add(file=member.name, line=number, expected="a file that is whole", message=message)


def texts(
    member: Member,
    problems: Problems,
    *,
    limits: Limits = STREAMED,
    report: Report = no_report,
    blank: bool = False,
    encoding: str = "UTF-8",
) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file as text, without blank lines unless `blank`; lines in another encoding are problems."""
    for number, line in lines(member, problems, limits=limits, report=report):
        if number == 1 and line.startswith(OTHER_ENCODINGS):
            problems.add(
                file=member.name, line=1, expected="UTF-8", message="the file has another encoding (UTF-16 or UTF-32)"
            )
            return
        if not blank and not line.strip():
            continue
        try:
            yield number, line.decode(encoding)
        except UnicodeDecodeError:
            message = "is not valid UTF-8. Save the file in UTF-8 (in a spreadsheet: CSV UTF-8)."
            problems.set_aside(file=member.name, line=number, expected="UTF-8", message=message)


def records(
    member: Member,
    shape: Shape | Callable[[dict[str, Any]], Shape],
    problems: Problems,
    *,
    limits: Limits = STREAMED,
    report: Report = no_report,
) -> Iterator[Row]:
    """Yield the checked records of a JSON lines file; invalid rows are recorded as faults and skipped.

    If records may have several shapes, `shape` is a function from the record to its shape. A file without any valid row
    is probably the wrong file: a problem.
    """
    is_used = False
    for number, text in texts(member, problems, limits=limits, report=report):
        record = parse_json(text, problems, file=member.name, line=number)
        if record is MISSING:
            continue
        fields = shape(record) if callable(shape) and isinstance(record, dict) else shape
        data = check_record(record, {} if callable(fields) else fields, problems, file=member.name, line=number)
        if data is not None:
            is_used = True
            yield Row(member.name, number, data)
    if not is_used and (faults := problems.rows(Effect.SET_ASIDE).get(member.name)):
        expected = "rows of the form that this import reads"
        problems.add(file=member.name, expected=expected, message=f"none of its {faults} rows can be used")


MISSING: Any = object()


def parse_json(text: str, problems: Problems, *, file: str, line: int) -> Any:
    """Parse a JSON text; if it is invalid, record the problem and return `MISSING`."""
    try:
        return json.loads(text.rstrip())
    except json.JSONDecodeError as error:
        where = error.lineno - 1 + line
        message = f"is not valid JSON: {error.msg} at character {error.colno}"
        problems.set_aside(file=file, line=where, expected="one JSON object per line", message=message)
    except RecursionError:
        problems.set_aside(file=file, line=line, expected="one JSON object per line", message="is nested too deeply")
    except ValueError as error:  # a number with too many digits for Python
        problems.set_aside(file=file, line=line, expected="one JSON object per line", message=str(error))
    return MISSING


def check_record(value: Any, shape: Shape, problems: Problems, *, file: str, line: int) -> dict[str, Any] | None:
    """Return a cleaned record; if it is invalid, record each invalid field and return None."""
    if not isinstance(value, dict):
        problems.set_aside(
            file=file, line=line, expected="one JSON object per line", message=f"got {quote_value(value)}"
        )
        return None
    cleaned = {}
    for name, field in shape.items():
        try:
            cleaned[name] = clean_member(value, name, field)
        except Mismatch as mismatch:
            where = name + mismatch.path
            problems.set_aside(file=file, line=line, field=where, expected=mismatch.expected, message=mismatch.message)
    return cleaned if len(cleaned) == len(shape) else None


def find(source: Source, stem: str, problems: Problems) -> Member | None:
    """Return the file with this name, or None. Files with equal uncompressed content count as one."""
    members = source.find(stem)
    if not members:
        return None
    first, *others = members
    for other in others:
        if _content(first, problems) != _content(other, problems):
            message = f"this file is there twice, with different contents: {first.name} and {other.name}"
            problems.add(file=other.name, expected=f"one file called {stem}", message=message)
    return first


def _content(member: Member, problems: Problems) -> str:
    """Return the digest of a file's uncompressed content."""
    digest = hashlib.sha256()
    for _, line in lines(member, problems):
        digest.update(line)
    return digest.hexdigest()


def read_text(
    member: Member, problems: Problems, *, limits: Limits = Limits(file=64 * MIB, line=64 * MIB)
) -> str | None:
    """Return the text of a small file; if it is invalid, record the problem and return None."""
    wrong = Problems()
    text = "".join(part for _, part in texts(member, wrong, limits=limits, blank=True))
    if wrong.found:
        problems.refuse_all_of(wrong)
        return None
    if not text.strip():
        problems.add(file=member.name, expected="JSON", message="the file is empty")
        return None
    return text


def _unpacked(raw: BinaryIO) -> BinaryIO:
    """Return the uncompressed bytes; the compression is detected by the first bytes, not by the name."""
    buffered = io.BufferedReader(raw, BUFFER)  # type: ignore[type-var] # any readable stream will do
    if buffered.peek(4)[:4] == ZSTANDARD_MAGIC:
        decompressor = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW)
        return io.BufferedReader(decompressor.stream_reader(buffered, read_across_frames=True), BUFFER)
    if buffered.peek(2)[:2] == GZIP_MAGIC:
        return io.BufferedReader(gzip.GzipFile(fileobj=buffered), BUFFER)
    return buffered


def _position(raw: BinaryIO) -> int:
    try:
        return raw.tell()
    except (OSError, ValueError):
        return 0


def _size(count: int) -> str:
    for unit, size in (("GB", GIB), ("MB", MIB)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"
