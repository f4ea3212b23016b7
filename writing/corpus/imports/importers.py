"""The registry of importers. Each app registers its own; each importer is a run kind, a command and a page."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, cast
from urllib.parse import urlencode

from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise

from crowdrag.jobs import erasure, kinds, lifecycle, run_files
from crowdrag.jobs.models import Run, Upload
from crowdrag.studies.models import Study, User

from ..responses import UNMATCHED
from . import file_formats, sources
from .csv_columns import ColumnRole
from .json_lines import Report
from .problems import BadInput, Problems
from .sources import Member

CHUNK = 1024**2


class Inputs:
    """Readable files by role."""

    def __init__(self, members: Mapping[str, Sequence[Member]], problems: Problems):
        self.members = members
        self.problems = problems

    def one(self, role: str) -> Member:
        """Return the only file of a role.

        Raises
        ------
        BadInput
            If there is not exactly one.
        """
        members = self.every(role)
        if any(member.name == file_formats.OFFICE_MEMBER for member in members):
            self.problems.add(file=role, message=file_formats.EXCEL)
            self.problems.refuse_any()
        if len(members) != 1:
            names = ", ".join(member.name for member in members[:5]) or "none"
            self.problems.add(file=role, expected="one file", message=f"there are {len(members)}: {names}")
            self.problems.refuse_any()
        return members[0]

    def every(self, role: str) -> list[Member]:
        """Return all files of a role, without those that the operating system left."""
        return [member for member in self.members.get(role, ()) if not sources.is_hidden(member.name)]

    def source(self) -> sources.Source:
        """Return the files of all roles, which can be found by name."""
        return sources.Source(member for members in self.members.values() for member in members)

    def digest(self) -> str:
        """Return the SHA-256 of all roles, names and contents."""
        whole = hashlib.sha256()
        for role in sorted(self.members):
            for member in sorted(self.members[role], key=lambda member: member.name):
                content = hashlib.sha256()
                with member.open() as file:
                    while chunk := file.read(CHUNK):
                        content.update(chunk)
                whole.update(f"{role}\0{member.name}\0{content.hexdigest()}\n".encode())
        return whole.hexdigest()


@contextmanager
def open_inputs(run: Run, problems: Problems) -> Iterator[Inputs]:
    """Open the files of a run. Its parameter `inputs` lists a role and a path or the number of an upload for each."""
    members: dict[str, list[Member]] = {}
    with ExitStack() as stack:
        for spec in run.parameters.get("inputs", []):
            opened = _of_path(spec, stack, problems) if "path" in spec else _of_upload(run, spec, stack, problems)
            members.setdefault(spec.get("role", ""), []).extend(opened)
        problems.refuse_any()
        yield Inputs(members, problems)


def _of_path(spec: Mapping[str, Any], stack: ExitStack, problems: Problems) -> list[Member]:
    path = Path(spec["path"])
    try:
        if path.is_dir():
            return list(sources.of_folder(path))
        file = stack.enter_context(path.open("rb"))
    except OSError as error:
        message = f"cannot be opened: {error.strerror}"
        problems.add(file=str(path), expected="a file or folder on the machine that works on it", message=message)
        return []
    return _looked_into(file, sources.of_path(path), stack, problems)


def _of_upload(run: Run, spec: Mapping[str, Any], stack: ExitStack, problems: Problems) -> list[Member]:
    upload = Upload.objects.filter(study=run.study, pk=spec["upload"]).first()
    if upload is None:
        problems.add(
            file="", expected="an uploaded file of this study", message="it is not there any more; upload it again"
        )
        return []
    member = member_of(upload)
    return _looked_into(stack.enter_context(member.open()), member, stack, problems)


def member_of(upload: Upload) -> Member:
    """Return an uploaded file as a readable member."""
    opener = partial(upload.file.storage.open, str(upload.file.name), "rb")
    return Member(upload.name, upload.size, lambda: cast("BinaryIO", opener()))


def _looked_into(file: BinaryIO, member: Member, stack: ExitStack, problems: Problems) -> list[Member]:
    """Return the members of an archive, or the file itself if it is not an archive."""
    if not sources.is_archive(file, member.name):
        return [member]
    return stack.enter_context(sources.of_archive(file, member.name, problems))


Text = str | Promise
Options = Mapping[str, Any]
STRICT, COLUMNS = "strict", "columns"
#: Options of files with columns: citation markers count from 1; each line of a passage's cell is a passage.
FROM_ONE, PASSAGE_LINES = "from_one", "passage_lines"
#: Options of answers: their format, the name of the system, and the columns of a data set.
FORMAT, SYSTEM, COLUMN_NAMES = "format", "system", "column_names"
#: The option to store nothing and say what would be stored.
DRY_RUN = "dry_run"
#: The run parameter with the time when an import stored its rows; all rows have this time.
STORED_AT = "stored_at"
#: The count of passages that were not added to topics of the study.
NOT_ADDED = "passages_not_added"
#: The run parameter of an import whose rows were deleted later.
DELETED = "deleted"
HIDDEN = ("inputs", STORED_AT, DELETED)
#: The labels of the options.
OPTIONS = {
    "depth": "Passages per topic",
    "style": "Style",
    STRICT: "Refuse files with faulty rows",
    COLUMNS: "Columns",
    FROM_ONE: "Citation markers count from 1",
    PASSAGE_LINES: "One passage per line",
    FORMAT: "Format of the answers",
    SYSTEM: "Name of the system",
    COLUMN_NAMES: "Columns of a data set",
    DRY_RUN: "Dry run",
}
#: The options that the page of the columns asks for.
COLUMN_OPTIONS = (FROM_ONE, PASSAGE_LINES)


@dataclass(frozen=True)
class Input:
    """A file that an importer needs."""

    role: str
    label: Text
    help: Text = ""
    many: bool = False


@dataclass(frozen=True)
class Stored:
    """The result of an import: its counts, and the faults of rows that were set aside."""

    summary: dict[str, Any]
    faults: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Importer:
    """One kind of import.

    Attributes
    ----------
    name
        The name in commands and URLs; the run's kind is `import.` and this name.
    read
        Reads and checks the files without the database: (inputs, options, problems, report) -> content.
    store
        Stores the content in one transaction: (study, content, now) -> `Stored`.
    options
        The options of its form and command, by name. An importer with `strict` sets faulty rows aside unless it is set.
    of_people
        Whether its files may contain participants' data: they are removed when a participant's data are erased.
    template
        The template of the page's description of the format.
    has_columns
        Whether users choose the role of each column before the import; otherwise column names determine the roles.
    is_deletable
        Whether the imported rows can be deleted later: they are only topics, responses and their participants.
    """

    name: str
    title: Text
    description: Text
    inputs: tuple[Input, ...]
    read: Callable[[Inputs, Options, Problems, Report], Any]
    store: Callable[[Study, Any, datetime], Stored]
    template: str
    options: tuple[str, ...] = ()
    order: int = 100
    of_people: bool = True
    has_columns: bool = False
    is_deletable: bool = False

    @property
    def kind(self) -> str:
        """The name of the run kind."""
        return f"import.{self.name}"


_importers: dict[str, Importer] = {}


class UnknownImporter(LookupError):  # noqa: N818 -- a plain description
    """There is no importer with this name."""


def register(importer: Importer) -> None:
    """Add an importer; called once by an app's `ready`."""
    _importers[importer.name] = importer
    kinds.register(
        kinds.Kind(
            name=importer.kind,
            title=importer.title,
            work=_worker(importer),
            result_url=result_url,
            describe=partial(describe, importer),
            subjects=subjects,
            warnings=warnings,
            restarts=partial(restarts, importer),
            result_label="Continue to Overview",
            leads_on=True,
        )
    )


