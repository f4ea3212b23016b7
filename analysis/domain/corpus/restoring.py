"""The import of an archive into a study that is still empty: an equal study, or the study as it was."""

from collections.abc import Callable
from functools import partial
from typing import IO, Any, cast

from django.db import DataError, IntegrityError, transaction
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from crowdrag.runs import kinds
from crowdrag.runs.domain import running
from crowdrag.runs.models import Run, Upload
from crowdrag.studies.models import Study
from writing.domain.imports import storing
from writing.domain.imports.problems import BadInput, Problems

from . import archiving, checking, consistent
from .columns import Places
from .opening import Archive, opened
from .tables import STUDY, TABLES, ArchiveTable, is_referred_to, loaders

KIND = "import.archive"
BATCH_ROWS = 1000
BATCH_CHARACTERS = 8 * 1024**2


def work(work: kinds.Work) -> Callable[[], None]:
    """Verify and check the archive of the run's upload; the effect stores it, unless the study holds it already."""
    study = work.run.study
    upload = Upload.objects.get(pk=work.run.parameters["upload"], study=study)
    problems = Problems()
    try:
        with upload.file.open("rb") as file, opened(_bytes(file), upload.name, problems, report=work.report) as archive:
            counts = checking.check(archive, problems, report=work.report)
            is_equal = _is_equal(study, archive)
    except BadInput as bad:
        raise kinds.Rejected(bad.as_rows()) from bad
    if is_equal:
        return partial(running.note, run=work.run, summary={"rows": counts, "changed": False})
    return partial(_store_upload, work.run, upload, counts)


def _bytes(file: Any) -> IO[bytes]:
    # Django's File is one in all but name.
    return cast("IO[bytes]", file)


def _is_equal(study: Study, archive: Archive) -> bool:
    """Say whether a study holds exactly what an archive holds; refuse the archive if the study holds anything else."""
    with consistent.reading():
        if is_empty(study):
            return False
        content = archiving.content(study)
    given = {table.name: archive.files[table.file].content_sha256 for table in (STUDY, *TABLES)}
    different = [name for name, digest in content.items() if given[name] != digest]
    if different:
        raise _not_empty(f"it holds other rows than the archive in {', '.join(different)}")
    return True


def is_empty(study: Study) -> bool:
    """Say whether a study holds no row of any table yet."""
    return not any(table.rows(study).exists() for table in TABLES)


def _not_empty(message: str) -> BadInput:
    problems = Problems()
    problems.add(
        file="",
        expected="a study that is empty, or equal to the archive: an archive is taken in as a whole, into a new study",
        message=message,
    )
    return BadInput(problems.found)


def _store_upload(run: Run, upload: Upload, counts: dict[str, int]) -> None:
    """Store the archive: everything or nothing. It was checked; the study may have been filled meanwhile."""
    problems = Problems()
    try:
        with upload.file.open("rb") as file, opened(_bytes(file), upload.name, problems) as archive:
            restore(archive, study=run.study)
    except BadInput as bad:
        raise kinds.Rejected(bad.as_rows()) from bad
    running.note(run=run, summary={"rows": counts, "changed": True})


@transaction.atomic
def restore(archive: Archive, *, study: Study) -> None:
    """Fill an empty study with what a verified archive holds.

    Raises
    ------
    BadInput
        if the study is not empty, or a row breaks a rule of the database.
    """
    storing.hold(study)
    if not is_empty(study):
        raise _not_empty("it was filled in the meantime")
    places, problems = Places(), Problems()
    for _line, data in checking.rows(STUDY, archive, places, problems):
        Study.objects.filter(pk=study.pk).update(**data)
    for table in TABLES:
        _restore_table(table, archive, study, places, problems)
    problems.refuse_any()


def _restore_table(table: ArchiveTable, archive: Archive, study: Study, places: Places, problems: Problems) -> None:
    places.begin(table.name)
    convert = loaders(table, study, places)
    sources = [column.source for column in table.columns]
    names = [column.name for column in table.columns]
    own = {"study": study} if table.path == "study" else {}
    keep = partial(places.add, table.name) if is_referred_to(table.name) else lambda _pk: None
    batch: list[Any] = []
    size = 0
    for line, data in checking.rows(table, archive, places, problems):
        values = {source: load(data[name]) for source, name, load in zip(sources, names, convert, strict=True)}
        batch.append(table.model(**own, **values))
        size += sum(len(value) for value in data.values() if isinstance(value, str | bytes))
        if len(batch) >= BATCH_ROWS or size >= BATCH_CHARACTERS:
            _insert(table, batch, line, keep)
            batch, size = [], 0
    _insert(table, batch, archive.files[table.file].rows, keep)
    storing.analyse(table.model)


def _insert(table: ArchiveTable, batch: list[Any], last_line: int, keep: Callable[[int], None]) -> None:
    """Insert rows in their order, and note their keys in it."""
    try:
        with transaction.atomic():
            made = table.model._default_manager.bulk_create(batch)
    except (IntegrityError, DataError) as error:
        problems = Problems()
        message = f"a row from line {last_line - len(batch) + 1} on breaks a rule: {str(error).splitlines()[0]}"
        problems.add(file=table.file, line=last_line, expected="rows that go together", message=message)
        raise BadInput(problems.found) from error
    for row in made:
        keep(row.pk)


def result_url(run: Run) -> str:
    """Where the imported study is."""
    return reverse("study", args=[run.study.slug])


def register() -> None:
    """Make the import of archives known to the runs."""
    kinds.register(kinds.Kind(name=KIND, title=_("Import of an archive"), work=work, result_url=result_url))
