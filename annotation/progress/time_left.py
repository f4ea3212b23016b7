"""The pace of submissions, and the remaining time at this pace."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from ..campaigns.setup_cards import count
from .queries import AssignmentFacts, StateCounts
from .wages import keep_valid

#: The last day is used if at least this many were submitted in it; otherwise the last week, which is more reliable.
ENOUGH: Final = 5
DAY: Final = timedelta(days=1)
WEEK: Final = timedelta(days=7)
HOUR: Final = timedelta(hours=1)
MINUTE: Final = timedelta(minutes=1)


@dataclass(frozen=True)
class Pace:
    """The number of submissions in a period, and the remaining time at this pace.

    `left` is None if nothing was submitted in the period.
    """

    submitted: int
    window: timedelta
    left: timedelta | None

    @property
    def text(self) -> str:
        """The remaining time, as displayed."""
        if self.left is None:
            return ""
        hours = self.left / HOUR
        if hours < 2:
            return f"about {count(max(1, round(60 * hours)), 'minute')}"
        return f"about {count(round(hours), 'hour') if hours < 48 else count(round(hours / 24), 'day')}"

    @property
    def period(self) -> str:
        """The length of the period, as displayed: to the minute, so that it agrees with the remaining time."""
        if self.window > DAY:
            days, hours = divmod(round(self.window / HOUR), 24)
            return f"{count(days, 'day')} {hours} h" if hours else count(days, "day")
        hours, minutes = divmod(round(self.window / MINUTE), 60)
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def measure_pace(rows: Iterable[AssignmentFacts], whole: StateCounts, now: datetime) -> Pace | None:
    """Return the pace of valid questionnaires; None if none was submitted or none is missing.

    If the first questionnaire was assigned less than a day or week ago, the period starts then, but is at least an
    hour.
    """
    kept = [row for row in keep_valid(rows) if row.submitted_at is not None]
    missing = whole.planned - whole.collected
    if not kept or missing <= 0:
        return None
    begun = min(row.assigned_at or row.submitted_at for row in kept)  # type: ignore[type-var]
    recent = _submitted(kept, now - DAY)
    window, number = (DAY, recent) if recent >= ENOUGH else (WEEK, _submitted(kept, now - WEEK))
    assert begun is not None, "each has been submitted"
    window = max(min(window, now - begun), HOUR)
    return Pace(number, window, missing / number * window if number else None)


def _submitted(rows: Iterable[AssignmentFacts], since: datetime) -> int:
    return sum(row.submitted_at is not None and row.submitted_at > since for row in rows)