def all_importers() -> list[Importer]:
    """Return all importers in the order of their page."""
    return sorted(_importers.values(), key=lambda importer: (importer.order, importer.name))


def get(name: str) -> Importer:
    """Return the importer with this name."""
    try:
        return _importers[name]
    except KeyError:
        raise UnknownImporter(
            f"There is no import called {name}. Available imports: {', '.join(sorted(_importers))}."
        ) from None


def start(
    *,
    study: Study,
    importer: Importer,
    files: Mapping[str, Any],
    options: Options | None = None,
    by: User | None = None,
    now: datetime | None = None,
) -> Run:
    """Start an import. `files` maps each role to local paths, an upload, or a list of files to upload."""
    inputs_kept: list[dict[str, Any]] = []
    for role, value in files.items():
        if isinstance(value, Upload):
            inputs_kept.append({"role": role, "upload": value.pk})
        elif isinstance(value, list) and all(isinstance(file, Path) for file in value):
            inputs_kept += [{"role": role, "path": str(file)} for file in value]
        elif isinstance(value, list):
            kept = [run_files.store_upload(study=study, source=file, name=file.name, by=by, now=now) for file in value]
            inputs_kept += [{"role": role, "upload": upload.pk} for upload in kept]
        else:
            inputs_kept.append({"role": role, "path": str(value)})
    return lifecycle.start(
        study=study, kind=importer.kind, parameters={"inputs": inputs_kept, **(options or {})}, by=by, now=now
    )


def describe(importer: Importer, run: Run) -> dict[str, Any]:
    """Describe a run's parameters for display: its file names by label, and its options."""
    inputs = run.parameters.get("inputs") or []
    keys = [file["upload"] for file in inputs if "upload" in file]
    names = dict(Upload.objects.filter(study=run.study_id, pk__in=keys).values_list("pk", "name"))
    files: dict[str, list[str]] = {}
    labels = {spec.role: str(spec.label) for spec in importer.inputs}
    for file in inputs:
        name = names.get(file["upload"], "removed") if "upload" in file else file["path"]
        files.setdefault(labels.get(file["role"], file["role"]), []).append(name)
    words = {COLUMNS: _describe_columns}
    return files | kinds.label_parameters(
        run.parameters, labels=OPTIONS, words=words, hidden=("inputs", STORED_AT, "deleted")
    )


