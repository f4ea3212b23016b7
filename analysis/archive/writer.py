"""Writer of archives: JSON Lines files in one ZIP that refer to each other; the same rows give identical bytes."""

import gzip
import hashlib
import io
import json
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from crowdrag.jobs.kinds import Work
from crowdrag.studies.models import ConsentText, Study

from . import archive_tables, field_docs
from .archive_tables import ALL, FORMAT, SCHEMA_VERSION, ArchiveTable, dumpers
from .columns import Places

BUFFER = 256 * 1024
MANIFEST = "manifest.json"
# The earliest time a ZIP can store; only the manifest says when the archive was made.
NO_TIME = (1980, 1, 1, 0, 0, 0)
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


@dataclass(frozen=True)
class WrittenFile:
    """A file of a package. `sha256` is its digest as stored, `content_sha256` that of its unpacked content."""

    path: str
    rows: int
    bytes: int
    sha256: str
    content_bytes: int
    content_sha256: str

    def as_json(self) -> dict[str, Any]:
        """Return the file's entry in the manifest."""
        return asdict(self)


class Lines:
    """Writes objects as JSON Lines to a sink in large chunks, and counts and hashes them."""

    def __init__(self, sink: Callable[[bytes], object]) -> None:
        self._sink = sink
        self._waiting: list[bytes] = []
        self._size = 0
        self._digest = hashlib.sha256()
        self.rows = 0
        self.content_bytes = 0

    def write(self, row: Any) -> None:
        """Add a line."""
        self.text(_encode(row) + "\n")
        self.rows += 1

    def text(self, text: str) -> None:
        """Add text verbatim."""
        data = text.encode()
        self._waiting.append(data)
        self._size += len(data)
        if self._size >= BUFFER:
            self.flush()

    def flush(self) -> None:
        """Write buffered text."""
        data = b"".join(self._waiting)
        self._waiting, self._size = [], 0
        self._digest.update(data)
        self.content_bytes += len(data)
        self._sink(data)

    @property
    def content_sha256(self) -> str:
        """Digest of everything written."""
        return self._digest.hexdigest()


class Package:
    """Context manager of a ZIP file being written, complete at the end of the block."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.files: list[WrittenFile] = []

    def __enter__(self) -> Self:
        self._file = self._path.open("wb")
        self._zip = zipfile.ZipFile(self._file, "w", zipfile.ZIP_STORED)
        return self

    def __exit__(self, *error: object) -> None:
        self._zip.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    @contextmanager
    def lines(self, path: str) -> Iterator[Lines]:
        """Add a gzipped JSON Lines file."""
        with self._zip.open(_info(path), "w", force_zip64=True) as entry:
            digesting = _Digesting(entry)
            # Leave name and time out of the header.
            with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=digesting, mtime=0) as zipped:
                lines = Lines(zipped.write)
                yield lines
                lines.flush()
        self.files.append(
            WrittenFile(path, lines.rows, digesting.size, digesting.sha256, lines.content_bytes, lines.content_sha256)
        )

    def file(self, path: str, chunks: Iterable[bytes], rows: int) -> None:
        """Add a file as it is, which readers of its format open without unpacking it."""
        with self._zip.open(_info(path, zipfile.ZIP_DEFLATED), "w", force_zip64=True) as entry:
            digesting = _Digesting(entry)
            for chunk in chunks:
                digesting.write(chunk)
        digest = digesting.sha256
        self.files.append(WrittenFile(path, rows, digesting.size, digest, digesting.size, digest))

    def manifest(self, content: dict[str, Any]) -> None:
        """Add the manifest with the files' metadata; call this last."""
        content = content | {"files": [file.as_json() for file in self.files]}
        text = json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False)
        self._zip.writestr(_info(MANIFEST), text.encode())


def digest_of(files: list[WrittenFile]) -> str:
    """Return a digest of the contents of several files."""
    text = "".join(f"{file.content_sha256}  {file.path}\n" for file in sorted(files, key=lambda file: file.path))
    return hashlib.sha256(text.encode()).hexdigest()


def _info(path: str, method: int = zipfile.ZIP_STORED) -> zipfile.ZipInfo:
    """Return an entry; by default it is stored, because the files of archives are gzipped already."""
    info = zipfile.ZipInfo(path, NO_TIME)
    info.compress_type = method
    info.create_system = 3  # identical bytes on every machine
    info.external_attr = 0o644 << 16
    return info


class _Digesting(io.RawIOBase):
    """Pass-through writer that counts and hashes."""

    def __init__(self, target: Any) -> None:
        self._target = target
        self._digest = hashlib.sha256()
        self.size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._digest.update(data)
        self.size += len(data)
        self._target.write(data)
        return len(data)

    @property
    def sha256(self) -> str:
        return self._digest.hexdigest()


TICK = 500


def write(package: Package, work: Work) -> dict[str, Any]:
    """Write all tables of the run's study, and return the content of the manifest."""
    study = work.run.study
    total = sum(counts(study).values())
    done = 0

    def tick(rows: int, table: str) -> None:
        nonlocal done
        done += rows
        work.report(done, total, table)

    places = Places()
    for table in ALL:
        with package.lines(table.file) as lines:
            write_table(table, study, places, lines, lambda rows, name=table.name: tick(rows, name))  # type: ignore[misc]
    return {
        "format": FORMAT,
        "schema_version": SCHEMA_VERSION,
        "fields": field_docs.of_archive(),
        "left_out": field_docs.left_out_of_archive(),
    }


def write_table(
    table: ArchiveTable,
    study: Study,
    places: Places,
    lines: Lines,
    tick: Callable[[int], None] = lambda _rows: None,
    version: int = SCHEMA_VERSION,
) -> None:
    """Write the rows of a table as lines, one chunk in memory at a time, and record their places."""
    names = table.names_in(version)
    places.begin(table.name)
    is_referred_to = archive_tables.is_referred_to(table.name)
    convert = dumpers(table, study, places, version)
    rows = table.rows(study).values_list("pk", *table.sources(version)).iterator(chunk_size=table.chunk)
    for number, (pk, *values) in enumerate(rows, start=1):
        if is_referred_to:
            places.add(table.name, pk)
        line = {"id": number}
        for name, value, dump in zip(names, values, convert, strict=True):
            line[name] = dump(value)
        lines.write(line)
        if number % TICK == 0:
            tick(TICK)
    tick(lines.rows % TICK)


def counts(study: Study) -> dict[str, int]:
    """Return the number of the study's rows in each table."""
    return {table.name: table.rows(study).count() for table in ALL}


def content(study: Study, version: int = SCHEMA_VERSION) -> dict[str, str]:
    """Return the digest of each table in an archive of a version: studies are equal if their digests are."""
    digests = {}
    places = Places()
    for table in archive_tables.of_version(version):
        lines = Lines(lambda _data: None)
        write_table(table, study, places, lines, version=version)
        lines.flush()
        digests[table.name] = lines.content_sha256
    return digests


def licences(study: Study) -> dict[str, Any]:
    """Return the licences of the study's data."""
    texts = ConsentText.objects.filter(study=study).order_by("name", "version", "id")
    columns = ("name", "version", "text_licence", "log_licence", "timing_licence")
    return {"texts": study.text_licence, "consent_texts": list(texts.values(*columns))}
