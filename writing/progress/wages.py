"""Time and hourly pay by response and by writer, writers below the wage floor, and top-ups.

Time is the active time in the log, without pauses. A revision is counted together with the response that it revises,
because the writer worked on both and is paid once. Rejected responses are left out because their pay is not a wage for
the requested work. Erased responses are left out because their time is unknown, but their pay counts as earned.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from statistics import median

import numpy as np
from django.db import transaction

from analysis.stats.bootstrap import Interval, median_resamples, percentile_interval
from analysis.stats.weighted import quantile_has_interval
from crowdrag.studies import money
from crowdrag.studies.models import Participant, Study, User
from writing.assignments.lifecycle import TASKS

from ..enums import TaskState
from ..models import WritingPlan, WritingTask
from . import queries
from .queries import NONE_YET, TaskFacts

HOUR = 3600
RESAMPLES = 1000
#: From this many values, medians of resamples are drawn by their ranks, which takes no longer for more values.
MANY = 5_000
PAYS = (TaskState.SUBMITTED, TaskState.ACCEPTED)


@dataclass(frozen=True, slots=True)
class ResponsePay:
    """A response with the total time of all its versions; pay and wage are None if unknown."""

    row: TaskFacts
    seconds: float | None
    pay: int | None

    @property
    def wage(self) -> float | None:
        """The hourly pay in minor units."""
        return money.hourly_rate(self.pay, self.seconds)


@dataclass
class WriterPay:
    """A writer's responses, times and earnings. Money in minor units."""

    pk: int
    pseudonym: str
    counts: dict[str, int] = field(default_factory=NONE_YET.copy)
    earned: int = 0
    responses: list[ResponsePay] = field(default_factory=list)
    topping: int = 0
    floor: int | None = None

    @property
    def seconds(self) -> float | None:
        """The median time of a response in seconds."""
        return _median(each.seconds for each in self.responses)

    @property
    def wage(self) -> float | None:
        """The median hourly pay in minor units."""
        return _median(each.wage for each in self.responses)

    @property
    def is_below(self) -> bool:
        """Whether the median wage is less than the study's floor."""
        return self.floor is not None and self.wage is not None and self.wage < self.floor

    @property
    def handed_in(self) -> int:
        """The number of submitted texts."""
        return sum(self.counts[state] for state in queries.HANDED_IN)


def pay_of_responses(rows: Sequence[TaskFacts]) -> list[ResponsePay]:
    """Return the pay of responses that are accepted or await review."""
    by_key = {row.pk: row for row in rows}
    return [
        ResponsePay(row, _time(row, by_key), row.paid or row.pay)
        for row in rows
        if row.state in PAYS and row.participant_id and not row.is_erased
    ]


def pay_of_writers(rows: Sequence[TaskFacts], responses: Sequence[ResponsePay], floor: int | None) -> list[WriterPay]:
    """Return all writers who have claimed a task, sorted by number of submitted texts, most first."""
    people: dict[int, WriterPay] = {}
    revised = {row.revises_id for row in rows if row.is_handed_in}  # counted with their revisions
    for row in rows:
        if row.participant_id is not None:
            writer = people.setdefault(
                row.participant_id, WriterPay(row.participant_id, row.participant or "", floor=floor)
            )
            if not row.is_erased and row.pk not in revised:
                writer.counts[row.state] += 1
            writer.earned += row.paid
    for each in responses:
        writer = people[each.row.participant_id or 0]
        writer.responses.append(each)
        writer.topping += top_up_amount(each, floor)
    return sorted(people.values(), key=lambda writer: (-writer.handed_in, writer.pseudonym))


def top_up_amount(response: ResponsePay, floor: int | None) -> int:
    """Return how much an accepted response is below the wage floor; 0 if pay or time is unknown."""
    if floor is None or response.row.state != TaskState.ACCEPTED or response.row.is_imported:
        return 0
    if response.seconds is None or response.pay is None:
        return 0
    return max(math.ceil(floor * response.seconds / HOUR) - response.row.paid, 0)


def share_below(responses: Iterable[ResponsePay], floor: int | None) -> float | None:
    """Return the share of responses with a known wage that are below the floor; None if there are none or no floor."""
    wages = [each.wage for each in responses if each.wage is not None]
    return None if floor is None or not wages else sum(wage < floor for wage in wages) / len(wages)


def medians(values: Iterable[float | None], *, seed: int = 0) -> Interval | None:
    """Return the median of the known values with a 95 % bootstrap interval; None if there are none.

    If there are too few values for the interval's coverage, its ends are NaN.
    """
    known = np.array([value for value in values if value is not None], dtype=np.float64)
    if not known.size:
        return None
    rng = np.random.default_rng(seed)
    if known.size > MANY:
        samples = median_resamples(known, RESAMPLES, rng)
    else:
        # Resample in parts: a thousand samples of some thousand responses would need too much memory.
        parts = [len(part) for part in np.array_split(np.arange(RESAMPLES), max(1, known.size // 1000))]
        samples = np.concatenate([np.median(rng.choice(known, size=(n, known.size)), axis=1) for n in parts if n])
    interval = percentile_interval(float(np.median(known)), samples, clusters=int(known.size))
    if not quantile_has_interval(0.5, interval.clusters, level=interval.level):
        return replace(interval, low=math.nan, high=math.nan)
    return interval


@transaction.atomic
def top_up(*, study: Study, participant: Participant, by: User, now: datetime) -> int:
    """Top up each response of a writer whose median wage is below the floor; return the total.

    Idempotent: after a top-up, no response is below the floor.
    """
    # Lock the participant's row, so that concurrent requests top up only once.
    participant = Participant.objects.select_for_update(no_key=True).get(pk=participant.pk, study=study)
    floor = WritingPlan.objects.filter(study=study).values_list("wage_floor", flat=True).first()
    rows = [row for row in queries.load_tasks(study) if row.participant_id == participant.pk]
    responses = pay_of_responses(rows)
    writers = pay_of_writers(rows, responses, floor)
    if floor is None or not writers or not writers[0].is_below:
        return 0
    reason = f"Topped up to {money.format_amount(floor, study.currency)} per hour."
    owed = {each.row.pk: amount for each in responses if (amount := top_up_amount(each, floor))}
    for task in WritingTask.objects.filter(pk__in=owed).order_by("pk"):
        TASKS.pay(task, amount=owed[task.pk], reason=reason, by=by, now=now)
    return sum(owed.values())


def _time(row: TaskFacts, by_key: Mapping[int, TaskFacts]) -> float | None:
    """Return the active time of a task and all tasks that it revises; None if any of them is unknown."""
    seconds: float | None = 0.0
    each: TaskFacts | None = row
    while each is not None:
        if seconds is None or each.active_seconds is None:
            return None
        seconds += each.active_seconds
        each = by_key.get(each.revises_id) if each.revises_id else None
    return seconds


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None