def subjects(runs: Sequence[Run]) -> dict[int, str]:
    """Return the names of the files of each run, by the run's key."""
    inputs = {run.pk: run.parameters.get("inputs") or [] for run in runs}
    keys = [file["upload"] for files in inputs.values() for file in files if "upload" in file]
    uploads = Upload.objects.filter(study__in={run.study_id for run in runs}, pk__in=keys)
    names = dict(uploads.values_list("pk", "name"))

    def name(file: dict[str, Any]) -> str:
        return names.get(file["upload"], "") if "upload" in file else Path(file["path"]).name

    return {key: ", ".join(filter(None, map(name, files))) for key, files in inputs.items()}


def _describe_columns(roles: Mapping[str, str]) -> str:
    """Describe the imported columns and their roles."""
    used = {column: ColumnRole(role) for column, role in roles.items() if role != ColumnRole.IGNORE}
    return "; ".join(f"{column}: {role.label}" for column, role in used.items())


def erase_uploads(*, study: Study, now: datetime) -> None:
    """Remove uploads that may contain participants' data, because a participant's data are erased."""
    kinds_of_people = [importer.kind for importer in _importers.values() if importer.of_people]
    erasure.erase_uploads(study=study, kinds=kinds_of_people, now=now)


def _worker(importer: Importer) -> Callable[[kinds.Work], kinds.Effect]:
    def work(unit: kinds.Work) -> kinds.Effect:
        problems = Problems(sets_aside=STRICT in importer.options and not unit.run.parameters.get(STRICT))
        try:
            with open_inputs(unit.run, problems) as files:
                content = importer.read(files, unit.run.parameters, problems, unit.report)
                problems.refuse_any()
                digest = files.digest()
        except BadInput as refused:
            raise kinds.InputRejectedError(refused.as_rows(), is_final=True) from refused

        def effect() -> None:
            now = timezone.now()
            try:
                stored = _tried(importer, unit.run, content, now) if unit.run.parameters.get(DRY_RUN) else None
                if stored is None:
                    stored = importer.store(unit.run.study, content, now)
                    unit.run.parameters[STORED_AT] = now.isoformat()
                    unit.run.save(update_fields=["parameters"])
            except BadInput as refused:
                raise kinds.InputRejectedError(refused.as_rows(), is_final=True) from refused
            lifecycle.note(run=unit.run, summary=_summary(stored.summary), inputs_digest=digest, problems=stored.faults)

        return effect

    return work


def _tried(importer: Importer, run: Run, content: Any, now: datetime) -> Stored:
    """Store the content, take it back, and return what was stored."""
    with transaction.atomic():
        stored = importer.store(run.study, content, now)
        transaction.set_rollback(True)
    return stored


def _summary(summary: dict[str, Any]) -> dict[str, Any]:
    """Flatten a summary for its run, without empty entries."""
    flat = {**summary.get("made", {}), **{name: value for name, value in summary.items() if name != "made"}}
    counts = {}
    for name, value in flat.items():
        kept = {key: part for key, part in value.items() if part} if isinstance(value, dict) else value
        if kept:
            counts[name] = kept
    return counts


def uploads_of(run: Run) -> set[int]:
    """Return the keys of the uploads that a run reads."""
    inputs = run.parameters.get("inputs") or []
    return {file["upload"] for file in inputs if isinstance(file, dict) and "upload" in file}


def warnings(run: Run) -> list[str]:
    """Return what a person should check after an import."""
    sentences = []
    if run.parameters.get(DRY_RUN):
        sentences.append("This was a dry run. Nothing was stored.")
    if count := run.summary.get(NOT_ADDED):
        passages = "1 passage was" if count == 1 else f"{count:,} passages were"
        sentences.append(
            f"{passages} not added, because a topic of the study keeps its passages. Import the answers of all systems "
            "at once, or import the topics with all passages first."
        )
    if count := run.summary.get(UNMATCHED):
        citations = "1 citation matches" if count == 1 else f"{count:,} citations match"
        sentences.append(f"{citations} no passage. Do your markers count from 1, or are passages missing?")
    return sentences


def restarts(importer: Importer, run: Run) -> list[kinds.Link]:
    """Return where an import can be started again with other settings or another file."""
    another = kinds.Link("Choose another file", reverse("import_form", args=[run.study.slug, importer.name]))
    uploads = sorted(uploads_of(run))
    if not importer.has_columns or len(uploads) != 1 or not Upload.objects.filter(pk=uploads[0]).exists():
        return [another]
    address = reverse("import_columns", args=[run.study.slug, importer.name, uploads[0]])
    query = urlencode({"style": run.parameters.get("style", "")})
    return [kinds.Link("Change columns", f"{address}?{query}"), another]


def result_url(run: Run) -> str:
    """Return the URL of the result."""
    return reverse("study", args=[run.study.slug])
