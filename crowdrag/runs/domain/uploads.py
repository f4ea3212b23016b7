"""Files that people hand in."""

import uuid
from datetime import datetime
from pathlib import Path, PurePath

from django.core.files.base import File
from django.core.files.storage import default_storage
from django.utils import timezone

from crowdrag.studies.models import Study, User

from ..models import Upload
from . import storing


def store(
    *,
    study: Study,
    source: "File[bytes] | Path",
    name: str | None = None,
    by: User | None = None,
    now: datetime | None = None,
) -> Upload:
    """Keep a file that was uploaded, or one of this machine, as a stream; a file of any size takes little memory."""
    # The name is for people; what is stored where does not depend on what somebody called it.
    printable = "".join(sign for sign in PurePath(name or source.name or "").name if sign.isprintable())
    shown = printable[-255:] if printable.strip(". ") else "upload"
    stored_as = f"uploads/{study.pk}/{uuid.uuid4().hex}"
    if isinstance(source, Path):
        with source.open("rb") as file:
            stored = storing.stream_in(default_storage, chunks=storing.read_chunks(file), name=stored_as)
    else:
        stored = storing.stream_in(default_storage, chunks=source.chunks(storing.CHUNK), name=stored_as)
    return Upload.objects.create(
        study=study,
        name=shown,
        size=stored.size,
        sha256=stored.sha256,
        file=stored.name,
        uploaded_by=by,
        uploaded_at=now or timezone.now(),
    )
