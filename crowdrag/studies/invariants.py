"""Invariants of the data, checked read-only while the system runs.

Each app registers its own in `AppConfig.ready`; `manage.py check_invariants` checks them all. An invariant that a
constraint enforces is checked as well: a constraint may be missing.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from django.db import connection, transaction

# Examples reported for a violated invariant.
MAX_EXAMPLES = 20


@dataclass
class Tally:
    """How many rows were checked, and what is wrong with some of them."""

    checked: int = 0
    broken: int = 0
    examples: list[str] = field(default_factory=list)

    def saw(self, count: int = 1) -> None:
        """Count rows that were checked."""
        self.checked += count

    def wrong(self, what: str) -> None:
        """Count one of them as invalid, and record what is wrong with it."""
        self.broken += 1
        if len(self.examples) < MAX_EXAMPLES:
            self.examples.append(what)


Check = Callable[[Tally], None]


@dataclass(frozen=True)
class Invariant:
    """A condition that must hold: its name, its statement in one sentence, and its check."""

    name: str
    says: str
    check: Check


_invariants: dict[str, Invariant] = {}


def register(invariant: Invariant) -> None:
    """Add an invariant; called once from an app's `ready`."""
    _invariants[invariant.name] = invariant


def names() -> list[str]:
    """Return the names of all invariants, in order of registration."""
    return list(_invariants)


def check(check_names: list[str] | None = None) -> Iterator[tuple[Invariant, Tally]]:
    """Check the named invariants, or all; yield each with its tally. Each check sees one snapshot of the data.

    Raises
    ------
    KeyError
        for an unknown name.
    """
    for invariant in [_invariants[name] for name in check_names or names()]:
        tally = Tally()
        with transaction.atomic():
            # A test's transaction has already begun, and its isolation level cannot be changed.
            if not connection.savepoint_ids:
                with connection.cursor() as cursor:
                    cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            invariant.check(tally)
        yield invariant, tally
