"""Invariants of the data, checked read-only while everything runs.

Each app registers its own in `AppConfig.ready`; `manage.py check_invariants` asks them all. An invariant that a
constraint keeps is checked as well: a constraint may be missing.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from django.db import connection, transaction

# What is said of one that does not hold.
MAX_EXAMPLES = 20


@dataclass
class Tally:
    """How many things were looked at, and what is wrong with some of them."""

    checked: int = 0
    broken: int = 0
    examples: list[str] = field(default_factory=list)

    def saw(self, count: int = 1) -> None:
        """Count things that were looked at."""
        self.checked += count

    def wrong(self, what: str) -> None:
        """Count one of them as broken, and keep what is wrong with it."""
        self.broken += 1
        if len(self.examples) < MAX_EXAMPLES:
            self.examples.append(what)


Check = Callable[[Tally], None]


@dataclass(frozen=True)
class Invariant:
    """Something that must hold: its name, what it says in one sentence, and how to look."""

    name: str
    says: str
    check: Check


_invariants: dict[str, Invariant] = {}


def register(invariant: Invariant) -> None:
    """Add an invariant; called once from an app's `ready`."""
    _invariants[invariant.name] = invariant


def names() -> list[str]:
    """Return the names of all invariants, in the order in which they were registered."""
    return list(_invariants)


def check(check_names: list[str] | None = None) -> Iterator[tuple[Invariant, Tally]]:
    """Check invariants by name, or all; yield each with what was seen. Each one sees the data of one moment.

    Raises
    ------
    KeyError
        for a name that there is not.
    """
    for invariant in [_invariants[name] for name in check_names or names()]:
        tally = Tally()
        with transaction.atomic():
            # A test's own transaction has begun already and cannot be made another one.
            if not connection.savepoint_ids:
                with connection.cursor() as cursor:
                    cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            invariant.check(tally)
        yield invariant, tally
