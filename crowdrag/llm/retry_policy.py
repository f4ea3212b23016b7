"""How long to wait before a retry."""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


@dataclass(frozen=True)
class RetryPolicy:
    """How often and at which intervals a question is sent."""

    tries: int = 6  # attempts of one question before giving up, when servers or connections fail
    asks: int = 5  # answers to one question before it is recorded as a failure, when they do not fit the schema
    first_pause: float = 0.5
    longest_pause: float = 60.0
    longest_wait: float = 300.0  # maximum of a server's Retry-After that is respected
    lease: float = 30.0  # a claim that is not renewed for this long may be taken by others
    grace: float = 20.0  # a cancelled job waits this long for paid calls in flight
    heed: float = 0.5  # how often to check whether the job was cancelled
    poll: float = 0.1  # how often to check whether there is a free slot, or an answer of another process

    def delay(self, *, failures: int, retry_after: float | None) -> float:
        """Return the seconds to wait after this many failures: as the server asked, or exponential backoff.

        Jitter spreads the questions that failed together: between half and all of the doubled pause; in addition to
        what the server asks for, up to a tenth more.
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
