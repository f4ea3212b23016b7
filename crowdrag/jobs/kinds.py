"""Kinds of runs. Each app registers its own in `AppConfig.ready`."""

import uuid
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils import formats, timezone
from django.utils.functional import Promise

from crowdrag.studies.models import Study

from .enums import Queue
from .models import Run, Unit

Effect = Callable[[], None]


class InputRejectedError(Exception):
    """The input is invalid: the run fails at once, nothing is retried, and the problems are shown as a table.

    Each problem is a dict with any of `file`, `line`, `field`, `expected`, `message`.

    Attributes
    ----------
    is_final
        whether the same input would be rejected again, such as an invalid file: then the run cannot be resumed. A run
        that stopped for lack of budget, permission or a model can be resumed once that is changed.
    """

    def __init__(self, problems: Iterable[dict[str, Any]], *, is_final: bool = False):
        self.problems = list(problems)
        self.is_final = is_final
        super().__init__(f"The input was rejected: {len(self.problems)} problems.")


class RunCancelledError(Exception):
    """The run was cancelled, or another worker has taken the unit over: stop, since no result of it will be kept."""


class MakesWayError(RunCancelledError):
    """The run is in the background, and another run of its queue waits: the unit is given back for later.

    Parts of its effect that were kept, and the answers of models, stay stored.
    """


class UnknownKindError(LookupError):
    """No app registered this kind."""

    def __init__(self, name: str):
        super().__init__(
            f"There is no kind of run called {name!r}. Registered are: {', '.join(sorted(_kinds)) or 'none'}."
        )


@dataclass
class Work:
    """The argument of a kind's `work`: the run, the unit, and methods to report progress."""

    run: Run
    unit: Unit
    reporter: Callable[[int, int, str], None] = field(repr=False, default=lambda _done, _total, _message: None)
    keeper: Callable[[Effect], None] = field(repr=False, default=lambda effect: effect())
    checker: Callable[[], None] = field(repr=False, default=lambda: None)

    def report(self, done: int, total: int, message: str = "") -> None:
        """Report progress. Cheap: call it as often as you like.

        Raises
        ------
        RunCancelledError
            when the run was cancelled or the unit taken over. Do not catch it.
        """
        self.reporter(done, total, message)

    def check(self) -> None:
        """Raise if the work must stop, without reporting progress: for work that waits for something else.

        Raises
        ------
        RunCancelledError
            As `report`.
        """
        self.checker()

    def keep(self, effect: Effect) -> None:
        """Apply a part of the effect now, in its own transaction, if it should not be kept in memory for long.

        If the unit is worked on again, this part is applied again, so it must be idempotent (insert missing rows). Like
        the effect at the end it is kept only if this claim still holds the unit.

        Raises
        ------
        Exception
            when the unit was taken over or the run cancelled. Do not catch it.
        """
        self.keeper(effect)


@dataclass(frozen=True)
class LaterUnit:
    """A planned unit of a later stage: it waits until all units of earlier stages are done."""

    stage: int
    payload: dict[str, Any] = field(default_factory=dict)


def one_unit(_run: Run) -> Iterable[dict[str, Any]]:
    """Plan a run whose work is one unit."""
    return [{}]


@dataclass(frozen=True)
class Link:
    """A link to a page, shown as a button."""

    label: str
    url: str


