"""Building a release: a run that writes its files in all formats, and records them with their tables and people.

During the build, nothing is listed and the files cannot be found. A killed build starts over; leftover files are
removed by the next build and by a periodic task.
"""

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from django.core.files.storage import default_storage
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from crowdrag.jobs import file_storage, kinds, lifecycle
from crowdrag.jobs.models import Run
from crowdrag.studies.models import Participant, User

from ..enums import PUBLIC_RELEASES, ReleaseState
from ..inputs import snapshots
from . import services, storage
from .choices import Choices
from .contents import release_contents
from .contents.content_table import ContentColumn, ContentTable
from .contents.release_contents import Contents
from .formats import about, card
from .formats.output_folder import MANIFEST, SUMS
from .models import Release, ReleaseFile, ReleasePerson, ReleaseTable
from .personal_data import detection
from .services import ReleaseError

ROWS = 5
#: Number of characters of a text in the preview; the file has the full text.
SHOWN = 300


def preview(table: ContentTable) -> list[dict[str, Any]]:
    """Return the first rows of a table, with long texts shortened."""
    return [{c.name: _shown(c, row[c.name]) for c in table.columns} for row in islice(table.rows(), ROWS)]


def _shown(column: ContentColumn, value: Any) -> Any:
    if column.type == "time" and value is not None:
        return value.isoformat()
    text = value if isinstance(value, str) else ""
    return f"{text[:SHOWN]} …" if len(text) > SHOWN else value


Report = Callable[[int, int, str], None]


@dataclass(frozen=True)
class WrittenRelease:
    """A written release: the files of its folder, and the metadata to be recorded."""

    tables: tuple[ContentTable, ...]
    rows: dict[str, int]
    previews: dict[str, list[dict[str, Any]]]
    participants: tuple[int, ...]
    manifest: dict[str, Any]
    left_out: list[dict[str, Any]]
    figures: dict[str, Any]


def write_release(release: Release, folder: Path, *, report: Report) -> WrittenRelease:
    """Write all files of a release into an empty folder, within a consistent database snapshot.

    The same study and choices give identical bytes on the same day.
    """
    from .formats import release_writer  # loads pyarrow

    # The number of rows is only known after writing.
    report(0, 0, "Checking what may be released")
    choices = Choices.from_json(release.choices)
    contents = release_contents.read_contents(study=release.study, choices=choices, release=str(release.number))
    done: dict[str, int] = {}

    def report_rows(table: str, rows: int) -> None:
        done[table] = rows
        report(sum(done.values()), 0, table)

    about_release = about_of(release, choices, contents)
    manifest = release_writer.write_files(
        folder,
        contents.tables,
        about_release,
        layout=contents.layout,
        left_out=contents.layout_left_out,
        report=report_rows,
    )
    rows = {table["name"]: table["rows"] for table in manifest["tables"]}
    return WrittenRelease(
        tables=contents.tables,
        rows=rows,
        previews={table.name: preview(table) for table in contents.tables},
        participants=contents.participants,
        manifest=manifest,
        left_out=_left_out(contents),
        figures={
            "rows": rows,
            "people": len(contents.participants),
            "licences": list(contents.licences),
            "runs_digest": manifest["runs_digest"],
            "changes": _changes(about_release.previous, manifest),
        },
    )


def about_of(release: Release, choices: Choices, contents: Contents) -> about.About:
    """Return the metadata of a release."""
    run, study = release.run, release.study
    assert run is not None  # the release is being built
    return about.About(
        slug=study.slug,
        version=release.number,
        title=release.title,
        # The day of the build request, so that a worker that takes over writes identical files.
        released=run.created_at.date(),
        licence=choices.licence or study.text_licence,
        description=release.description or study.description,
        language=study.language,
        creators=tuple(about.Creator(**creator) for creator in release.creators),
        contact=study.contact,
        passage_terms=choices.passage_terms,
        address=run.parameters.get("address", ""),
        doi=release.doi,
        is_simulated=study.is_simulated,
        code_version=run.code_version,
        choices=choices,
        licences=contents.licences,
        makings=contents.makings,
        left_out=contents.left_out,
        runs=tuple(_source(run) for run in contents.runs),
        changes=release.notes,
        previous=previous_manifest(release),
    )


def previous_manifest(release: Release) -> dict[str, Any] | None:
    """Return the manifest of the previous published version; None if there is none."""
    earlier = ReleaseFile.objects.filter(
        release__study=release.study_id,
        release__number__lt=release.number,
        release__state__in=PUBLIC_RELEASES,
        path=MANIFEST,
        removed_at__isnull=True,
    )
    if (previous := earlier.order_by("-release__number").first()) is None:
        return None
    with default_storage.open(str(previous.file.name)) as file:
        manifest: dict[str, Any] = json.loads(file.read())
    return manifest


def _changes(before: dict[str, Any] | None, after: dict[str, Any]) -> dict[str, Any] | None:
    """Return the content of CHANGES.md for the page: the previous version, and sentences in Markdown."""
    if before is None:
        return None
    return {"since": before.get("version"), "found": card.compared(before, after)}


