"""Files of runs: artifacts that runs create, and uploads that runs read."""

import uuid
from datetime import datetime
from functools import partial
from pathlib import Path, PurePath

from django.core.files.base import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone

from crowdrag.studies.models import Study, User

from . import completion, file_storage
from .enums import RunState
from .models import Artifact, Run, Upload


@transaction.atomic
def publish_artifact(
    *,
    run: Run,
    name: str,
    path: Path | str,
    media_type: str = "application/octet-stream",
    now: datetime | None = None,
) -> Artifact:
    """Move a finished local file to its final name; it is listed when the surrounding transaction commits.

    For effects. A file published again under the same name replaces the earlier one. The storage path contains the
    digest, so a worker that died after moving the file and before the commit leaves nothing that is in the way.

    Raises
    ------
    ValueError
        if the name is not a valid file name.
    """
    if name in {"", ".", ".."} or "/" in name or "\\" in name:
        raise ValueError(f"{name!r} is no name of a file: leave folders out.")
    path = Path(path)
    size, sha256 = file_storage.file_digest(path)
    completion.lock_run(run.pk)  # two units may publish the same name at once
    earlier = Artifact.objects.filter(run=run, name=name).first()
    stored = f"runs/{run.key}/{sha256[:16]}/{name}"
    file_storage.move_in(default_storage, path=path, name=stored)
    artifact, _created = Artifact.objects.update_or_create(
        run=run,
        name=name,
        defaults={
            "media_type": media_type,
            "size": size,
            "sha256": sha256,
            "file": stored,
            "created_at": now or timezone.now(),
        },
    )
    if earlier is not None and earlier.file.name != stored:
        transaction.on_commit(partial(default_storage.delete, str(earlier.file.name)))
    return artifact


def store_upload(
    *,
    study: Study,
    source: "File[bytes] | Path",
    name: str | None = None,
    by: User | None = None,
    now: datetime | None = None,
) -> Upload:
    """Store an uploaded or local file as a stream; a file of any size takes little memory."""
    # The name is for display only; the storage path does not depend on it.
    printable = "".join(sign for sign in PurePath(name or source.name or "").name if sign.isprintable())
    shown = printable[-255:] if printable.strip(". ") else "upload"
    stored_as = f"uploads/{study.pk}/{uuid.uuid4().hex}"
    if isinstance(source, Path):
        with source.open("rb") as file:
            stored = file_storage.stream_in(default_storage, chunks=file_storage.read_chunks(file), name=stored_as)
    else:
        stored = file_storage.stream_in(default_storage, chunks=source.chunks(file_storage.CHUNK), name=stored_as)
    return Upload.objects.create(
        study=study,
        name=shown,
        size=stored.size,
        sha256=stored.sha256,
        file=stored.name,
        uploaded_by=by,
        uploaded_at=now or timezone.now(),
    )


def discard_upload(upload: Upload) -> None:
    """Remove an uploaded file."""
    transaction.on_commit(partial(default_storage.delete, str(upload.file.name)))
    upload.delete()


def reusable_uploads(study: Study) -> list[Upload]:
    """Return a study's files that another run may read, newest first: each content once, without rejected ones."""
    used: set[int] = set()
    refused: set[int] = set()
    for run in Run.objects.filter(study=study, state__in=[RunState.DONE, RunState.FAILED]).order_by("id"):
        if run.state == RunState.DONE:
            used |= _read_by(run)
        elif run.is_rejected:
            refused |= _read_by(run)
    by_digest: dict[str, Upload] = {}
    for upload in Upload.objects.filter(study=study).order_by("-uploaded_at", "-pk"):
        if upload.pk not in refused - used:
            by_digest.setdefault(upload.sha256, upload)
    return list(by_digest.values())


def _read_by(run: Run) -> set[int]:
    """Return the uploads that a run's parameters refer to."""
    inputs = run.parameters.get("inputs") or []
    collection = run.parameters.get("collection") or {}
    return {entry["upload"] for entry in [*inputs, collection] if isinstance(entry, dict) and entry.get("upload")}
