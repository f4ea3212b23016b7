"""Import of an archive into an empty study, which then equals the exported study."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

import pgtrigger
from django.db import DataError, IntegrityError, transaction

from crowdrag.jobs.models import Upload
from crowdrag.studies.models import Study
from writing.corpus.imports import bulk, importers
from writing.corpus.imports.importers import Importer, Input, Inputs, Options, Stored
from writing.corpus.imports.json_lines import Report
from writing.corpus.imports.problems import BadInput, Problems

from . import archive_tables, reader, writer
from .archive_tables import STUDY, TABLES, ArchiveTable, is_referred_to, loaders
from .columns import Places
from .reader import Archive, open_archive

BATCH_ROWS = 1000
BATCH_CHARACTERS = 8 * 1024**2
# Key of a row that was read but not inserted yet.
PENDING = 0


@dataclass(frozen=True)
class ArchiveInput:
    """An uploaded archive, to be opened again when it is stored."""

    name: str
    open: Callable[[], IO[bytes]]
    rows: dict[str, int]

    @contextmanager
    def opened(self, problems: Problems, report: Report = lambda *_: None) -> Iterator[Archive]:
        """Open and verify it again: it may have changed since it was read."""
        with self.open() as file, open_archive(file, self.name, problems, report=report) as archive:
            yield archive


def read(files: Inputs, options: Options, problems: Problems, report: Report) -> ArchiveInput:
    """Verify an archive and check all its rows; the database of the study is not read.

    Raises
    ------
    BadInput
        With all problems of the archive.
    """
    inputs = options.get("inputs", [])
    if len(inputs) != 1:
        problems.add(file="", expected="one archive", message=f"there are {len(inputs)} files")
        problems.refuse_any()
    archive_input = _archive_input(inputs[0])
    with archive_input.opened(problems, report) as archive:
        return ArchiveInput(archive_input.name, archive_input.open, reader.check(archive, problems, report=report))


def _archive_input(handed_in: dict[str, Any]) -> ArchiveInput:
    if "path" in handed_in:
        path = Path(handed_in["path"])
        return ArchiveInput(path.name, lambda: path.open("rb"), {})
    upload = Upload.objects.get(pk=handed_in["upload"])
    storage, name = upload.file.storage, str(upload.file.name)
    # Django's File satisfies IO, but does not declare it.
    return ArchiveInput(upload.name, lambda: cast("IO[bytes]", storage.open(name, "rb")), {})


@transaction.atomic
def store(*, study: Study, archive_input: ArchiveInput) -> dict[str, Any]:
    """Fill an empty study with a checked archive, and return a summary; do nothing if the contents are already equal.

    Raises
    ------
    BadInput
        If the study has other contents; it is not changed.
    """
    bulk.lock_imports(study)
    problems = Problems()
    with archive_input.opened(problems) as archive:
        changed = is_empty(study)
        if changed:
            restore(archive, study=study)
        else:
            _refuse_other(study, archive)
    return {"made": archive_input.rows} if changed else {"held_already": archive_input.rows}


def _refuse_other(study: Study, archive: Archive) -> None:
    """Reject an archive that differs from the contents of the study."""
    content = writer.content(study, archive.version)
    held = archive_tables.of_version(archive.version)
    different = [
        table for table in held if archive.files[table.file_in(archive.version)].content_sha256 != content[table.name]
    ]
    different += [table for table in TABLES if table not in held and table.rows(study).exists()]
    if different:
        problems = Problems()
        names = ", ".join(table.name for table in different)
        problems.add(
            file=different[0].file,
            expected="an empty study, because an archive is imported as a whole",
            message=f"the study already has other rows in {names}",
        )
        raise BadInput(problems.found)


def is_empty(study: Study) -> bool:
    """Return whether a study has no rows in any table."""
    return not any(table.rows(study).exists() for table in TABLES)


def restore(archive: Archive, *, study: Study) -> None:
    """Fill an empty study with the contents of a verified archive; the caller holds the study's row lock.

    Raises
    ------
    BadInput
        If a row violates a constraint of the database.
    """
    places, problems = Places(), Problems()
    for _line, data in reader.rows(STUDY, archive, places, problems):
        Study.objects.filter(pk=study.pk).update(**data)
    for table in archive_tables.of_version(archive.version)[1:]:
        _restore_table(table, archive, study, places, problems)
    problems.refuse_any()
    reader.check_integrity(study, places, problems)
    problems.refuse_any()


def _restore_table(table: ArchiveTable, archive: Archive, study: Study, places: Places, problems: Problems) -> None:
    places.begin(table.name)
    convert = loaders(table, study, places)
    sources = [column.source for column in table.columns]
    names = [column.name for column in table.columns]
    fixed = {"study": study} if table.path == "study" else {}
    keeps = is_referred_to(table.name)
    keep = partial(places.settle, table.name) if keeps else lambda _pks: None
    batch: list[Any] = []
    size = 0
    for line, data in reader.rows(table, archive, places, problems):
        if any((data[name] or 0) >= line - len(batch) for name in table.own_references):
            # The row refers to one that has no key yet.
            _insert(table, batch, line - 1, keep)
            batch, size = [], 0
        values = {source: load(data[name]) for source, name, load in zip(sources, names, convert, strict=True)}
        batch.append(table.model(**fixed, **values))
        if keeps:
            places.add(table.name, PENDING)
        size += sum(len(value) for value in data.values() if isinstance(value, str | bytes))
        if len(batch) >= BATCH_ROWS or size >= BATCH_CHARACTERS:
            _insert(table, batch, line, keep)
            batch, size = [], 0
    _insert(table, batch, archive.files[table.file_in(archive.version)].rows, keep)
    bulk.analyse(table.model)


def _ignoring(table: ArchiveTable) -> AbstractContextManager[None]:
    # `pgtrigger.ignore` without arguments ignores all triggers.
    return pgtrigger.ignore(*table.ignores) if table.ignores else nullcontext()


def _insert(table: ArchiveTable, batch: list[Any], last_line: int, keep: Callable[[list[int]], None]) -> None:
    """Insert rows in order, and record their keys."""
    try:
        with _ignoring(table), transaction.atomic():
            inserted = table.model._default_manager.bulk_create(batch)
    except (IntegrityError, DataError) as error:
        problems = Problems()
        message = f"a row from line {last_line - len(batch) + 1} on breaks a rule: {str(error).splitlines()[0]}"
        problems.add(file=table.file, line=last_line, expected="consistent rows", message=message)
        raise BadInput(problems.found) from error
    keep([row.pk for row in inserted])


def _store(study: Study, archive_input: ArchiveInput, _now: datetime) -> Stored:
    return Stored(store(study=study, archive_input=archive_input))


def register() -> None:
    """Register the import of archives as a run kind, a command and a page."""
    importers.register(
        Importer(
            name="archive",
            title="Archive",
            description="A complete exported study. You need an empty study.",
            inputs=(Input("file", "Archive", "One zip file, as exported"),),
            read=read,
            store=_store,
            template="analysis/archive/_import.html",
            order=90,
        )
    )
