"""Reads an uploaded archive: checks that it is complete, matches its manifest, and has valid rows.

Nothing is unpacked to disk, so file names cannot cause path traversal. No more of a file is read than its manifest
declares.
"""

import hashlib
import json
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, BinaryIO

from django.db.models import F, Q

from annotation.enums import HOLDING, CampaignState
from annotation.models import Assignment
from crowdrag.jobs.enums import RunState
from crowdrag.studies.models import Study
from writing.corpus.imports import json_lines
from writing.corpus.imports.fields import Field, Mismatch
from writing.corpus.imports.json_lines import GIB, MIB, Limits
from writing.corpus.imports.problems import Problems, quote_value
from writing.corpus.imports.sources import UNREADABLE, ZIP_EXPECTED, ZIP_METHODS, Member, open_zip
from writing.editor import codec

from . import archive_tables, columns, schema_versions
from .archive_tables import FORMAT, SCHEMA_VERSION, ArchiveTable
from .columns import Places
from .writer import MANIFEST

MAX_MANIFEST = 8 * MIB
MAX_UNPACKED = 256 * GIB
MAX_LINE = 256 * MIB
# Judgments in JSON Lines compress about 40 : 1; large files that compress much better are not research data.
MAX_RATIO, RATIO_FROM = 400, 64 * MIB
CHUNK = MIB
Report = Callable[[int, int, str], None]


@dataclass(frozen=True)
class DeclaredFile:
    """A file as declared in the manifest."""

    path: str
    rows: int
    bytes: int
    sha256: str
    content_bytes: int
    content_sha256: str

    @property
    def limits(self) -> Limits:
        """How much of the file may be read."""
        # Compression makes very small files larger.
        return Limits(file=max(self.content_bytes, self.bytes), line=min(MAX_LINE, self.content_bytes + 1))


@dataclass(frozen=True)
class Archive:
    """An archive whose files exist and match their checksums."""

    files: dict[str, DeclaredFile]
    members: dict[str, Member]
    manifest: dict[str, Any]

    @property
    def version(self) -> int:
        """Schema version of the archive."""
        return int(self.manifest["schema_version"])


@contextmanager
def open_archive(
    file: IO[bytes], name: str, problems: Problems, *, report: Report = lambda *_: None
) -> Iterator[Archive]:
    """Open and verify an archive, readable until the end of the block.

    Raises
    ------
    BadInput
        If it is not an archive, incomplete, differs from its manifest, or has an unsupported schema version.
    """
    try:
        with open_zip(file) as zipped:
            archive = _read(zipped, name, problems)
            _verify(archive, problems, report)
            yield archive
    except UNREADABLE as error:
        problems.add(file=name, expected="a complete zip archive", message=f"cannot be read: {error}")
        problems.refuse_any()


def _read(zipped: zipfile.ZipFile, name: str, problems: Problems) -> Archive:
    known = {MANIFEST}
    for version in schema_versions.READABLE:
        known |= {table.file_in(version) for table in archive_tables.of_version(version)}
    entries: dict[str, zipfile.ZipInfo] = {}
    for info in zipped.infolist():
        if info.filename not in known:
            problems.add(
                file=info.filename, expected="the files of an archive only", message="is not a file of an archive"
            )
        elif info.filename in entries:
            problems.add(file=info.filename, expected="each file once", message="is contained twice")
        elif info.compress_type not in ZIP_METHODS:
            problems.add(file=info.filename, expected=ZIP_EXPECTED, message="uses another compression method")
        elif info.flag_bits & 1:
            problems.add(file=info.filename, expected="files without a password", message="is encrypted")
        entries[info.filename] = info
    if MANIFEST not in entries:
        problems.add(file=name, expected="an archive created by `crowdrag export`", message=f"there is no {MANIFEST}")
        problems.refuse_any()
    manifest = _manifest(zipped, problems)
    version = manifest["schema_version"]
    expected = {table.file_in(version) for table in archive_tables.of_version(version)}
    files = _declared(manifest, expected, problems)
    for path in sorted(expected - set(entries)):
        problems.add(file=path, expected="all files of an archive", message="is missing")
    for path in sorted(set(entries) & known - expected - {MANIFEST}):
        message = f"does not belong to schema version {version}"
        problems.add(file=path, expected="the files of an archive only", message=message)
    problems.refuse_any()
    for path, declared in files.items():
        if entries[path].file_size != declared.bytes:
            message = f"has {entries[path].file_size}"
            problems.add(file=path, expected=f"{declared.bytes} bytes, as in the manifest", message=message)
    problems.refuse_any()
    members = {path: Member(path, declared.bytes, _opener(zipped, entries[path])) for path, declared in files.items()}
    return Archive(files, members, manifest)


