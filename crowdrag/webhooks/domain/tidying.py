"""What was told is kept for a while, to be looked at and sent again, and then forgotten."""

from datetime import datetime, timedelta
from typing import Final

from ..models import Message

KEPT: Final = timedelta(days=30)
# A pass of the sweep is short: what is left goes with the next.
AT_ONCE: Final = 1000


def tidy(now: datetime) -> int:
    """Remove old messages with their deliveries; return how many."""
    old = Message.objects.filter(created_at__lt=now - KEPT).order_by("created_at").values_list("pk", flat=True)
    chosen = list(old[:AT_ONCE])
    Message.objects.filter(pk__in=chosen).delete()
    return len(chosen)
