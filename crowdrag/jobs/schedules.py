"""Scheduled tasks. Each app registers its own in `AppConfig.ready`; the sweep runs what is due.

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
    """Add a schedule; called once from an app's `ready`."""
    schedule = Schedule(name, work, every)
    if name in _schedules and _schedules[name] != schedule:
        raise ValueError(f"There is a schedule called {name!r} already.")
    _schedules[name] = schedule
    return schedule


def all_schedules() -> list[Schedule]:
    """Return all schedules, in the order in which the apps registered them."""
    return list(_schedules.values())


log = logging.getLogger(__name__)


def run_due(*, now: datetime | None = None) -> list[str]:
    """Run what is due and nobody else took on; return the names.

    One that fails keeps nobody from the others: it is due again when its time has passed.
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
    """Take on what is due; return whether it is this caller's to do. Of several callers at once, one gets True."""
    rows = ScheduledTask.objects.filter(name=schedule.name)
    if rows.filter(at__lte=now - schedule.every).update(at=now):
        return True
    if rows.exists():
        return False
    _row, is_new = ScheduledTask.objects.get_or_create(name=schedule.name, defaults={"at": now})
    return is_new
