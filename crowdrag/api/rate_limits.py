"""Rate limits of the API: requests a minute, with a burst.

Each request advances the time until which its user's allowance is used up (generic cell rate algorithm). This is one
atomic database statement, so it works with any number of web processes.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection
from django.utils import timezone

from crowdrag.clocks import CLOCK_DIFFERENCE
from crowdrag.studies.models import User

from .models import RateLimitState

# Returns a row only if the request is allowed, and advances the time only then.
_USED = "GREATEST(CASE WHEN held.used_until <= %(now)s + %(latest)s THEN held.used_until END, %(now)s) + %(each)s"
_TAKE = f"""
    INSERT INTO api_ratelimitstate AS held (user_id, used_until) VALUES (%(user)s, %(now)s + %(each)s)
    ON CONFLICT (user_id) DO UPDATE SET used_until = {_USED}
    WHERE {_USED} <= %(now)s + %(most)s
    RETURNING used_until
"""  # noqa: S608 -- constants


@dataclass(frozen=True)
class RateLimitStatus:
    """The state of a user's rate limit.

    Attributes
    ----------
    passes
        Whether this request is allowed.
    left
        The number of further requests allowed at once.
    wait
        Seconds until the next request is allowed; 0 if it is allowed now.
    full
        Seconds until the full burst is allowed again.
    """

    passes: bool
    left: int
    wait: float
    full: float


def take(*, user: User, now: datetime | None = None) -> RateLimitStatus | None:
    """Count a user's request and return their status; None if there is no limit."""
    if not settings.API_PER_MINUTE:
        return None
    now = now or timezone.now()
    each = timedelta(minutes=1) / settings.API_PER_MINUTE
    most = each * settings.API_AT_ONCE
    with connection.cursor() as cursor:
        times = {"now": now, "each": each, "most": most, "latest": most + CLOCK_DIFFERENCE}
        cursor.execute(_TAKE, {"user": user.pk, **times})
        moved = cursor.fetchone()
    used_until: datetime = (
        moved[0] if moved else RateLimitState.objects.values_list("used_until", flat=True).get(user=user)
    )
    used = max(used_until - now, timedelta())
    return RateLimitStatus(
        passes=moved is not None,
        left=max(int((most - used) / each), 0),
        wait=max((used + each - most).total_seconds(), 0.0),
        full=used.total_seconds(),
    )
