"""What is not in a release, counted, with the reason: for whoever decides, and for whoever reads it."""

from collections import Counter
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class LeftOut:
    """So many of something are not there, for this reason: "12 responses: people withdrew their consent"."""

    what: str
    reason: str
    count: int


class Count:
    """Counts what is left out."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter()

    def add(self, what: str, reason: str, count: int = 1) -> None:
        """Count some of something that are left out for a reason."""
        if count:
            self._counts[what, reason] += count

    def total(self) -> tuple[LeftOut, ...]:
        """Return all that was counted, in order."""
        return tuple(sorted(LeftOut(what, reason, count) for (what, reason), count in self._counts.items()))
