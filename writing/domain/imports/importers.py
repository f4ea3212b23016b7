"""What can be imported: each app registers its importers; each is a kind of run, a command and a page."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from crowdrag.jobs import erasure, kinds, lifecycle, run_files
from crowdrag.jobs.models import Run, Upload
from crowdrag.studies.models import Study, User

from . import inputs
from .inputs import Inputs
from .problems import BadInput, Problems
from .reading import Report

Text = str | Promise
Options = Mapping[str, Any]
STRICT = "strict"
#: What the options of imports are called.
OPTIONS = {
    "depth": _("Passages per topic"),
    "style": _("Style"),
    STRICT: _("Refuse files with faulty rows"),
}


@dataclass(frozen=True)
class Input:
    """A file that an import asks for."""

    role: str
    label: Text
    help: Text = ""
    many: bool = False


@dataclass(frozen=True)
class Stored:
    """What an import came to: its figures, and the faults of single rows that it went on without."""

    summary: dict[str, Any]
    faults: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Importer:
    """One kind of import.

    Attributes
    ----------
    name
        its name in commands and addresses; the run's kind is `import.` and the name.
    read
        reads and checks, and touches no database: (inputs, options, problems, report) -> what was read.
    store
        stores that in one transaction: (study, what was read, now) -> what it came to.
    options
        options of its form and command, by name. One with `strict` sets faulty rows aside unless it is asked not to.
    of_people
        whether its files may hold what people who take part gave: these go when somebody has that erased.
    template
        the part of its page that shows the format.
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

    @property
    def kind(self) -> str:
        """The name of its kind of run."""
        return f"import.{self.name}"


_importers: dict[str, Importer] = {}


class UnknownImporter(LookupError):  # noqa: N818 -- reads as the sentence that it is
    """There is no such kind of import."""


def register(importer: Importer) -> None:
    """Add a kind of import; called once from an app's `ready`."""
    _importers[importer.name] = importer
    kinds.register(
        kinds.Kind(
            name=importer.kind,
            title=importer.title,
            work=_worker(importer),
            result_url=_result_url,
            told=partial(describe, importer),
        )
    )


def every() -> list[Importer]:
    """Return all kinds of import in the order in which pages list them."""
    return sorted(_importers.values(), key=lambda importer: (importer.order, importer.name))


def get(name: str) -> Importer:
    """Return the importer of this name."""
    try:
        return _importers[name]
    except KeyError:
        raise UnknownImporter(f"There is no import called {name}; there are {', '.join(sorted(_importers))}.") from None


def start(
    *,
    study: Study,
    importer: Importer,
    files: Mapping[str, Any],
    options: Options | None = None,
    by: User | None = None,
    now: datetime | None = None,
) -> Run:
    """Start an import of files by role: each a path of this machine, or a list of uploaded files to be kept."""
    given: list[dict[str, Any]] = []
    for role, value in files.items():
        if isinstance(value, list):
            kept = [run_files.store_upload(study=study, source=file, name=file.name, by=by, now=now) for file in value]
            given += [{"role": role, "upload": upload.pk} for upload in kept]
        else:
            given.append({"role": role, "path": str(value)})
    return lifecycle.start(
        study=study, kind=importer.kind, parameters={"inputs": given, **(options or {})}, by=by, now=now
    )


def describe(importer: Importer, run: Run) -> dict[str, Any]:
    """Return a run's parameters in words: the names of its files, by what each is, and its options."""
    given = run.parameters.get("inputs") or []
    keys = [file["upload"] for file in given if "upload" in file]
    names = dict(Upload.objects.filter(study=run.study_id, pk__in=keys).values_list("pk", "name"))
    files: dict[str, list[str]] = {}
    labels = {wanted.role: str(wanted.label) for wanted in importer.inputs}
    for file in given:
        name = names.get(file["upload"], str(_("removed"))) if "upload" in file else file["path"]
        files.setdefault(labels.get(file["role"], file["role"]), []).append(name)
    return files | kinds.label_parameters(run.parameters, labels=OPTIONS, hidden=("inputs",))


def erase_uploads(*, study: Study, now: datetime) -> None:
    """Remove the files that were handed in for imports of what people gave: somebody has theirs erased."""
    kinds_of_people = [importer.kind for importer in _importers.values() if importer.of_people]
    erasure.erase_uploads(study=study, kinds=kinds_of_people, now=now)


def _worker(importer: Importer) -> Callable[[kinds.Work], kinds.Effect]:
    def work(unit: kinds.Work) -> kinds.Effect:
        problems = Problems(sets_aside=STRICT in importer.options and not unit.run.parameters.get(STRICT))
        try:
            with inputs.opened(unit.run, problems) as files:
                found = importer.read(files, unit.run.parameters, problems, unit.report)
                problems.refuse_any()
                digest = files.digest()
        except BadInput as refused:
            raise kinds.InputRejectedError(refused.as_rows(), is_final=True) from refused

        def effect() -> None:
            try:
                stored = importer.store(unit.run.study, found, timezone.now())
            except BadInput as refused:
                raise kinds.InputRejectedError(refused.as_rows(), is_final=True) from refused
            lifecycle.note(run=unit.run, summary=_told(stored.summary), inputs_digest=digest, problems=stored.faults)

        return effect

    return work


def _told(summary: dict[str, Any]) -> dict[str, Any]:
    """Return a summary as its run keeps it: what was made among the rest, and nothing that says nothing."""
    flat = {**summary.get("made", {}), **{name: value for name, value in summary.items() if name != "made"}}
    told = {}
    for name, value in flat.items():
        kept = {key: part for key, part in value.items() if part} if isinstance(value, dict) else value
        if kept:
            told[name] = kept
    return told


def _result_url(run: Run) -> str:
    return reverse("study", args=[run.study.slug])
