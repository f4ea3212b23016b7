"""How long to wait before asking again."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from django.utils import timezone


@dataclass(frozen=True)
class RetryPolicy:
    """How often and how patiently a model is asked; clock and sleep are here so that tests need not wait."""

    tries: int = 6  # sendings of one question until it is given up, when servers or connections fail
    asks: int = 5  # answers to one question until it is recorded as a failure, when they do not fit the schema
    first_pause: float = 0.5
    longest_pause: float = 60.0
    longest_wait: float = 300.0  # the most that a server's Retry-After is honoured for
    lease: float = 30.0  # a claim that is not renewed for so long is free for others
    grace: float = 20.0  # a cancelled job waits so long for what is in flight and paid for
    heed: float = 0.5  # how often to look whether the job was cancelled
    poll: float = 0.1  # how often to look whether there is room, or whether another process has the answer
    clock: Callable[[], datetime] = timezone.now
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


def delay(*, tries: int, retry_after: float | None, policy: RetryPolicy, rng: random.Random) -> float:
    """Return the seconds to wait after so many tries: what the server asked for, or exponential backoff with jitter.

    The jitter spreads a wave that failed together: between half and all of the doubled pause; on top of what the
    server asks for, up to a tenth more.
    """
    if retry_after is not None:
        return min(retry_after, policy.longest_wait) * (1 + 0.1 * rng.random())
    doubled: float = min(policy.first_pause * 2 ** (tries - 1), policy.longest_pause)
    return doubled * (0.5 + 0.5 * rng.random())


def retry_after(headers: Mapping[str, str], *, now: datetime) -> float | None:
    """Return the seconds that a server asks to wait for: Retry-After in seconds or as a date, or its -ms variant."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    if value is None:
        return None
    seconds = _number(value)
    if seconds is not None:
        return seconds
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, (date - now).total_seconds())


def _number(value: str | None) -> float | None:
    try:
        number = float(value)  # type: ignore[arg-type] # None is one of the errors
    except (TypeError, ValueError):
        return None
    return number if 0 <= number < float("inf") else None
