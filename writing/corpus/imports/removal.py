"""Delete the rows that an import created, as long as nothing else refers to them.

All topics, responses and participants of an import have the same storage time, which its run records. The database
protects rows that are in use: then nothing is deleted, and the run reports what refers to them.
"""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.db.models import Model, ProtectedError

from crowdrag.jobs import kinds, lifecycle, run_files
from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run, Upload
from crowdrag.studies.models import Participant, Study, User

from ...models import Passage, Response, RetrievedPassage, Topic
from . import bulk, importers
from .importers import DELETED, STORED_AT

KIND: Final = "import.delete"


class NotDeletableError(ValueError):
    """The rows of this import cannot be deleted; the message gives the reason."""


def deletable(study: Study) -> list[Run]:
    """Return the imports that can be deleted, latest first."""
    names = [importer.kind for importer in importers.all_importers() if importer.is_deletable]
    runs = Run.objects.filter(study=study, kind__in=names, state=RunState.DONE, parameters__has_key=STORED_AT)
    return list(runs.exclude(parameters__has_key=DELETED).select_related("created_by").newest_first())


def start(*, run: Run, by: User | None, now: datetime | None = None) -> Run:
    """Start to delete the rows of an import. If this has already been started, return the same run.

    Raises
    ------
    NotDeletableError
        If it is not a finished import of topics or responses, or if its rows are in use.
    """
    earlier = Run.objects.filter(study=run.study, kind=KIND, parameters__run=run.pk)
    if (same := earlier.exclude(state__in=(RunState.FAILED, RunState.CANCELLED)).first()) is not None:
        return same
    if run not in deletable(run.study):
        raise NotDeletableError("Only finished imports of topics and responses can be deleted.")
    with transaction.atomic():
        delete(run)
        transaction.set_rollback(True)
    return lifecycle.start(study=run.study, kind=KIND, parameters={"run": run.pk}, by=by, now=now)


@transaction.atomic
def delete(run: Run) -> dict[str, int]:
    """Delete the rows and files of an import; return the number of deleted rows of each kind.

    Raises
    ------
    NotDeletableError
        If the rows are in use; then nothing is deleted.
    """
    bulk.lock_imports(run.study)
    stored = {"study": run.study, "created_at": datetime.fromisoformat(run.parameters[STORED_AT])}
    topics = Topic.objects.filter(**stored)
    passages = list(RetrievedPassage.objects.filter(topic__in=topics).values_list("passage", flat=True).distinct())
    counts: Counter[str] = Counter()
    try:
        for rows in (Response.objects.filter(**stored, task__isnull=True), topics):
            counts.update(rows.delete()[1])
        counts.update(Passage.objects.filter(pk__in=passages, retrieved__isnull=True).delete()[1])
        people = Participant.objects.filter(**stored, responses__isnull=True)
        counts.update(people.filter(arrivals__isnull=True, consents__isnull=True).delete()[1])
    except ProtectedError as error:
        raise NotDeletableError(_reason(error.protected_objects)) from error
    return dict(counts)


def _reason(objects: Iterable[Model]) -> str:
    counts = Counter(str(row._meta.verbose_name_plural) for row in objects)
    users = ", ".join(f"{name} ({count})" for name, count in sorted(counts.items()))
    return f"This import cannot be deleted, because other data use it: {users}. Delete these first."


def work(unit: kinds.Work) -> kinds.Effect:
    """Delete in the effect; no preparation is needed."""
    imported = Run.objects.get(pk=unit.run.parameters["run"], study=unit.run.study)

    def effect() -> None:
        try:
            counts = delete(imported)
        except NotDeletableError as error:
            raise kinds.InputRejectedError([{"message": str(error)}], is_final=True) from error
        imported.parameters[DELETED] = True
        imported.save(update_fields=["parameters"])
        for upload in Upload.objects.filter(study=imported.study, pk__in=_uploads(imported)):
            run_files.discard_upload(upload)
        names = {"writing.Topic": "topics", "writing.Response": "responses", "writing.Passage": "passages"}
        summary = {name: counts[label] for label, name in names.items() if counts.get(label)}
        lifecycle.note(run=unit.run, summary=summary)

    return effect


def _uploads(run: Run) -> set[int]:
    """Return the uploads that only this import has read."""
    others = Run.objects.filter(study=run.study, kind__startswith="import.").exclude(pk=run.pk)
    return importers.uploads_of(run) - {key for other in others for key in importers.uploads_of(other)}


def describe(run: Run) -> dict[str, Any]:
    """Describe a run's parameters for display."""
    imported = Run.objects.filter(pk=run.parameters["run"]).first()
    return {"Import": kinds.title(imported.kind)} if imported else {}


def register() -> None:
    """Register the run kind; called once by an app's `ready`."""
    kinds.register(
        kinds.Kind(
            name=KIND, title="Deletion of an import", work=work, result_url=importers.result_url, describe=describe
        )
    )
