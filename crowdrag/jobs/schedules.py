"""What must be done from time to time: each app registers it in `AppConfig.ready`, and the sweep does what is due.

It is short and safe to do again: whoever took it on may die in the middle of it, and then it is done when it is due
next. Of several sweeps one takes it on.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import DatabaseError
from django.utils import timezone

from .models import ScheduledTask


@dataclass(frozen=True)
class Schedule:
    """Something to be done about every so often; `work` gets the time."""

    name: str
    work: Callable[[datetime], object]
    every: timedelta


_schedules: dict[str, Schedule] = {}


def register(name: str, work: Callable[[datetime], object], every: timedelta) -> Schedule:
    """Add a duty; called once from an app's `ready`."""
    duty = Schedule(name, work, every)
    if name in _schedules and _schedules[name] != duty:
        raise ValueError(f"There is a duty called {name!r} already.")
    _schedules[name] = duty
    return duty


def all_schedules() -> list[Schedule]:
    """Return all duties, in the order in which the apps registered them."""
    return list(_schedules.values())


log = logging.getLogger(__name__)


def run_due(*, now: datetime | None = None) -> list[str]:
    """Do the duties that are due and that nobody else took on; return their names.

    One that fails keeps nobody from the others: it is due again when its time has passed.
    """
    now = now or timezone.now()
    done = []
    for duty in all_schedules():
        if not take(duty, now):
            continue
        try:
            duty.work(now)
        except DatabaseError:
            raise  # the sweep waits for the database
        except Exception:
            log.exception("The duty %s failed; it is due again in %s", duty.name, duty.every)
        else:
            done.append(duty.name)
    return done


def take(duty: Schedule, now: datetime) -> bool:
    """Say whether a duty is due and this caller's to do: of several who ask at once, one is told so."""
    rows = ScheduledTask.objects.filter(name=duty.name)
    if rows.filter(at__lte=now - duty.every).update(at=now):
        return True
    if rows.exists():
        return False
    _row, is_new = ScheduledTask.objects.get_or_create(name=duty.name, defaults={"at": now})
    return is_new
