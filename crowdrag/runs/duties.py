"""What must be done from time to time: each app registers its duties in `AppConfig.ready`, and the sweep does them.

A duty is short and safe to do again: whoever took it on may die in the middle of it, and then it is done when it is
due next.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True)
class Duty:
    """Something to be done about every so often; `work` gets the time."""

    name: str
    work: Callable[[datetime], object]
    every: timedelta


_duties: dict[str, Duty] = {}


def register(name: str, work: Callable[[datetime], object], every: timedelta) -> Duty:
    """Add a duty; called once from an app's `ready`."""
    duty = Duty(name, work, every)
    if name in _duties and _duties[name] != duty:
        raise ValueError(f"There is a duty called {name!r} already.")
    _duties[name] = duty
    return duty


def every() -> list[Duty]:
    """Return all duties, in the order in which the apps registered them."""
    return list(_duties.values())
