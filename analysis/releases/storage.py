"""Storage of release files: working folders on this machine, the final storage, and ZIP bundles.

All files of a build are stored in one folder, so that files left by a killed worker are found and removed. The storage
path of a file includes its checksum: if two workers write the same file, equal files share a path and different files
do not.
"""

import shutil
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from django.conf import settings
from django.core.files.storage import Storage, default_storage
from django.db import transaction

from crowdrag.jobs import file_storage, kinds
from crowdrag.jobs.file_storage import ZipPart
from crowdrag.jobs.models import Run

from .models import Release, ReleaseFile

FOLDER = "releases"
PREFIX = "release-"
TIDY_EVERY = timedelta(hours=1)


def workplace(work: kinds.Work) -> Path:
    """Return an empty working folder for this claim of the unit; remove folders of earlier claims on this machine."""
    clear_workplaces(keep=work.run.key)
    for left in _workplaces(work.run.key):
        shutil.rmtree(left, ignore_errors=True)
    folder = _tmp() / f"{PREFIX}{work.run.key}-{work.unit.fence}"
    folder.mkdir()
    return folder


def clear_workplaces(keep: uuid.UUID | None = None) -> None:
    """Remove the working folders of ended runs, whose worker was killed."""
    for folder in _workplaces():
        key = uuid.UUID(folder.name[len(PREFIX) : len(PREFIX) + 36])
        if key != keep and not Run.objects.filter(key=key).active().exists():
            shutil.rmtree(folder, ignore_errors=True)


def place(run: Run, *, path: str, sha256: str) -> str:
    """Return the storage path of a file of a build."""
    return f"{FOLDER}/{run.key}/{sha256[:16]}/{Path(path).name}"


def move_in(run: Run, *, folder: Path, path: str, sha256: str) -> str:
    """Move a finished file into the storage, and return its path there."""
    name = place(run, path=path, sha256=sha256)
    file_storage.move_in(default_storage, path=folder / path, name=name)
    return name


def remove_all(release: Release) -> None:
    """Remove all files of a release from the storage when the surrounding transaction commits."""
    if release.run is not None:
        transaction.on_commit(partial(_remove_below, default_storage, f"{FOLDER}/{release.run.key}"))


def remove(files: list[str]) -> None:
    """Remove files from the storage when the surrounding transaction commits."""
    for name in files:
        transaction.on_commit(partial(default_storage.delete, name))


def tidy(_now: datetime) -> int:
    """Remove files that no release lists and no active run is writing; return their number.

    Called periodically: a worker killed between moving and listing a file leaves it behind.
    """
    clear_workplaces()
    return sum(tidy_run(key) for key in _folders(default_storage, FOLDER))


def tidy_run(key: str) -> int:
    """Remove unlisted files of a build unless it is active; return their number."""
    if Run.objects.filter(key=key).active().exists():
        return 0
    return remove_unlisted(key)


def remove_unlisted(key: str) -> int:
    """Remove the files of a build that no release lists; return their number."""
    below = f"{FOLDER}/{key}/"
    listed = set(ReleaseFile.objects.filter(file__startswith=below).values_list("file", flat=True))
    unlisted = [name for name in _below(default_storage, below.rstrip("/")) if name not in listed]
    for name in unlisted:
        default_storage.delete(name)
    if not listed:
        _remove_below(default_storage, below.rstrip("/"))
    return len(unlisted)


def _remove_below(storage: Storage, folder: str) -> None:
    for name in _below(storage, folder):
        storage.delete(name)
    # Object stores have no folders, and on a disk somebody may just be adding a file.
    for path in (*(f"{folder}/{name}" for name in _folders(storage, folder)), folder):
        with suppress(OSError):
            storage.delete(path)


def _below(storage: Storage, folder: str) -> Iterator[str]:
    try:
        folders, files = storage.listdir(folder)
    except FileNotFoundError:
        return
    yield from (f"{folder}/{name}" for name in files)
    for subfolder in folders:
        yield from _below(storage, f"{folder}/{subfolder}")


def _folders(storage: Storage, folder: str) -> list[str]:
    try:
        return list(storage.listdir(folder)[0])
    except FileNotFoundError:
        return []


def _workplaces(key: uuid.UUID | None = None) -> list[Path]:
    return sorted(_tmp().glob(f"{PREFIX}{key or '*'}-*"))


def _tmp() -> Path:
    folder = Path(settings.DATA_DIR) / "tmp"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@dataclass(frozen=True)
class ZipBundle:
    """Content of a release's ZIP; `tag` changes with the set of files."""

    name: str
    parts: list[ZipPart]
    tag: str


def zip_bundle(release: Release) -> ZipBundle | None:
    """Return all files that were not removed from a release; None if there are none."""
    folder = f"{release.study.slug}-v{release.number}"
    present = list(release.files.filter(removed_at__isnull=True).order_by("path"))
    if not present:
        return None
    parts = [ZipPart(f"{folder}/{file.path}", str(file.file.name), file.size) for file in present]
    return ZipBundle(f"{folder}.zip", parts, "".join(f"{folder}/{file.path} {file.sha256}\n" for file in present))
