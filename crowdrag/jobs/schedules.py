"""Scheduled tasks. Each app registers its own in `AppConfig.ready`; the sweep runs those that are due.

A task is short and idempotent: if its process dies halfway, it runs again at its next due time. Of several sweeps one
runs it.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import DatabaseError
from django.db.models import Q
from django.utils import timezone

from .models import ScheduledTask


@dataclass(frozen=True)
class Schedule:
    """A task that runs at regular intervals; `work` gets the time."""

    name: str
    work: Callable[[datetime], object]
    every: timedelta


_schedules: dict[str, Schedule] = {}


def register(name: str, work: Callable[[datetime], object], every: timedelta) -> Schedule:
    """Add a schedule; called once from an app's `ready`."""
    schedule = Schedule(name, work, every)
    if name in _schedules and _schedules[name] != schedule:
        raise ValueError(f"There is a schedule called {name!r} already.")
    _schedules[name] = schedule
    return schedule


def all_schedules() -> list[Schedule]:
    """Return all schedules, in order of registration."""
    return list(_schedules.values())


log = logging.getLogger(__name__)


def run_due(*, now: datetime | None = None) -> list[str]:
    """Run the due tasks that no other process has taken; return their names.

    A failed task does not stop the others: it is due again after its interval.
    """
    now = now or timezone.now()
    done = []
    for schedule in all_schedules():
        if not take(schedule, now):
            continue
        try:
            schedule.work(now)
        except DatabaseError:
            raise  # the sweep waits for the database
        except Exception:
            log.exception("The scheduled task %s failed; it is due again in %s", schedule.name, schedule.every)
        else:
            done.append(schedule.name)
    return done


def take(schedule: Schedule, now: datetime) -> bool:
    """Take a due task; return whether this caller is to run it. Of several simultaneous callers, one gets True.

    A task that ran later than an interval from now ran before the clock was set back, and is due too.
    """
    rows = ScheduledTask.objects.filter(name=schedule.name)
    if rows.filter(Q(at__lte=now - schedule.every) | Q(at__gt=now + schedule.every)).update(at=now):
        return True
    if rows.exists():
        return False
    _row, is_new = ScheduledTask.objects.get_or_create(name=schedule.name, defaults={"at": now})
    return is_new
