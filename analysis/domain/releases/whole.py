"""A release as one ZIP: what is still given out of it, in a folder of its name."""

from dataclasses import dataclass

from crowdrag.jobs.file_storage import ZipPart

from ...models import Release


@dataclass(frozen=True)
class Whole:
    """What goes into the ZIP of a release; `tag` tells it from what was given out when more or less was there."""

    name: str
    parts: list[ZipPart]
    tag: str


def of(release: Release) -> Whole | None:
    """Return all files of a release that were not taken out of it; None where there are none."""
    folder = f"{release.study.slug}-v{release.number}"
    there = list(release.files.filter(removed_at__isnull=True).order_by("path"))
    if not there:
        return None
    parts = [ZipPart(f"{folder}/{file.path}", str(file.file.name), file.size) for file in there]
    return Whole(f"{folder}.zip", parts, "".join(f"{folder}/{file.path} {file.sha256}\n" for file in there))
