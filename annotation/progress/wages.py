"""Time and hourly pay of questionnaires.

Total time is from assignment to submission; active time is with the page in the foreground. Only valid questionnaires
count (submitted or accepted), because the pay of a rejected one is not a wage for the requested work.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from statistics import median

from analysis.stats.bootstrap import Interval
from analysis.stats.proportions import Proportion, wilson
from crowdrag.studies import money
from writing.progress import wages

from ..enums import AssignmentState
from .queries import AssignmentFacts

STANDS = (AssignmentState.SUBMITTED, AssignmentState.ACCEPTED)


@dataclass(frozen=True)
class WorkTimes:
    """Time and pay of valid questionnaires; None if unknown. Wages in minor units per hour.

    Questionnaires that took less than a minute have no wage; `too_short` is their number. `below` is the share with a
    wage below the floor; None without a floor.
    """

    whole: Interval | None
    active: Interval | None
    wage: Interval | None
    wage_of_whole: Interval | None
    below: Proportion | None
    too_short: int = 0


@dataclass(frozen=True)
class PaidQuestionnaire:
    """A questionnaire with its known wage."""

    row: AssignmentFacts
    wage: float


def keep_valid(rows: Iterable[AssignmentFacts]) -> list[AssignmentFacts]:
    """Keep valid questionnaires: submitted or accepted."""
    return [row for row in rows if row.state in STANDS]


def wage(row: AssignmentFacts, seconds: float | None) -> float | None:
    """Return the hourly pay at this duration, from the amount paid, or promised if not paid yet."""
    return money.hourly_rate(row.paid or row.pay, seconds)


def work_times(rows: Iterable[AssignmentFacts], floor: int | None) -> WorkTimes:
    """Return times and wages with 95 % intervals (bootstrap over questionnaires)."""
    times = keep_valid(rows)
    known = [each for row in times if (each := wage(row, row.active_seconds)) is not None]
    return WorkTimes(
        whole=_median(times, lambda row: row.seconds),
        active=_median(times, lambda row: row.active_seconds),
        wage=_median(times, lambda row: wage(row, row.active_seconds)),
        wage_of_whole=_median(times, lambda row: wage(row, row.seconds)),
        below=None if floor is None else wilson(sum(each < floor for each in known), len(known)),
        too_short=sum(money.is_too_short(row.active_seconds) or money.is_too_short(row.seconds) for row in times),
    )


def below_floor(rows: Iterable[AssignmentFacts], floor: int | None) -> list[PaidQuestionnaire]:
    """Return the questionnaires with a wage below the floor per hour of active time, lowest first."""
    if floor is None:
        return []
    rows_below = [
        PaidQuestionnaire(row, each) for row in keep_valid(rows) if (each := wage(row, row.active_seconds)) is not None
    ]
    return sorted((each for each in rows_below if each.wage < floor), key=lambda each: (each.wage, each.row.pk))


def known_median(values: Iterable[float | None]) -> float | None:
    """Return the median of the known values."""
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _median(rows: Iterable[AssignmentFacts], value: Callable[[AssignmentFacts], float | None]) -> Interval | None:
    return _interval(tuple(each for row in rows if (each := value(row)) is not None))


# Cached, because the page polls and mostly nothing has changed.
@lru_cache(maxsize=256)
def _interval(known: tuple[float, ...]) -> Interval | None:
    return wages.medians(known)