@dataclass(frozen=True)
class Kind:
    """A kind of run.

    Attributes
    ----------
    name
        its permanent name, such as `import.crowdrag25`.
    plan
        payloads of the units, called in the transaction that creates them; may set the run's `inputs_digest`. A unit
        that needs results of others is a `LaterUnit`.
    work
        the long part of a unit: computes, reads, calls models, and writes nothing to the database. It returns the
        effect, or None if there is none. The effect runs in the transaction that marks the unit done: exactly once,
        or never.
    finish
        called in the transaction that marks the run done, when all its units are. Keep it short: it locks the run's
        row.
    result_url
        the page of the result.
    result_label
        the label of the link to that page.
    is_automatic
        whether its runs start by themselves: an overview leaves them out.
    leads_on
        whether a person who waits for the run is sent to the page of the result, unless there are warnings.
    internal
        names in the summary that are for programs, not for the page.
    summary_labels
        names in the summary with their labels, if they differ.
    warnings
        what a person should check in the result of a run that is done, in sentences.
    restarts
        pages on which a run whose input was rejected can be started again.
    describe
        the run's parameters for display (`label_parameters`): their labels, and their values in words; names instead of
        primary keys. Kinds without it have no parameters.
    wants_more
        whether a process may begin another unit while it works on this one: what this one waits for, such as a model
        server, takes more than it sends. Kinds without it are worked on one unit at a time (`overlap`).
    subjects
        what runs of this kind are about, in words, by the run's primary key: a campaign, a model, a file. It needs as
        many queries for many runs as for one. Kinds without it are about the whole study.
    """

    name: str
    title: str | Promise
    work: Callable[[Work], Effect | None]
    queue: str = Queue.DEFAULT
    plan: Callable[[Run], Iterable[dict[str, Any] | LaterUnit]] = one_unit
    finish: Callable[[Run], None] | None = None
    result_url: Callable[[Run], str | None] | None = None
    result_label: str = "View result"
    leads_on: bool = False
    is_automatic: bool = False
    internal: tuple[str, ...] = ()
    summary_labels: tuple[tuple[str, str], ...] = ()
    warnings: Callable[[Run], list[str]] | None = None
    restarts: Callable[[Run], list[Link]] | None = None
    describe: Callable[[Run], dict[str, Any]] | None = None
    wants_more: Callable[[Unit], bool] | None = None
    subjects: Callable[[Sequence[Run]], Mapping[int, str]] | None = None


_kinds: dict[str, Kind] = {}


def register(kind: Kind) -> Kind:
    """Add a kind; called once from an app's `ready`."""
    if kind.queue not in Queue.values:
        raise ValueError(f"{kind.name}: there is no queue {kind.queue!r}; choose one of {', '.join(Queue.values)}.")
    if kind.name in _kinds and _kinds[kind.name] != kind:
        raise ValueError(f"There is a kind of run called {kind.name!r} already.")
    _kinds[kind.name] = kind
    return kind


def get(name: str) -> Kind:
    """Return the kind of this name."""
    try:
        return _kinds[name]
    except KeyError:
        raise UnknownKindError(name) from None


def automatic() -> list[str]:
    """Return the names of the kinds whose runs start by themselves."""
    return [kind.name for kind in _kinds.values() if kind.is_automatic]


def find(name: str) -> Kind | None:
    """Return the kind of this name; None if no app registers it any more."""
    return _kinds.get(name)


def title(name: str) -> str:
    """Return a kind's title; its name if no app registers it any more."""
    return str(_kinds[name].title) if name in _kinds else name


def subjects(runs: Iterable[Run]) -> dict[int, str]:
    """Return what runs are about, in words, by primary key; runs about the whole study are left out."""
    by_kind: dict[str, list[Run]] = {}
    for run in runs:
        by_kind.setdefault(run.kind, []).append(run)
    named: dict[int, str] = {}
    for name, alike in by_kind.items():
        if (kind := _kinds.get(name)) is not None and kind.subjects is not None:
            named.update(kind.subjects(alike))
    return named


def run_reference(run: Run) -> str:
    """Return the name of a run for references from another one: its title, and when it ended."""
    at = run.finished_at or run.created_at
    when = formats.date_format(timezone.localtime(at), "DATETIME_FORMAT")
    return f"{title(run.kind)} of {when}, seed {run.seed}"


def run_reference_by_key(study: Study, key: Any) -> str:
    """Return the name of a study's run by its key; the key itself if the run is gone."""
    try:
        run = Run.objects.filter(study=study, key=uuid.UUID(str(key))).first()
    except ValueError:
        run = None
    return str(key) if run is None else run_reference(run)


def choice_label(choices: Iterable[tuple[Any, str | Promise]]) -> Callable[[Any], Any]:
    """Return a function that replaces a value with the label of its choice, and leaves other values unchanged."""
    words = dict(choices)
    return lambda value: str(words.get(value, value))


def label_parameters(
    parameters: Mapping[str, Any],
    *,
    labels: Mapping[str, str | Promise],
    words: Mapping[str, Callable[[Any], Any]] | None = None,
    hidden: Collection[str] = ("seed",),
) -> dict[str, Any]:
    """Return a run's parameters by label, in the order of `labels`.

    `words` turns a value into words (a name instead of a primary key) and returns unknown values unchanged. Parameters
    without a label come last, under their own name. The seed is shown on the page of every run.
    """
    words = words or {}

    def shown(name: str) -> Any:
        value = parameters[name]
        return words[name](value) if name in words and value is not None else value

    labelled = {str(label): shown(name) for name, label in labels.items() if name in parameters}
    return labelled | {name: shown(name) for name in parameters if name not in labels and name not in hidden}
