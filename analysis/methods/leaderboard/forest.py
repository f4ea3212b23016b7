"""Positions of points, intervals and ticks in a forest plot, in per cent of its width."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

#: Intervals may exceed the range of the points by this factor, so that one wide interval does not compress the others.
REACH = 1.0
#: Minimum width of the plot in units of merit.
NARROWEST = 0.5
TICKS = 5
_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True)
class Mark:
    """A point with its interval; `is_cut_low` and `is_cut_high`: the interval extends beyond the plot."""

    point: str
    low: str = ""
    high: str = ""
    is_cut_low: bool = False
    is_cut_high: bool = False


@dataclass(frozen=True)
class Tick:
    """A grid line with its label."""

    position: str
    label: str


@dataclass(frozen=True)
class Forest:
    """The marks of estimates in input order (None if undefined), and the ticks of their axis."""

    marks: list[Mark | None]
    ticks: list[Tick]


def forest(
    estimates: Sequence[tuple[float | None, float | None, float | None]],
    *,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> Forest:
    """Place estimates on a common axis.

    Parameters
    ----------
    estimates : sequence of (value, low, high)
        None if undefined.
    bounds : (float, float)
        Limits of the axis.
    """
    points = [value for value, _low, _high in estimates if value is not None]
    if not points:
        return Forest([None] * len(estimates), [])
    reach = REACH * max(max(points) - min(points), NARROWEST)
    ends = [end for value, low, high in estimates if value is not None for end in (low, high) if end is not None]
    first = max(min([*ends, *points]), min(points) - reach, bounds[0])
    last = min(max([*ends, *points]), max(points) + reach, bounds[1])
    margin = 0.04 * max(last - first, NARROWEST)
    first, last = first - margin, last + margin

    def place(value: float) -> str:
        share = (value - first) / (last - first)
        return f"{100 * min(1.0, max(0.0, share)):.2f}%"

    def mark(value: float | None, low: float | None, high: float | None) -> Mark | None:
        if value is None:
            return None
        if low is None or high is None:
            return Mark(place(value))
        return Mark(place(value), place(low), place(high), low < first, high > last)

    return Forest(
        [mark(*estimate) for estimate in estimates], [Tick(place(at), label) for at, label in _ticks(first, last)]
    )


def _ticks(first: float, last: float) -> list[tuple[float, str]]:
    """Return round numbers between two values, with their labels."""
    raw = (last - first) / TICKS
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor for factor in _STEPS if factor * power >= raw) * power
    digits = max(0, -math.floor(math.log10(step) + 1e-9)) + (
        1 if abs(step / 10 ** math.floor(math.log10(step)) - 2.5) < 1e-9 else 0
    )
    begin = math.ceil(first / step)
    count = math.floor(last / step) - begin + 1
    return [(number * step, f"{number * step:.{digits}f}".replace("-", "−")) for number in range(begin, begin + count)]
