"""What a release lists when it is built: its files with their sums, its tables, and of whom it holds something."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from crowdrag.jobs import file_storage, kinds
from crowdrag.studies.models import Participant

from ...models import Release, ReleaseFile, ReleasePerson, ReleaseTable
from . import keeping
from .contents.table import Table
from .formats.folder import SUMS
from .making import Made

PEOPLE = "participants."
#: Tables that come from the study itself.
OF_NOBODY = frozenset({"topics", "passages", "retrieved", "styles", "dimensions", "runs"})
BATCH = 1000


class BrokenFileError(Exception):
    """A file is not what was written; nothing of the release is listed."""


class ErasedError(Exception):
    """Somebody had what they gave erased while it was being written: it is written anew without them."""


@dataclass(frozen=True)
class Listed:
    """A file that lies in the storage, and what is said of it."""

    path: str
    about: str
    media_type: str
    size: int
    sha256: str
    of_people: bool
    file: str


def move_in(work: kinds.Work, folder: Path, made: Made) -> list[Listed]:
    """Move all files of a release into the storage, and return what is to be listed of each.

    Raises
    ------
    BrokenFileError
        if one of them is not what the list of sums says.
    """
    said = {file["path"]: file for file in made.manifest["files"]}
    sums = dict(_sums(folder / SUMS))
    paths = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    listed = []
    for i, path in enumerate(paths):
        size, sha256 = file_storage.file_digest(folder / path)
        if path != SUMS and sums.pop(path, None) != sha256:
            raise BrokenFileError(f"{path} is not what {SUMS} says.")
        work.report(i, len(paths), path)
        described = said.get(path, {})
        listed.append(
            Listed(
                path,
                described.get("meaning") or BESIDE.get(path, ""),
                described.get("media_type") or _media_type(path),
                size,
                sha256,
                is_of_people(path, made.tables),
                keeping.move_in(work.run, folder=folder, path=path, sha256=sha256),
            )
        )
    if sums:
        raise BrokenFileError(f"{', '.join(sorted(sums))}: in {SUMS}, and not there.")
    return listed


def digest(folder: Path) -> str:
    """Return the digest of a release: of the list of its files with their sums."""
    return file_storage.file_digest(folder / SUMS)[1]


def add(release: Release, made: Made, files: Sequence[Listed]) -> None:
    """List what a release holds. It is being built: its row is held.

    Raises
    ------
    ErasedError
        if somebody in it had what they gave erased meanwhile.
    """
    # Whoever erases somebody holds the participant's row: these rows wait until that is over.
    ReleasePerson.objects.bulk_create(
        (ReleasePerson(release=release, participant_id=pk) for pk in made.participants), batch_size=BATCH
    )
    if Participant.objects.filter(releases__release=release, erased_at__isnull=False).exists():
        raise ErasedError("Somebody in it had what they gave erased while it was being written.")
    ReleaseFile.objects.bulk_create(
        (
            ReleaseFile(
                release=release,
                path=each.path,
                about=each.about,
                media_type=each.media_type,
                size=each.size,
                sha256=each.sha256,
                of_people=each.of_people,
                file=each.file,
            )
            for each in files
        ),
        batch_size=BATCH,
    )
    ReleaseTable.objects.bulk_create(
        ReleaseTable(
            release=release,
            position=position,
            name=table.name,
            about=table.meaning,
            rows=made.rows[table.name],
            columns=[{"name": c.name, "type": c.type, "meaning": c.meaning} for c in table.columns],
            preview=made.previews[table.name],
        )
        for position, table in enumerate(made.tables)
    )


def is_of_people(path: str, tables: Sequence[Table]) -> bool:
    """Say whether a file may hold something that a participant gave: all data does, but for topics and the like."""
    place = Path(path)
    if place.parent == Path():
        return False  # what stands beside the data: card, licence, sums
    name = place.name.split(".")[0]
    table = next((each for each in tables if each.name == name), None)
    return table is None or name not in OF_NOBODY or any(c.refers_to.startswith(PEOPLE) for c in table.columns)


def _sums(path: Path) -> Iterator[tuple[str, str]]:
    for line in path.read_text().splitlines():
        sha256, _space, name = line.partition("  ")
        yield name, sha256


def _media_type(path: str) -> str:
    return MEDIA_TYPES.get(Path(path).suffix, "text/plain; charset=utf-8")


#: Of what stands beside the data.
MEDIA_TYPES = {
    ".md": "text/markdown; charset=utf-8",
    ".json": "application/json",
    ".cff": "application/x-yaml",
}
#: What these are, in the language of the files.
BESIDE = {
    "README.md": "The dataset card: begin here",
    "FIELDS.md": "What every field means",
    "DATASHEET.md": "The datasheet",
    "CHANGES.md": "What is new in this version",
    "LICENSE": "Under which licence, and what it does not cover",
    "CITATION.cff": "How to cite it",
    "croissant.json": "Croissant metadata",
    "release.json": "The manifest: what programs want to know",
    SUMS: "SHA-256 sums of all other files",
}
