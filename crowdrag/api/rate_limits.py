"""Rate limits of the API: requests a minute, with a burst.

Each request moves the moment until which its sender's allowance is used up (the generic cell rate algorithm): one
statement, atomic in the database, for however many web processes there are.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection
from django.utils import timezone

from crowdrag.studies.models import User

from .models import RateLimitState

# A row comes back if there was room, and only then was it moved.
_TAKE = """
    INSERT INTO api_ratelimitstate AS held (user_id, used_until) VALUES (%(user)s, %(now)s + %(each)s)
    ON CONFLICT (user_id) DO UPDATE SET used_until = GREATEST(held.used_until, %(now)s) + %(each)s
    WHERE GREATEST(held.used_until, %(now)s) + %(each)s <= %(now)s + %(most)s
    RETURNING used_until
"""


@dataclass(frozen=True)
class RateLimitStatus:
    """How somebody stands: whether this request may pass, how many more may at once, and when the next or all may.

    Attributes
    ----------
    passes
        whether there was room for this one.
    left
        how many more may come at once.
    wait
        seconds until one more may come; 0 where one may now.
    full
        seconds until as many as ever may come at once.
    """

    passes: bool
    left: int
    wait: float
    full: float


def take(*, user: User, now: datetime | None = None) -> RateLimitStatus | None:
    """Count a request of somebody; None where nothing is counted."""
    if not settings.API_PER_MINUTE:
        return None
    now = now or timezone.now()
    each = timedelta(minutes=1) / settings.API_PER_MINUTE
    most = each * settings.API_AT_ONCE
    with connection.cursor() as cursor:
        cursor.execute(_TAKE, {"user": user.pk, "now": now, "each": each, "most": most})
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