def _opener(zipped: zipfile.ZipFile, info: zipfile.ZipInfo) -> Callable[[], BinaryIO]:
    return lambda: zipped.open(info)  # type: ignore[return-value]


def _manifest(zipped: zipfile.ZipFile, problems: Problems) -> dict[str, Any]:
    with zipped.open(MANIFEST) as entry:
        text = entry.read(MAX_MANIFEST + 1)
    if len(text) > MAX_MANIFEST:
        problems.add(file=MANIFEST, expected=f"at most {MAX_MANIFEST} bytes", message="is larger")
        problems.refuse_any()
    try:
        manifest = json.loads(text)
    except (ValueError, RecursionError) as error:
        problems.add(file=MANIFEST, expected="JSON", message=f"cannot be read: {error}")
        problems.refuse_any()
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        message = f"got {quote_value(manifest.get('format') if isinstance(manifest, dict) else manifest)}"
        problems.add(file=MANIFEST, field="format", expected=f"{FORMAT}, created by `crowdrag export`", message=message)
    elif not _is_readable(manifest.get("schema_version")):
        expected = f"{SCHEMA_VERSION} or less (export it again or update this server)"
        message = f"got {quote_value(manifest.get('schema_version'))}"
        problems.add(file=MANIFEST, field="schema_version", expected=expected, message=message)
    problems.refuse_any()
    return manifest  # type: ignore[no-any-return] # it is an object, see above


def _is_readable(version: Any) -> bool:
    return isinstance(version, int) and not isinstance(version, bool) and version in schema_versions.READABLE


def _declared(manifest: dict[str, Any], expected: set[str], problems: Problems) -> dict[str, DeclaredFile]:
    listed = manifest.get("files")
    files: dict[str, DeclaredFile] = {}
    for number, entry in enumerate(listed if isinstance(listed, list) else []):
        declared = _one_declared(entry)
        if declared is None:
            message = f"got {quote_value(entry)}"
            problems.add(
                file=MANIFEST, field=f"files[{number}]", expected="path, rows, sizes and checksums", message=message
            )
        else:
            files[declared.path] = declared
    total = sum(declared.content_bytes for declared in files.values())
    if total > MAX_UNPACKED:
        problems.add(
            file=MANIFEST, field="files", expected=f"at most {MAX_UNPACKED} bytes", message=f"declares {total}"
        )
    for declared in files.values():
        if declared.content_bytes > max(RATIO_FROM, declared.bytes * MAX_RATIO):
            message = f"{declared.bytes} bytes unpack to {declared.content_bytes}"
            problems.add(
                file=declared.path, expected=f"a compression ratio of {MAX_RATIO} : 1 at most", message=message
            )
    for path in sorted(expected ^ set(files)):
        problems.add(
            file=MANIFEST, field="files", expected="the files of an archive", message=f"unexpected or missing: {path}"
        )
    problems.refuse_any()
    return files


def _one_declared(entry: Any) -> DeclaredFile | None:
    if not isinstance(entry, dict) or not all(
        isinstance(entry.get(name), str) for name in ("path", "sha256", "content_sha256")
    ):
        return None
    sizes = [entry.get(name) for name in ("rows", "bytes", "content_bytes")]
    if not all(isinstance(size, int) and size >= 0 for size in sizes):
        return None
    return DeclaredFile(**{name: entry[name] for name in DeclaredFile.__dataclass_fields__})


def _verify(archive: Archive, problems: Problems, report: Report) -> None:
    """Compare every file with its checksum, as a stream."""
    total = sum(declared.bytes for declared in archive.files.values())
    done = 0
    for path, declared in archive.files.items():
        digest = hashlib.sha256()
        try:
            with archive.members[path].open() as entry:
                while chunk := entry.read(CHUNK):
                    digest.update(chunk)
                    done += len(chunk)
                    report(done, total, path)
        except UNREADABLE as error:
            problems.add(file=path, expected="a complete file", message=f"cannot be read: {error}")
            continue
        if digest.hexdigest() != declared.sha256:
            message = f"its SHA-256 is {digest.hexdigest()}"
            problems.add(file=path, expected=f"{declared.sha256}, as in the manifest", message=message)
    problems.refuse_any()


TICK = 500


