"""Strict reading of JSON files: errors state the file, line and field, and what was expected."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

_SHOWN = 60
_GZIP = b"\x1f\x8b"
#: Maximum size in bytes of a line, and of a file with a single value, after unpacking: gzip can shrink a file a
#: thousandfold.
LONGEST_LINE = 64 << 20
LARGEST = 1 << 30


class BadCollectionError(ValueError):
    """A file of questions or documents is not valid.

    Attributes
    ----------
    file : str
        Name of the file, without its folder.
    location : str
        `line 3`, or `question 3` in a file that is one list.
    field : str
        Name of the field in the file; "" for the whole line.
    expected : str
        What the field should hold.
    """

    def __init__(self, file: str, location: str, field: str, expected: str, actual: object = None) -> None:
        self.file, self.location, self.field, self.expected = file, location, field, expected
        address = ", ".join(part for part in (file, location, field) if part)
        super().__init__(
            f"{address}: {expected} expected" + (f", found {_shown(actual)}" if actual is not None else "")
        )


@dataclass(frozen=True)
class Fields:
    """A JSON object with its location in the file. Each method reads a field or raises BadCollectionError."""

    file: str
    location: str
    data: dict[str, Any]
    prefix: str = ""

    def has(self, name: str) -> bool:
        """Return whether the field exists and is not null."""
        return self.data.get(name) is not None

    def wrong(self, name: str, expected: str) -> BadCollectionError:
        """Return the error for a field that is not as expected."""
        value = self.data.get(name) if name in self.data else "nothing"
        return BadCollectionError(
            self.file, self.location, self.prefix + name, expected, value if value is not None else "null"
        )

    def text(self, name: str) -> str:
        """Read a text that is not blank; remove surrounding white space."""
        value = self.data.get(name)
        if not isinstance(value, str) or not value.strip():
            raise self.wrong(name, "non-blank text")
        return value.strip()

    def optional_text(self, name: str) -> str:
        """Read a text that may be blank or missing (then "")."""
        value = self.data.get(name)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise self.wrong(name, "text")
        return value.strip()

    def key(self, name: str) -> str:
        """Read an id: a text that is not blank, or a whole number, which is converted to a text."""
        value = self.data.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if not isinstance(value, str) or not value.strip():
            raise self.wrong(name, "an id (non-blank text or a whole number)")
        return value.strip()

    def whole(self, name: str) -> int:
        """Read a whole number."""
        value = self.data.get(name)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.wrong(name, "a whole number")
        return value

    def optional_number(self, name: str) -> float | None:
        """Read a finite number, or None if there is none."""
        return self.number(name) if self.has(name) else None

    def number(self, name: str) -> float:
        """Read a finite number, also one written as a text, as in files of retrieval results."""
        raw = self.data.get(name)
        try:
            value = float(raw) if isinstance(raw, int | float | str) and not isinstance(raw, bool) else math.nan
        except (ValueError, OverflowError):
            value = math.nan
        if not math.isfinite(value):
            raise self.wrong(name, "a finite number")
        return value

    def optional_flag(self, name: str) -> bool | None:
        """Read true or false, or None if the field is missing."""
        value = self.data.get(name)
        if value is not None and not isinstance(value, bool):
            raise self.wrong(name, "true or false")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        """Read a list of texts; blank texts are allowed."""
        values = self.data.get(name)
        if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
            raise self.wrong(name, "a list of texts")
        return tuple(value.strip() for value in values)

    def entries(self, name: str) -> list[Any]:
        """Read a list of any values."""
        values = self.data.get(name)
        if not isinstance(values, list):
            raise self.wrong(name, "a list")
        return values

    def objects(self, name: str) -> list[Fields]:
        """Read a list of objects, each with its own location."""
        return [self.inside(f"{name}[{i}]", entry) for i, entry in enumerate(self.entries(name))]

    def inside(self, name: str, data: object) -> Fields:
        """Return an object nested in this one, with its location."""
        if not isinstance(data, dict):
            raise BadCollectionError(self.file, self.location, self.prefix + name, "an object", data)
        return Fields(self.file, self.location, data, f"{self.prefix}{name}.")


def opened(path: Path) -> BinaryIO:
    """Open a file for reading. A gzipped file is unpacked, whatever its name.

    Raises
    ------
    BadCollectionError
        If there is no such file.
    """
    try:
        is_packed = is_gzipped(path)
    except OSError as error:
        raise BadCollectionError(path.name, "", "", "a readable file", error.strerror) from error
    return cast("BinaryIO", gzip.open(path, "rb")) if is_packed else path.open("rb")


def is_gzipped(path: Path) -> bool:
    """Return whether a file is gzipped, by its first bytes."""
    with path.open("rb") as file:
        return file.read(2) == _GZIP


def lines(path: Path) -> Iterator[Fields]:
    """Yield the objects of a JSON lines file, gzipped or not; skip blank lines.

    Raises
    ------
    BadCollectionError
        If a line is not a JSON object, or the file is truncated or not UTF-8.
    """
    yield from lines_of(opened(path), path.name)


def lines_of(file: BinaryIO, name: str) -> Iterator[Fields]:
    """Yield the objects of JSON lines from an open file and close it; errors call the file `name`."""
    number = 0
    try:
        with file:
            while line := file.readline(LONGEST_LINE + 1):
                number += 1
                if len(line) > LONGEST_LINE:
                    raise BadCollectionError(name, f"line {number}", "", f"at most {LONGEST_LINE} bytes", "more")
                if line.strip():
                    yield parsed(name, f"line {number}", line)
    except (EOFError, gzip.BadGzipFile, OSError) as error:
        raise BadCollectionError(name, f"line {number + 1}", "", "a complete gzip file", str(error)) from error


def parsed(file: str, location: str, line: bytes) -> Fields:
    """Parse one JSON object."""
    data = _json(file, location, line)
    if not isinstance(data, dict):
        raise BadCollectionError(file, location, "", "a JSON object", data)
    return Fields(file, location, data)


def whole(path: Path) -> Any:
    """Read a file that is a single JSON value, gzipped or not."""
    try:
        with opened(path) as file:
            data = file.read(LARGEST + 1)
    except (EOFError, gzip.BadGzipFile) as error:
        raise BadCollectionError(path.name, "", "", "a complete gzip file", str(error)) from error
    if len(data) > LARGEST:
        raise BadCollectionError(path.name, "", "", f"at most {LARGEST} bytes", "more")
    return _json(path.name, "", data)


def _json(file: str, location: str, data: bytes) -> Any:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        mapping = dict(pairs)
        if len(mapping) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise BadCollectionError(file, location, twice, "each field once", "a repeated field")
        return mapping

    try:
        return json.loads(data.decode("utf-8-sig"), object_pairs_hook=once)
    except UnicodeDecodeError as error:
        raise BadCollectionError(file, location, "", "text in UTF-8", f"byte {error.start}") from error
    except (json.JSONDecodeError, RecursionError) as error:
        raise BadCollectionError(file, location, "", "JSON", str(error)) from error


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
