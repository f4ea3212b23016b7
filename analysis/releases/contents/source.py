"""Data source of all tables of a release, with times at the selected resolution."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from crowdrag.studies.models import Study

from ..choices import Choices, Timing
from .pseudonyms import Names
from .selection import Selection

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
STEPS = {Timing.SECOND: 1, Timing.MINUTE: 60, Timing.HOUR: 3600}


class Clock:
    """Rounds times and durations down; None for what may not be released."""

    def __init__(self, timing: Timing) -> None:
        self.is_told = timing != Timing.ABSENT
        self._step = STEPS.get(timing, 0)

    def time(self, value: datetime | None, *, is_released: bool = True) -> datetime | None:
        """Return a time in UTC, rounded down to the step; `is_released`: the person agreed to release times."""
        if value is None or not (is_released and self.is_told):
            return None
        moment = value.astimezone(UTC)
        if not self._step:
            return moment
        whole = moment.replace(microsecond=0)
        seconds = whole.hour * 3600 + whole.minute * 60 + whole.second
        kept = seconds // self._step * self._step
        return whole.replace(hour=kept // 3600, minute=kept // 60 % 60, second=kept % 60)

    def seconds(self, value: float | None, *, is_released: bool = True) -> float | None:
        """Return a duration in seconds, rounded down to the step."""
        if value is None or not (is_released and self.is_told):
            return None
        return float(value // self._step * self._step) if self._step else float(value)

    def milliseconds(self, value: int | None, *, is_released: bool = True) -> int | None:
        """Return a duration or an offset in milliseconds, rounded down to the step."""
        if value is None or not (is_released and self.is_told):
            return None
        step = 1000 * self._step
        return value // step * step if step else value

    def all_milliseconds(self, values: list[int], *, is_released: bool = True) -> list[int] | list[None]:
        """Return `milliseconds` of each."""
        if not (is_released and self.is_told):
            return [None] * len(values)
        step = 1000 * self._step
        return [value // step * step for value in values] if step else values


def since_epoch(time: datetime | None) -> int | None:
    """Return a time in milliseconds since 1970, as in the CrowdRAG-25 layout."""
    return None if time is None else (time - EPOCH) // timedelta(milliseconds=1)


@dataclass(frozen=True)
class Source:
    """The study, the choices, the selection, and how names and times are released."""

    study: Study
    choices: Choices
    selection: Selection
    names: Names
    clock: Clock
