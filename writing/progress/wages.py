"""Time and hourly pay, by response and by writer; who earns less than the floor; top-ups.

Time is active time by the log: without pauses away from it. A revision counts with the response that it revises: the
writer worked on both and is paid once. Rejected responses are left out: what they were paid is no wage for the work
that was asked for. So are erased ones, whose time is not known any more; what they were paid stays in what was earned.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from statistics import median

import numpy as np
from django.db import transaction

from analysis.stats.bootstrap import Interval, percentile_interval
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
PAYS = (TaskState.SUBMITTED, TaskState.ACCEPTED)


@dataclass(frozen=True, slots=True)
class ResponsePay:
    """A response with the time that it took, all its versions told; pay and wage are None where not known."""

    row: TaskFacts
    seconds: float | None
    pay: int | None

    @property
    def wage(self) -> float | None:
        """Pay an hour, in minor units."""
        return money.hourly_rate(self.pay, self.seconds)


@dataclass
class WriterPay:
    """What somebody wrote, how long it took, and what they earned. Money in minor units."""

    pk: int
    pseudonym: str
    counts: dict[str, int] = field(default_factory=NONE_YET.copy)
    earned: int = 0
    responses: list[ResponsePay] = field(default_factory=list)
    topping: int = 0
    floor: int | None = None

    @property
    def seconds(self) -> float | None:
        """The median time of a response."""
        return _median(each.seconds for each in self.responses)

    @property
    def wage(self) -> float | None:
        """The median wage."""
        return _median(each.wage for each in self.responses)

    @property
    def is_below(self) -> bool:
        """Whether the median wage is less than the study's floor."""
        return self.floor is not None and self.wage is not None and self.wage < self.floor

    @property
    def handed_in(self) -> int:
        """How many texts they handed in."""
        return sum(self.counts[state] for state in queries.HANDED_IN)


def pay_of_responses(rows: Sequence[TaskFacts]) -> list[ResponsePay]:
    """Return what was handed in and stands: accepted, or waiting for a reviewer."""
    by_key = {row.pk: row for row in rows}
    return [
        ResponsePay(row, _time(row, by_key), row.paid or row.pay)
        for row in rows
        if row.state in PAYS and row.participant_id and not row.is_erased
    ]


def pay_of_writers(rows: Sequence[TaskFacts], responses: Sequence[ResponsePay], floor: int | None) -> list[WriterPay]:
    """Return everybody who has taken a task, those who handed in most first."""
    people: dict[int, WriterPay] = {}
    revised = {row.revises_id for row in rows if row.is_handed_in}  # counted with the text that took its place
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
    """Return what an accepted response lacks of the floor; nothing where pay or time is not known."""
    if floor is None or response.row.state != TaskState.ACCEPTED or response.row.is_imported:
        return 0
    if response.seconds is None or response.pay is None:
        return 0
    return max(math.ceil(floor * response.seconds / HOUR) - response.row.paid, 0)


def share_below(responses: Iterable[ResponsePay], floor: int | None) -> float | None:
    """Return which share of the responses with a known wage pays less than the floor."""
    wages = [each.wage for each in responses if each.wage is not None]
    return None if floor is None or not wages else sum(wage < floor for wage in wages) / len(wages)


def medians(values: Iterable[float | None], *, seed: int = 0) -> Interval | None:
    """Return the median of what is known with its 95 % interval by bootstrap; None of nothing.

    Of so few values that no interval would hold the true median often enough, its ends are NaN.
    """
    known = np.array([value for value in values if value is not None], dtype=np.float64)
    if not known.size:
        return None
    rng = np.random.default_rng(seed)
    # Drawn in parts: some thousand responses, a thousand times over, would be large at once.
    parts = [len(part) for part in np.array_split(np.arange(RESAMPLES), max(1, known.size // 1000))]
    samples = [np.median(rng.choice(known, size=(n, known.size)), axis=1) for n in parts if n]
    interval = percentile_interval(float(np.median(known)), np.concatenate(samples), clusters=int(known.size))
    if not quantile_has_interval(0.5, interval.clusters, level=interval.level):
        return replace(interval, low=math.nan, high=math.nan)
    return interval


@transaction.atomic
def top_up(*, study: Study, participant: Participant, by: User, now: datetime) -> int:
    """Bring somebody whose median wage is below the floor up to it, response by response; return the sum.

    Called again it pays nothing more: then no response of theirs lacks anything.
    """
    # The person's row is the lock: two who press the button at once top up once.
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
    """Return the active time of a task and of all that it revises; None where one of them is not known."""
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
