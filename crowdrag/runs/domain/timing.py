"""How long things last, and by whose clock."""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.db.models import DateTimeField, ExpressionWrapper, Value
from django.db.models.functions import Now

# The database is not there, or has to be asked again (a deadlock): nobody's fault.
AWAY = (OperationalError, InterfaceError)
MAX_ATTEMPTS = 3
# A unit at which so many workers vanished is what makes them vanish (memory, say).
MAX_LOST = 10
BACKOFF = timedelta(seconds=2)
LONGEST_BACKOFF = timedelta(minutes=5)


def lease() -> timedelta:
    """Return how long a claim holds without a heartbeat; `RUNS_LEASE_SECONDS` in the settings changes it."""
    return timedelta(seconds=getattr(settings, "RUNS_LEASE_SECONDS", 20))


def heartbeat() -> float:
    """Return the seconds between two heartbeats: several fit into a lease."""
    return lease().total_seconds() / 5


def moment(now: datetime | None) -> Any:
    """Return the time as an expression: the given one, or the database's clock, which all machines share."""
    return Now() if now is None else Value(now, output_field=DateTimeField())


def later(now: datetime | None, by: timedelta) -> Any:
    """Return the time that much later, as an expression."""
    return ExpressionWrapper(moment(now) + Value(by), output_field=DateTimeField())


def backoff(times: int) -> timedelta:
    """Return how long to wait after the given number of failures (at least one): 2 s, 8 s, 32 s and so on."""
    return min(BACKOFF * int(4 ** (times - 1)), LONGEST_BACKOFF)
