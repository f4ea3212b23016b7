"""How long to wait before asking again."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


@dataclass(frozen=True)
class RetryPolicy:
    """How often and how patiently a model is asked."""

    tries: int = 6  # sendings of one question until it is given up, when servers or connections fail
    asks: int = 5  # answers to one question until it is recorded as a failure, when they do not fit the schema
    first_pause: float = 0.5
    longest_pause: float = 60.0
    longest_wait: float = 300.0  # the most that a server's Retry-After is honoured for
    lease: float = 30.0  # a claim that is not renewed for so long is free for others
    grace: float = 20.0  # a cancelled job waits so long for what is in flight and paid for
    heed: float = 0.5  # how often to look whether the job was cancelled
    poll: float = 0.1  # how often to look whether there is room, or whether another process has the answer

    def delay(self, *, failures: int, retry_after: float | None) -> float:
        """Return the seconds to wait after so many failures: what the server asked for, or exponential backoff.

        Jitter spreads the questions that failed together: between half and all of the doubled pause; on top of what
        the server asks for, up to a tenth more.
        """
        if retry_after is not None:
            return min(retry_after, self.longest_wait) * (1 + 0.1 * random.random())
        doubled: float = min(self.first_pause * 2 ** (failures - 1), self.longest_pause)
        return doubled * (0.5 + 0.5 * random.random())


def retry_after(headers: Mapping[str, str], *, now: datetime) -> float | None:
    """Return the seconds that a server asks to wait for: Retry-After in seconds or as a date, or its -ms variant."""
    milliseconds, value = _number(headers.get("retry-after-ms", "")), headers.get("retry-after", "")
    seconds = _number(value) if milliseconds is None else milliseconds / 1000
    if seconds is not None:
        return seconds
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, (date - now).total_seconds())


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None
