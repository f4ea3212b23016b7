"""Time and hourly pay of questionnaires.

Total time is from claim to submission; active time is the time with the page in front. Rejected questionnaires are not
counted because their pay is not a wage for the requested work.
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
    """Time and pay of accepted and pending questionnaires; None if unknown. Wages in minor units per hour.

    Questionnaires that took less than a minute have no wage; `too_short` is their number.
    `below` is the number of known wages below the floor; None without a floor.
    """

    whole: Interval | None
    active: Interval | None
    wage: Interval | None
    wage_of_whole: Interval | None
    below: Proportion | None
    too_short: int = 0


@dataclass(frozen=True)
class PaidQuestionnaire:
    """A questionnaire with a known wage."""

    external_id: str
    participant: str
    wage: float


def keep_valid(rows: Iterable[AssignmentFacts]) -> list[AssignmentFacts]:
    """Keep questionnaires that are accepted or await review."""
    return [row for row in rows if row.state in STANDS]


def wage(row: AssignmentFacts, seconds: float | None) -> float | None:
    """Return the hourly pay of a questionnaire: the amount paid (or promised, while it is pending) by its time."""
    return money.hourly_rate(row.paid or row.pay, seconds)


def work_times(rows: Iterable[AssignmentFacts], floor: int | None) -> WorkTimes:
    """Return times and wages with 95 % bootstrap intervals over questionnaires."""
    times = keep_valid(rows)
    known = hourly_pay(times)
    return WorkTimes(
        whole=_median(times, lambda row: row.seconds),
        active=_median(times, lambda row: row.active_seconds),
        wage=_median(times, lambda row: wage(row, row.active_seconds)),
        wage_of_whole=_median(times, lambda row: wage(row, row.seconds)),
        below=None if floor is None else wilson(sum(each < floor for each in known), len(known)),
        too_short=sum(money.is_too_short(row.active_seconds) or money.is_too_short(row.seconds) for row in times),
    )


def hourly_pay(rows: Iterable[AssignmentFacts]) -> list[float]:
    """Return the pay per hour of active time of each valid questionnaire for which it is known."""
    return [each for row in keep_valid(rows) if (each := wage(row, row.active_seconds)) is not None]


def below_floor(rows: Iterable[AssignmentFacts], floor: int | None) -> list[PaidQuestionnaire]:
    """Return the questionnaires whose pay per hour of active time is below the floor, lowest first."""
    if floor is None:
        return []
    rows_below = [
        (each, row.pk, row)
        for row in keep_valid(rows)
        if (each := wage(row, row.active_seconds)) is not None and each < floor
    ]
    rows_below.sort(key=lambda each: each[:2])
    return [PaidQuestionnaire(row.external_id, row.participant, each) for each, _, row in rows_below]


def known_median(values: Iterable[float | None]) -> float | None:
    """Return the median of the known values; None if there are none."""
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _median(rows: Iterable[AssignmentFacts], value: Callable[[AssignmentFacts], float | None]) -> Interval | None:
    return _interval(tuple(each for row in rows if (each := value(row)) is not None))


# The page requests this repeatedly, mostly with unchanged data.
@lru_cache(maxsize=256)
def _interval(known: tuple[float, ...]) -> Interval | None:
    return wages.medians(known)
