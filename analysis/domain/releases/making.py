"""Making a release's files in a folder: what it holds (`contents`) is written in all formats (`formats`)."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.core.files.storage import default_storage
from django.utils.translation import gettext as _

from crowdrag.jobs.models import Run

from ...enums import PUBLIC_RELEASES
from ...models import Release, ReleaseFile
from . import previewing
from .choices import Choices
from .contents import reading
from .contents.reading import Contents
from .contents.table import Table
from .formats import about, changes, describing, writing

Report = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Made:
    """A release whose files lie in a folder, and what is to be listed of it."""

    tables: tuple[Table, ...]
    rows: dict[str, int]
    previews: dict[str, list[dict[str, Any]]]
    participants: tuple[int, ...]
    manifest: dict[str, Any]
    left_out: list[dict[str, Any]]
    figures: dict[str, Any]


def make(release: Release, folder: Path, *, report: Report) -> Made:
    """Write all files of a release into an empty folder. To be called in a consistent reading of the database.

    The same study and the same choices give the same bytes on the same day.
    """
    # How much there is to be written is known when it is written.
    report(0, 0, _("Looking at what may be released"))
    choices = Choices.from_json(release.choices)
    contents = reading.of(study=release.study, choices=choices, release=str(release.number))
    done: dict[str, int] = {}

    def told(table: str, rows: int) -> None:
        done[table] = rows
        report(sum(done.values()), 0, table)

    said = about_of(release, choices, contents)
    manifest = writing.write(
        folder, contents.tables, said, layout=contents.layout, left_out=contents.layout_left_out, report=told
    )
    rows = {table["name"]: table["rows"] for table in manifest["tables"]}
    return Made(
        tables=contents.tables,
        rows=rows,
        previews={table.name: previewing.preview(table) for table in contents.tables},
        participants=contents.participants,
        manifest=manifest,
        left_out=_left_out(contents),
        figures={
            "rows": rows,
            "people": len(contents.participants),
            "licences": list(contents.licences),
            "runs_digest": manifest["runs_digest"],
            "changes": _changes(said.previous, manifest),
        },
    )


def about_of(release: Release, choices: Choices, contents: Contents) -> about.About:
    """Return what a release says of itself."""
    run, study = release.run, release.study
    assert run is not None  # it is being built
    return about.About(
        slug=study.slug,
        version=release.number,
        title=release.title,
        # The day on which the building was ordered: whoever takes over from a killed worker makes the same files.
        released=run.created_at.date(),
        licence=choices.licence or study.text_licence,
        description=release.description or study.description,
        language=study.language,
        creators=tuple(about.Creator(**each) for each in release.creators),
        contact=study.contact,
        passage_terms=choices.passage_terms,
        address=run.parameters.get("address", ""),
        doi=release.doi,
        is_simulated=study.is_simulated,
        code_version=run.code_version,
        choices=choices,
        licences=contents.licences,
        left_out=contents.left_out,
        runs=tuple(_source(each) for each in contents.runs),
        changes=release.notes,
        previous=previous_manifest(release),
    )


def previous_manifest(release: Release) -> dict[str, Any] | None:
    """Return the manifest of the last version before this one that was published; None where there is none."""
    earlier = ReleaseFile.objects.filter(
        release__study=release.study_id,
        release__number__lt=release.number,
        release__state__in=PUBLIC_RELEASES,
        path=describing.MANIFEST,
        removed_at__isnull=True,
    )
    if (found := earlier.order_by("-release__number").first()) is None:
        return None
    with default_storage.open(str(found.file.name)) as file:
        manifest: dict[str, Any] = json.loads(file.read())
    return manifest


def _changes(before: dict[str, Any] | None, after: dict[str, Any]) -> dict[str, Any] | None:
    """Return what CHANGES.md says, for the page: since which version, and sentences of Markdown."""
    if before is None:
        return None
    return {"since": before.get("version"), "found": changes.compared(before, after)}


def _source(run: Run) -> about.Source:
    return about.Source(
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
        {"what": each.what, "reason": each.reason, "count": each.count, "format": format_}
        for format_, counted in parts
        for each in counted
    ]