def check(archive: Archive, problems: Problems, *, report: json_lines.Report = json_lines.no_report) -> dict[str, int]:
    """Check all rows of all tables; return the number of rows of each.

    Raises
    ------
    BadInput
        If there is any problem.
    """
    places = Places()
    total = sum(declared.rows for declared in archive.files.values())
    done = 0
    counts = {}
    for table in archive_tables.of_version(archive.version):
        places.begin(table.name)
        for number, _row in rows(table, archive, places, problems):
            places.add(table.name, number)  # the line number instead of a key: rows may refer to any row read before
            if number % TICK == 0:
                report(done + number, total, table.name)
        counts[table.name] = places.count(table.name)
        done += counts[table.name]
        path = table.file_in(archive.version)
        if counts[table.name] != archive.files[path].rows and not problems.found:
            expected = f"{archive.files[path].rows} rows, as in the manifest"
            problems.add(file=path, expected=expected, message=f"has {counts[table.name]}")
    if counts["study"] != 1:
        problems.add(file=archive_tables.STUDY.file, expected="one row", message=f"has {counts['study']}")
    problems.refuse_any()
    return counts


def rows(
    table: ArchiveTable, archive: Archive, places: Places, problems: Problems
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows of a table with their line numbers, cleaned and completed; invalid rows are problems."""
    version = archive.version
    checkers = [column.checker(places) for column in table.columns_of(version)]
    shape: dict[str, Field] = dict(zip(table.names_in(version), checkers, strict=True))
    path = table.file_in(version)
    member, limits = archive.members[path], archive.files[path].limits
    known = {"id", *shape}
    for line, text in json_lines.texts(member, problems, limits=limits):
        record = json_lines.parse_json(text, problems, file=path, line=line)
        if record is json_lines.MISSING:
            continue
        if isinstance(record, dict) and (unknown := record.keys() - known):
            message = f"no such field: {', '.join(sorted(unknown))}"
            problems.add(file=path, line=line, expected="the fields of this schema version", message=message)
            continue
        data = json_lines.check_record(record, shape, problems, file=path, line=line)
        if data is None:
            continue
        if record.get("id") != line:
            problems.add(file=path, line=line, field="id", expected=str(line), message=f"got {record.get('id')!r}")
        completed = schema_versions.completed(version, table.name, data)
        _check_content(table, path, completed, places, problems, line)
        yield line, completed


def _check_content(
    table: ArchiveTable, path: str, data: dict[str, Any], places: Places, problems: Problems, line: int
) -> None:
    """Check what column types cannot: content matches its digest, and nothing would become active here."""
    try:
        if table.name == "log_batches":
            _check_batch(data)
        elif table.name == "snapshots":
            columns.check_snapshot(data, places.count("judgments"))
        elif table.name == "campaigns":
            _check_campaign(data)
        elif table.name == "runs":
            _check_run(data)
    except Mismatch as mismatch:
        problems.add(file=path, line=line, field=mismatch.path, expected=mismatch.expected, message=mismatch.message)


def _check_batch(data: dict[str, Any]) -> None:
    if data["codec"] in codec.CODECS and hashlib.sha256(data["payload"]).digest() != data["digest"]:
        raise Mismatch("the SHA-256 of the payload", "does not match", "digest")


def _check_campaign(data: dict[str, Any]) -> None:
    if data.get("has_slots") and data["state"] == CampaignState.OPEN:
        raise Mismatch("a campaign that is not open, because archives cannot open campaigns", "is OPEN", "state")


def _check_run(data: dict[str, Any]) -> None:
    if data["state"] != RunState.DONE:
        raise Mismatch("a finished run, because archives cannot start work", f"is {data['state']}", "state")


def check_integrity(study: Study, places: Places, problems: Problems) -> None:
    """Report every assignment that should have a slot and has none, or has one and should not."""
    needs = Q(state__in=HOLDING)
    wrong = Assignment.objects.filter(
        Q(slot__isnull=True) & needs | Q(slot__isnull=False) & ~needs,
        questionnaire__campaign__study=study,
        questionnaire__campaign__has_slots=True,
    )
    file = next(table.file for table in archive_tables.TABLES if table.model is Assignment)
    for pk, state, slot in wrong.order_by("pk").values_list("pk", "state", F("slot")):
        holds = "has a slot" if slot else "has no slot"
        expected = f"a slot for assignments that are {', '.join(HOLDING)}, and only for these"
        problems.add(
            file=file, line=places.find("assignments", pk) or 0, field="state", expected=expected,
            message=f"is {state} and {holds}",
        )  # fmt: skip
