"""Kinds of runs: each app registers what it can do for long, in its `AppConfig.ready`."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from django.utils.functional import Promise

from .enums import Queue
from .models import Run, Unit

Effect = Callable[[], None]


class Rejected(Exception):  # noqa: N818 -- it says what became of the input
    """The input is bad: the run fails at once, nothing is retried, and the problems are shown as a table.

    Each problem is a dict with any of `file`, `line`, `field`, `expected`, `message`.
    """

    def __init__(self, problems: Iterable[dict[str, Any]]):
        self.problems = list(problems)
        super().__init__(f"The input was rejected: {len(self.problems)} problems.")


class Cancelled(Exception):  # noqa: N818 -- it says what became of the run
    """The run was cancelled, or another worker has taken the unit over: stop, nothing of it will be kept."""


class UnknownKind(LookupError):  # noqa: N818 -- reads as the sentence that it is
    """No app registered this kind."""

    def __init__(self, name: str):
        super().__init__(
            f"There is no kind of run called {name!r}. Registered are: {', '.join(sorted(_kinds)) or 'none'}."
        )


@dataclass
class Work:
    """What a kind's `work` gets: the run, the unit, and a way to tell how far it is."""

    run: Run
    unit: Unit
    reporter: Callable[[int, int, str], None] = field(repr=False, default=lambda _done, _total, _message: None)
    keeper: Callable[[Effect], None] = field(repr=False, default=lambda effect: effect())
    checker: Callable[[], None] = field(repr=False, default=lambda: None)

    def report(self, done: int, total: int, message: str = "") -> None:
        """Tell how far the unit is. Cheap: call it as often as you like.

        Raises
        ------
        Cancelled
            when the run was cancelled or the unit taken over. Let it pass.
        """
        self.reporter(done, total, message)

    def check(self) -> None:
        """Raise where it is time to stop, without telling anything: for work that waits for somebody else.

        Raises
        ------
        Cancelled
            As `report`.
        """
        self.checker()

    def keep(self, effect: Effect) -> None:
        """Apply a part of the effect now, in a transaction of its own, for what is better not kept in hand for long.

        The unit may be worked on again, and then it is applied again: it must come to the same (insert what is
        missing). Like the effect at the end it is kept only if this claim still holds the unit.

        Raises
        ------
        Exception
            when the unit was taken over or the run cancelled. Let it pass.
        """
        self.keeper(effect)


@dataclass(frozen=True)
class Later:
    """A planned unit of a later stage: it waits until all units of earlier stages are done."""

    stage: int
    payload: dict[str, Any] = field(default_factory=dict)


def one_unit(_run: Run) -> Iterable[dict[str, Any]]:
    """Plan a run whose work is one unit."""
    return [{}]


@dataclass(frozen=True)
class Kind:
    """A kind of run.

    Attributes
    ----------
    name
        its name for good, as in `import.crowdrag25`.
    plan
        payloads of the units, called in the transaction that creates them; may set the run's `inputs_digest`. One that
        needs what others found is `Later`.
    work
        the long part of a unit: computes, reads, calls models, and writes nothing to the database. It returns the
        effect, or None if there is none. The effect runs in the transaction that marks the unit done: exactly once,
        or never.
    finish
        called in the transaction that marks the run done, when all its units are. Keep it short: it holds the run's
        row.
    result_url
        where to read the result.
    told
        the run's parameters as people read them: what it is called, and its value in words. Without it the keys of
        `Run.parameters` are shown as they are.
    """

    name: str
    title: str | Promise
    work: Callable[[Work], Effect | None]
    queue: str = Queue.DEFAULT
    plan: Callable[[Run], Iterable[dict[str, Any] | Later]] = one_unit
    finish: Callable[[Run], None] | None = None
    result_url: Callable[[Run], str | None] | None = None
    told: Callable[[Run], dict[str, Any]] | None = None


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
        raise UnknownKind(name) from None


def title(name: str) -> str:
    """Return a kind's title; its name where no app here knows it any more."""
    return str(_kinds[name].title) if name in _kinds else name
