"""Who sends an order: one worker at a time, under a lease, written down before anything is sent."""

from datetime import datetime, timedelta
from typing import Final

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q

from ...enums import OrderState
from ...models import PlatformOrder

# Longer than all tries of all requests of one order.
LEASE: Final = timedelta(minutes=5)
WITH: Final = ("platform_study__study", "platform_study__link", "submission")
_UNSETTLED: Final = (OrderState.WAITING, OrderState.SENDING, OrderState.UNKNOWN)


def claim(*, now: datetime) -> PlatformOrder | None:
    """Take an order that is due, so that nobody else sends it; None where there is none.

    An order whose worker died is taken again when the lease is over; what may have been sent stands in `progress`.
    """
    passed: set[int] = set()
    while (pk := _next(now, passed)) is not None:
        passed.add(pk)  # if somebody else takes it at this moment, it is theirs; nobody waits for it
        try:
            with transaction.atomic():
                held = PlatformOrder.objects.select_for_update(skip_locked=True, no_key=True, of=("self",))
                order = held.select_related(*WITH).filter(_due(now), pk=pk).first()
                if order is None:
                    continue
                order.state, order.lease_until = OrderState.SENDING, now + LEASE
                order.tries += 1
                order.attempt += 1
                order.save(update_fields=["state", "lease_until", "tries", "attempt"])
        except IntegrityError:
            # Another bonus of the same person is under way since a moment: this one's turn comes.
            PlatformOrder.objects.filter(pk=pk, state=OrderState.WAITING).update(due_at=now + timedelta(seconds=30))
            continue
        # What was read under the lock is returned, and not read again: by now it may be somebody else's.
        return order
    return None


def _due(now: datetime) -> Q:
    waiting = Q(state__in=[OrderState.WAITING, OrderState.UNKNOWN], due_at__lte=now)
    return waiting | Q(state=OrderState.SENDING, lease_until__lte=now)


def _next(now: datetime, passed: set[int]) -> int | None:
    """Return the next order that is due; of two about the same person the earlier first."""
    earlier = PlatformOrder.objects.filter(
        submission=OuterRef("submission"), state__in=_UNSETTLED, pk__lt=OuterRef("pk")
    )
    rows = (
        PlatformOrder.objects.filter(_due(now))
        .exclude(pk__in=passed)
        .exclude(Q(submission__isnull=False) & Exists(earlier))
    )
    return rows.order_by("due_at", "pk").values_list("pk", flat=True).first()
