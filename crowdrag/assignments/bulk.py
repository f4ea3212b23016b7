"""One decision about many pieces of work: each is decided on its own, and what cannot be decided is skipped."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from crowdrag.studies.models import User

from .review_locks import locked_by_another

# So many can be decided at once: no more than a page of a queue shows.
MOST: Final = 100


@dataclass(frozen=True)
class BulkResult:
    """What came of it: how many were decided, and why others were skipped, each reason with its number."""

    done: int
    skipped: tuple[tuple[str, int], ...] = ()

    @property
    def passed_over(self) -> int:
        """How many were skipped."""
        return sum(n for _reason, n in self.skipped)

    @property
    def explanations(self) -> list[str]:
        """Why some were skipped, in sentences."""
        return [f"{n} skipped: {reason}" for reason, n in self.skipped]


@dataclass(frozen=True)
class Selection:
    """What is selected for a decision: the work, what accepting all of it costs, and how many others have open."""

    rows: list[Any]
    owed: int
    open_elsewhere: int

    @property
    def count(self) -> int:
        """How many are decided."""
        return len(self.rows) - self.open_elsewhere


def select(rows: Iterable[Any], by: User, now: datetime) -> Selection:
    """Return work that awaits review as a selection; what another reviewer has open costs nothing."""
    selected = list(rows)
    free = [row for row in selected if not locked_by_another(row, by, now)]
    return Selection(selected, sum(row.pay or 0 for row in free), len(selected) - len(free))


def for_each(rows: Iterable[Any], do: Callable[[Any], object], refusals: tuple[type[Exception], ...]) -> BulkResult:
    """Do something with each of some rows; whatever raises one of the refusals is skipped."""
    done, skipped = 0, Counter[str]()
    for row in rows:
        try:
            do(row)
        except refusals as problem:
            skipped[str(problem)] += 1
        else:
            done += 1
    return BulkResult(done, tuple(skipped.most_common()))
