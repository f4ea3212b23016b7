"""Exports as runs: a package is written to a temporary path, and renamed when it is complete."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from crowdrag.jobs import kinds, lifecycle, run_files
from crowdrag.jobs.models import Artifact, Run
from crowdrag.studies.models import Study, User
from writing.corpus.formats import format_registry
from writing.corpus.formats.values import Content

from ..inputs import snapshots
from . import answers_release, crowdrag25_release, importer, writer
from .writer import Package, digest_of

#: Formats of RAG evaluation in which the study's answers are exported.
ANSWER_FORMATS = format_registry.of_content(Content.REPORTS)
MEDIA_TYPE = "application/zip"
# Writers by the name of the format in commands and on pages.
WRITERS: dict[str, Callable[[Package, kinds.Work], dict[str, Any]]] = {
    "archive": writer.write,
    "crowdrag25": crowdrag25_release.write,
    **{each.name: partial(answers_release.write, format_=each) for each in ANSWER_FORMATS},
}
# Formats that cannot hold a whole study; the summary of their runs counts what is left out.
INCOMPLETE = WRITERS.keys() - {"archive"}
LEFT_OUT = "left_out"


def kind_of(format_: str) -> str:
    """Return the run kind of exports in a format."""
    return f"export.{format_}"


def start(*, study: Study, format_: str, by: User | None = None, now: datetime | None = None) -> Run:
    """Start an export of a study in one of the formats of `WRITERS`."""
    return lifecycle.start(study=study, kind=kind_of(format_), by=by, now=now)


def finished(study: Study) -> "QuerySet[Artifact]":
    """Return the study's downloadable exports, the latest first."""
    runs = [kind_of(format_) for format_ in WRITERS]
    return (
        Artifact.objects.filter(run__study=study, run__kind__in=runs)
        .select_related("run")
        .order_by("-created_at", "-id")
    )


def at_work(study: Study) -> "QuerySet[Run]":
    """Return the study's exports in progress."""
    return Run.objects.filter(study=study, kind__in=[kind_of(format_) for format_ in WRITERS]).active().newest_first()


def work(work: kinds.Work, *, format_: str) -> Callable[[], None]:
    """Write a package; the effect publishes it."""
    path = _place(work)
    try:
        with snapshots.repeatable_read(), Package(path) as package:
            manifest = WRITERS[format_](package, work)
            package.manifest(about(work.run, now=timezone.now()) | manifest)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    name = f"{work.run.study.slug}-{format_}.zip"
    summary: dict[str, Any] = {"rows": {file.path: file.rows for file in package.files}}
    if format_ in INCOMPLETE:
        summary[LEFT_OUT] = {entry["what"]: entry["count"] for entry in manifest["left_out"]}
    return partial(_publish, work.run, path, name, summary, digest_of(package.files))


def _publish(run: Run, path: Path, name: str, summary: dict[str, Any], digest: str) -> None:
    run_files.publish_artifact(run=run, name=name, path=path, media_type=MEDIA_TYPE)
    lifecycle.note(run=run, summary=summary, inputs_digest=digest)


def about(run: Run, *, now: datetime) -> dict[str, Any]:
    """Return the manifest's information about the study, the time, and the software."""
    study = run.study
    return {
        "created": now.isoformat(),
        "code_version": run.code_version,
        "study": {
            "slug": study.slug,
            "title": study.title,
            "language": study.language,
            "is_simulated": study.is_simulated,
        },
        "licence": writer.licences(study),
    }


def _place(work: kinds.Work) -> Path:
    """Return the path for this claim of the unit; remove files left by earlier, killed claims."""
    folder = Path(settings.DATA_DIR) / "tmp"
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob(f"export-{work.run.key}-*.partial"):
        left.unlink(missing_ok=True)
    return folder / f"export-{work.run.key}-{work.unit.fence}.partial"


def result_url(run: Run) -> str:
    """Return the URL of the list of exports."""
    return reverse("exports", args=[run.study.slug])


def register() -> None:
    """Register exports and the import of archives as run kinds when the app is ready."""
    titles = {"archive": "Export as archive", "crowdrag25": "Export as CrowdRAG-25"}
    titles |= {each.name: f"Export as {each.title}" for each in ANSWER_FORMATS}
    for format_ in WRITERS:
        kinds.register(
            kinds.Kind(
                name=kind_of(format_),
                title=titles[format_],
                work=partial(work, format_=format_),
                result_url=result_url,
            )
        )
    importer.register()
