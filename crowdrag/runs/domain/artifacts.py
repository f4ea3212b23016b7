"""Files that runs make."""

from datetime import datetime
from functools import partial
from pathlib import Path

from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone

from ..models import Artifact, Run
from . import concluding, storing


@transaction.atomic
def publish(
    *,
    run: Run,
    name: str,
    path: Path | str,
    media_type: str = "application/octet-stream",
    now: datetime | None = None,
) -> Artifact:
    """Move a finished local file under its final name; it is listed when the surrounding transaction commits.

    For effects. Published again under the same name, it takes the earlier one's place. The file's place contains its
    digest, so a worker that died after moving it and before the commit leaves nothing that is in anybody's way.

    Raises
    ------
    ValueError
        if the name is none of a file.
    """
    if name in {"", ".", ".."} or "/" in name or "\\" in name:
        raise ValueError(f"{name!r} is no name of a file: leave folders out.")
    path = Path(path)
    size, sha256 = storing.digest(path)
    concluding.locked(run.pk)  # two units may publish the same name at once
    earlier = Artifact.objects.filter(run=run, name=name).first()
    stored = f"runs/{run.key}/{sha256[:16]}/{name}"
    storing.move_in(default_storage, path=path, name=stored)
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
