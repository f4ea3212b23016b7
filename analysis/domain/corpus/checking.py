"""Reading an archive's rows, each checked: every field is there, of its type, and refers to rows that stand before."""

import hashlib
from collections.abc import Iterator
from typing import Any

from annotation.enums import CampaignState
from crowdrag.jobs.enums import RunState
from writing.corpus.imports import json_lines
from writing.corpus.imports.fields import Field, Mismatch
from writing.corpus.imports.problems import Problems
from writing.editor import codec

from . import since, tables, translations
from .columns import Places
from .opening import Archive
from .tables import ArchiveTable

TICK = 500


def check(archive: Archive, problems: Problems, *, report: json_lines.Report = json_lines.no_report) -> dict[str, int]:
    """Check every row of every table; return how many there are of each.

    Raises
    ------
    BadInput
        if anything is wrong with one of them.
    """
    places = Places()
    total = sum(declared.rows for declared in archive.files.values())
    done = 0
    counts = {}
    for table in tables.of_version(archive.version):
        places.begin(table.name)
        for number, _row in rows(table, archive, places, problems):
            places.add(table.name, number)  # its line for now: what may be referred to is what was read
            if number % TICK == 0:
                report(done + number, total, table.name)
        counts[table.name] = places.count(table.name)
        done += counts[table.name]
        if counts[table.name] != archive.files[table.file].rows and not problems.found:
            expected = f"{archive.files[table.file].rows} rows, as the manifest says"
            problems.add(file=table.file, expected=expected, message=f"has {counts[table.name]}")
    if counts["study"] != 1:
        problems.add(file=tables.STUDY.file, expected="one row", message=f"has {counts['study']}")
    problems.refuse_any()
    return counts


def rows(
    table: ArchiveTable, archive: Archive, places: Places, problems: Problems
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows of a table with their lines, cleaned and completed; what does not fit is a problem."""
    version = archive.version
    shape: dict[str, Field] = {column.name: column.checker(places) for column in table.columns_of(version)}
    member, limits = archive.members[table.file], archive.files[table.file].limits
    known = {"id", *shape}
    for line, text in json_lines.texts(member, problems, limits=limits):
        found = json_lines.parse_json(text, problems, file=table.file, line=line)
        if found is json_lines.MISSING:
            continue
        if isinstance(found, dict) and (unknown := found.keys() - known):
            message = f"no such field: {', '.join(sorted(unknown))}"
            problems.add(file=table.file, line=line, expected="the fields of this schema version", message=message)
            continue
        data = json_lines.check_record(found, shape, problems, file=table.file, line=line)
        if data is None:
            continue
        if found.get("id") != line:
            problems.add(file=table.file, line=line, field="id", expected=str(line), message=f"got {found.get('id')!r}")
        _check_content(table, data, places, problems, line)
        yield line, since.completed(version, table.name, data)


def _check_content(table: ArchiveTable, data: dict[str, Any], places: Places, problems: Problems, line: int) -> None:
    """Check what types cannot say: packed content that must be what its digest says, what would begin to work here."""
    try:
        if table.name == "log_batches":
            _check_batch(data)
        elif table.name == "snapshots":
            translations.check_snapshot(data, places.count("judgments"))
        elif table.name == "campaigns":
            _check_campaign(data)
        elif table.name == "runs":
            _check_run(data)
    except Mismatch as mismatch:
        problems.add(
            file=table.file, line=line, field=mismatch.path, expected=mismatch.expected, message=mismatch.message
        )


def _check_batch(data: dict[str, Any]) -> None:
    if data["codec"] in codec.CODECS and hashlib.sha256(data["payload"]).digest() != data["digest"]:
        raise Mismatch("the SHA-256 of the payload", "is another", "digest")


def _check_campaign(data: dict[str, Any]) -> None:
    if data.get("has_places") and data["state"] == CampaignState.OPEN:
        raise Mismatch("a campaign that is not open: it is opened by somebody here", "is OPEN", "state")


def _check_run(data: dict[str, Any]) -> None:
    if data["state"] != RunState.DONE:
        raise Mismatch("a run that is done: no archive starts work here", f"is {data['state']}", "state")
