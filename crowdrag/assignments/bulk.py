"""One decision about many pieces of work: each is decided separately, and work that cannot be decided is skipped."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from crowdrag.studies.models import User

from .review_locks import locked_by_another

# Maximum number of items at once: no more than a page of a queue shows.
MOST: Final = 100


@dataclass(frozen=True)
class BulkResult:
    """The result: how many were decided, and the reasons why others were skipped, with counts."""

    done: int
    skipped: tuple[tuple[str, int], ...] = ()

    @property
    def passed_over(self) -> int:
        """The number of skipped items."""
        return sum(n for _reason, n in self.skipped)

    @property
    def explanations(self) -> list[str]:
        """The reasons for skipping, in sentences."""
        return [f"{n} skipped: {reason}" for reason, n in self.skipped]


@dataclass(frozen=True)
class Selection:
    """The work selected for a decision, the cost of accepting it all, and how many items other reviewers have open."""

    rows: list[Any]
    owed: int
    open_elsewhere: int

    @property
    def count(self) -> int:
        """The number of items to decide."""
        return len(self.rows) - self.open_elsewhere


def select(rows: Iterable[Any], by: User, now: datetime) -> Selection:
    """Return work that awaits review as a selection; items that another reviewer has open do not add to the cost."""
    selected = list(rows)
    free = [row for row in selected if not locked_by_another(row, by, now)]
    return Selection(selected, sum(row.pay or 0 for row in free), len(selected) - len(free))


def for_each(rows: Iterable[Any], do: Callable[[Any], object], refusals: tuple[type[Exception], ...]) -> BulkResult:
    """Apply a function to each row; rows that raise one of the refusals are skipped."""
    done, skipped = 0, Counter[str]()
    for row in rows:
        try:
            do(row)
        except refusals as problem:
            skipped[str(problem)] += 1
        else:
            done += 1
    return BulkResult(done, tuple(skipped.most_common()))
