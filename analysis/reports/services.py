"""All files of a report as one ZIP, packed in a run because drawing all figures in all formats is slow."""

import uuid
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from crowdrag.jobs import kinds, lifecycle, run_files
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Artifact, Run, RunQuerySet
from crowdrag.studies.models import Study, User

from . import exports, report_kinds

KIND = "report"
MEDIA_TYPE = "application/zip"


def start(*, run: Run, by: User | None = None) -> Run:
    """Start packing the report of a finished analysis, or return the run that is already packing it."""
    return at_work(run) or lifecycle.start(study=run.study, kind=KIND, parameters={"analysis": str(run.key)}, by=by)


def at_work(run: Run) -> Run | None:
    """Return the active run that packs the report of an analysis."""
    return _of(run).active().newest_first().first()


def packed(run: Run) -> Artifact | None:
    """Return the latest ZIP of an analysis's report."""
    done = _of(run).filter(state=RunState.DONE)
    return Artifact.objects.filter(run__in=done).select_related("run").order_by("-created_at", "-id").first()


def all_at_work(study: Study) -> RunQuerySet:
    """Return the active runs that pack a report of a study."""
    return Run.objects.filter(study=study, kind=KIND).active().newest_first()


def all_packed(study: Study) -> "QuerySet[Artifact]":
    """Return all ZIPs of a study's reports."""
    return Artifact.objects.filter(run__study=study, run__kind=KIND).order_by("pk")


def work(work: kinds.Work) -> Callable[[], None]:
    """Write the ZIP; the effect publishes it."""
    analysis = _analysis(work.run)
    path = _place(work)
    try:
        exports.pack(analysis, path, report_progress=work.report)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    name = f"{analysis.study.slug}-report-{str(analysis.key)[:8]}.zip"
    return partial(_publish, work.run, path, name, analysis.inputs_digest)


def register() -> None:
    """Register the run kind when the app is ready."""
    kinds.register(
        kinds.Kind(
            name=KIND,
            title="Report files",
            work=work,
            result_url=result_url,
            describe=_describe_parameters,
            subjects=_subjects,
        )
    )


def result_url(run: Run) -> str:
    """Return the URL of the report."""
    key = run.parameters["analysis"]
    reported = Run.objects.filter(study=run.study, key=key).select_related("study").first()
    return report_kinds.of(reported).report_url(reported) if reported else ""


def _describe_parameters(run: Run) -> dict[str, Any]:
    key = run.parameters.get("analysis")
    return {"Report of": kinds.run_reference_by_key(run.study, key)}


def _subjects(runs: Sequence[Run]) -> dict[int, str]:
    keys = {run.pk: str(run.parameters["analysis"]) for run in runs if "analysis" in run.parameters}
    reported = {str(run.key): kinds.run_reference(run) for run in Run.objects.filter(key__in=keys.values())}
    return {run: reported.get(key, "") for run, key in keys.items()}


def _of(run: Run) -> RunQuerySet:
    return Run.objects.filter(study=run.study, kind=KIND, parameters__analysis=str(run.key))


def _analysis(run: Run) -> Run:
    try:
        key = uuid.UUID(str(run.parameters.get("analysis")))
        return Run.objects.select_related("study").get(study=run.study, key=key, state=RunState.DONE)
    except (ValueError, Run.DoesNotExist):
        raise kinds.InputRejectedError([{"message": "The analysis of this report no longer exists."}]) from None


def _publish(run: Run, path: Path, name: str, digest: str) -> None:
    run_files.publish_artifact(run=run, name=name, path=path, media_type=MEDIA_TYPE)
    lifecycle.note(run=run, inputs_digest=digest)


def _place(work: kinds.Work) -> Path:
    """Return the path for this claim of the unit; remove files left by earlier, killed claims."""
    folder = Path(settings.DATA_DIR) / "tmp"
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob(f"report-{work.run.key}-*.partial"):
        left.unlink(missing_ok=True)
    return folder / f"report-{work.run.key}-{work.unit.fence}.partial"