def _source(run: Run) -> about.SourceRun:
    return about.SourceRun(
        kind=run.kind,
        key=str(run.key),
        inputs_digest=run.inputs_digest,
        code_version=run.code_version,
        finished_at=run.finished_at.isoformat() if run.finished_at else "",
        seed=run.seed,
        parameters=run.parameters,
        stale=run.stale_reason,
    )


def _left_out(contents: Contents) -> list[dict[str, Any]]:
    parts: Sequence[tuple[str, Any]] = (("", contents.left_out), ("crowdrag25", contents.layout_left_out()))
    return [
        {"what": exclusion.what, "reason": exclusion.reason, "count": exclusion.count, "format": format_}
        for format_, counted in parts
        for exclusion in counted
    ]


PEOPLE = "participants."
#: Tables without data of participants.
OF_NOBODY = frozenset({"topics", "passages", "retrieved", "styles", "dimensions", "runs"})
BATCH = 1000


class BrokenFileError(Exception):
    """A file differs from what was written; nothing of the release is listed."""


class ErasedError(Exception):
    """A participant was erased while the release was being written; write it again without them."""


@dataclass(frozen=True)
class StoredFile:
    """A file in the storage, with its metadata."""

    path: str
    about: str
    media_type: str
    size: int
    sha256: str
    of_people: bool
    file: str


def move_in(work: kinds.Work, folder: Path, written: WrittenRelease) -> list[StoredFile]:
    """Move all files of a release into the storage, and return their metadata.

    Raises
    ------
    BrokenFileError
        If a file does not match its checksum.
    """
    described_files = {file["path"]: file for file in written.manifest["files"]}
    sums = dict(_sums(folder / SUMS))
    paths = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    listed = []
    for i, path in enumerate(paths):
        size, sha256 = file_storage.file_digest(folder / path)
        if path != SUMS and sums.pop(path, None) != sha256:
            raise BrokenFileError(f"{path} does not match {SUMS}.")
        work.report(i, len(paths), path)
        described = described_files.get(path, {})
        listed.append(
            StoredFile(
                path,
                described.get("meaning") or BESIDE.get(path, ""),
                described.get("media_type") or _media_type(path),
                size,
                sha256,
                is_of_people(path, written.tables),
                storage.move_in(work.run, folder=folder, path=path, sha256=sha256),
            )
        )
    if sums:
        raise BrokenFileError(f"Missing files that are in {SUMS}: {', '.join(sorted(sums))}.")
    return listed


def file_digest(folder: Path) -> str:
    """Return the digest of a release: the digest of its list of checksums."""
    return file_storage.file_digest(folder / SUMS)[1]


def add(release: Release, written: WrittenRelease, files: Sequence[StoredFile]) -> None:
    """Record the contents of a release, holding the row lock of the release.

    Raises
    ------
    ErasedError
        If a participant in it was erased in the meantime.
    """
    # An erasure holds the participant's row lock: these rows wait until it is over.
    ReleasePerson.objects.bulk_create(
        (ReleasePerson(release=release, participant_id=pk) for pk in written.participants), batch_size=BATCH
    )
    if Participant.objects.filter(releases__release=release, erased_at__isnull=False).exists():
        raise ErasedError("Somebody in this release had their data erased during the build.")
    ReleaseFile.objects.bulk_create(
        (
            ReleaseFile(
                release=release,
                path=file.path,
                about=file.about,
                media_type=file.media_type,
                size=file.size,
                sha256=file.sha256,
                of_people=file.of_people,
                file=file.file,
            )
            for file in files
        ),
        batch_size=BATCH,
    )
    ReleaseTable.objects.bulk_create(
        ReleaseTable(
            release=release,
            position=position,
            name=table.name,
            about=table.meaning,
            rows=written.rows[table.name],
            columns=[{"name": c.name, "type": c.type, "meaning": c.meaning} for c in table.columns],
            preview=written.previews[table.name],
        )
        for position, table in enumerate(written.tables)
    )


def is_of_people(path: str, tables: Sequence[ContentTable]) -> bool:
    """Return whether a file may contain data of participants: all data files do, except topics and the like."""
    relative_path = Path(path)
    if relative_path.parent == Path():
        return False  # files next to the data: card, licence, checksums
    name = relative_path.name.split(".")[0]
    table = next((candidate for candidate in tables if candidate.name == name), None)
    return table is None or name not in OF_NOBODY or any(c.refers_to.startswith(PEOPLE) for c in table.columns)


def _sums(path: Path) -> Iterator[tuple[str, str]]:
    for line in path.read_text().splitlines():
        sha256, _space, name = line.partition("  ")
        yield name, sha256


def _media_type(path: str) -> str:
    return MEDIA_TYPES.get(Path(path).suffix, "text/plain; charset=utf-8")


