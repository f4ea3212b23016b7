"""Time and hourly pay of questionnaires.

Whole time is from claim to submission, active time that with the page in front. Counted are questionnaires that were
handed in and stand: what was paid for a rejected one is no wage for the work that was asked for.
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
    """Time and pay of the questionnaires that stand; None where nothing is known. Wages in minor units an hour.

    No wage is stated of a questionnaire that took less than a minute; `too_short` is how many did.
    `below` is how many of those with a known wage pay less than the floor; None without a floor.
    """

    whole: Interval | None
    active: Interval | None
    wage: Interval | None
    wage_of_whole: Interval | None
    below: Proportion | None
    too_short: int = 0


@dataclass(frozen=True)
class PaidQuestionnaire:
    """A questionnaire whose wage is known, with that wage."""

    row: AssignmentFacts
    wage: float


def keep_valid(rows: Iterable[AssignmentFacts]) -> list[AssignmentFacts]:
    """Keep what was handed in and stands."""
    return [row for row in rows if row.state in STANDS]


def wage(row: AssignmentFacts, seconds: float | None) -> float | None:
    """Return what a questionnaire pays an hour, if it took so long: what was paid, or was promised while it waits."""
    return money.hourly_rate(row.paid or row.pay, seconds)


def work_times(rows: Iterable[AssignmentFacts], floor: int | None) -> WorkTimes:
    """Return times and wages with 95 % intervals by bootstrap over questionnaires."""
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
    """Return the questionnaires that pay less an hour of active time than the floor, the least first."""
    if floor is None:
        return []
    rows_below = [
        PaidQuestionnaire(row, each) for row in keep_valid(rows) if (each := wage(row, row.active_seconds)) is not None
    ]
    return sorted((each for each in rows_below if each.wage < floor), key=lambda each: (each.wage, each.row.pk))


def known_median(values: Iterable[float | None]) -> float | None:
    """Return the median of what is known."""
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _median(rows: Iterable[AssignmentFacts], value: Callable[[AssignmentFacts], float | None]) -> Interval | None:
    return _interval(tuple(each for row in rows if (each := value(row)) is not None))


# The page asks again and again, mostly with nothing new.
@lru_cache(maxsize=256)
def _interval(known: tuple[float, ...]) -> Interval | None:
    return wages.medians(known)