#: Media types of the files next to the data.
MEDIA_TYPES = {
    ".md": "text/markdown; charset=utf-8",
    ".json": "application/json",
    ".cff": "application/x-yaml",
}
#: Descriptions of these files, in the language of the files.
BESIDE = {
    "README.md": "Dataset card (start here)",
    "FIELDS.md": "Description of every field",
    "DATASHEET.md": "Datasheet",
    "CHANGES.md": "Changes in this version",
    "LICENSE": "Licence, and what it does not cover",
    "CITATION.cff": "Citation",
    "croissant.json": "Croissant metadata",
    "release.json": "Manifest for programs",
    SUMS: "SHA-256 checksums of all other files",
}


KIND = "release.build"


@transaction.atomic
def start(*, release: Release, by: User | None = None, address: str = "", now: datetime | None = None) -> Run:
    """Start building a draft. `address` is the URL of its public page, to be written into the files.

    Raises
    ------
    ReleaseError
        If the release is not a draft.
    """
    held = services.locked(release.pk)
    if held.state != ReleaseState.DRAFT:
        raise ReleaseError("Only a draft can be built. Edit the release to return it to draft.")
    storage.remove_all(held)  # files of an earlier build that failed
    run = lifecycle.start(
        study=held.study, kind=KIND, parameters={"release": held.number, "address": address}, by=by, now=now
    )
    held.run, held.state = run, ReleaseState.BUILDING
    held.save(update_fields=["run", "state"])
    return run


@transaction.atomic
def stop(*, release: Release, by: User | None = None, now: datetime | None = None) -> Release:
    """Stop the build and make the release a draft again; also after a failed run.

    Raises
    ------
    ReleaseError
        If it is not being built.
    """
    run = Release.objects.select_related("run").get(pk=release.pk).run
    # Lock the run before the release, as the effect of the run does.
    if run is not None and run.is_active:
        with suppress(lifecycle.NotActiveError):  # it has just ended; its outcome is read next
            lifecycle.cancel(run=run, by=by, now=now)
    held = services.locked(release.pk)
    if held.state != ReleaseState.BUILDING:
        raise ReleaseError("This release is not being built.")
    services.reopen(held)
    return held


def of_run(run: Run) -> Release:
    """Return the release that a run builds.

    Raises
    ------
    kinds.InputRejectedError
        If it was discarded, or another run is building it.
    """
    building = Release.objects.filter(study=run.study_id, run=run, state=ReleaseState.BUILDING).select_related("study")
    if (release := building.first()) is None:
        raise kinds.InputRejectedError([{"message": "The release of this run no longer exists."}])
    return release


def plan(_run: Run) -> Iterator[dict[str, Any] | kinds.LaterUnit]:
    """Plan the detection of personal data first: texts with undecided findings are left out and listed for review."""
    yield {"do": "look"}
    yield kinds.LaterUnit(1, {"do": "write"})


def work(work: kinds.Work) -> Callable[[], None]:
    """Detect personal data or write the files; the effect stores the findings or records the files."""
    release = of_run(work.run)
    return _look(work, release) if work.unit.payload["do"] == "look" else _write(work, release)


def _look(work: kinds.Work, release: Release) -> Callable[[], None]:
    def report_rows(done: int, where: object) -> None:
        work.report(done, 0, str(where))

    choices = Choices.from_json(release.choices)
    return detection.look(study=release.study, choices=choices, now=timezone.now(), report=report_rows)


def _write(work: kinds.Work, release: Release) -> Callable[[], None]:
    now = timezone.now()
    folder = storage.workplace(work)
    try:
        with snapshots.repeatable_read():
            written = write_release(release, folder, report=work.report)
        digest = file_digest(folder)
        listed = move_in(work, folder, written)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return partial(_list, work.run, written, listed, digest, now)


def _list(run: Run, written: WrittenRelease, files: list[StoredFile], digest: str, now: datetime) -> None:
    release = services.locked(of_run(run).pk)
    add(release, written, files)
    release.state, release.built_at = ReleaseState.READY, now
    release.digest, release.schema_version = digest, written.manifest["schema_version"]
    release.figures, release.left_out = written.figures, written.left_out
    release.save(update_fields=["state", "built_at", "digest", "schema_version", "figures", "left_out"])
    lifecycle.note(run=run, summary={"version": release.number, "files": len(files)}, inputs_digest=digest)
    # Files left by a killed worker, or by an earlier claim of this unit.
    transaction.on_commit(partial(storage.remove_unlisted, str(run.key)))


def result_url(run: Run) -> str:
    """Return the URL of the release."""
    return reverse("release", args=[run.study.slug, run.parameters["release"]])


def register() -> None:
    """Register the run kind when the app is ready."""
    kinds.register(
        kinds.Kind(
            name=KIND,
            title="Building a release",
            plan=plan,
            work=work,
            result_url=result_url,
            describe=lambda run: {"Version": run.parameters["release"]},
            subjects=lambda runs: {run.pk: f"version {run.parameters['release']}" for run in runs},
        )
    )
