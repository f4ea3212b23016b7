"""Who sends a delivery: one worker at a time, under a lease, written down before anything is sent."""

from datetime import datetime, timedelta
from typing import Any, Final

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q

from ..enums import DeliveryState, WebhookState
from ..models import Delivery
from ..models.delivery import DeliveryQuerySet

# Longer than a try may take (sending.py).
LEASE: Final = timedelta(minutes=2)


def is_due(now: datetime) -> bool:
    """Say whether there is anything to send."""
    return _due(now).exists()


def claim(*, now: datetime) -> Delivery | None:
    """Take a delivery that is due, so that nobody else sends it; None where there is none.

    One whose worker died is taken again when its lease is over: then it may come twice, under the same id.
    """
    passed: set[int] = set()
    while (pk := _next(now, passed)) is not None:
        passed.add(pk)  # if somebody else takes it at this moment, it is theirs; nobody waits for it
        try:
            with transaction.atomic():
                held = Delivery.objects.select_for_update(skip_locked=True, no_key=True, of=("self",))
                rows = held.select_related("webhook__study", "message")
                delivery = rows.filter(_open(now), webhook__state=WebhookState.ON, pk=pk).first()
                if delivery is None:
                    continue
                delivery.state, delivery.lease_until = DeliveryState.SENDING, now + LEASE
                delivery.tries += 1
                delivery.attempt += 1
                delivery.save(update_fields=["state", "lease_until", "tries", "attempt"])
        except IntegrityError:
            continue  # another message to the same address is being sent since a moment: this one's turn comes
        return delivery
    return None


def settle(delivery: Delivery, **fields: Any) -> bool:
    """Write down what came of a try, if the delivery is still ours; say whether it was."""
    rows = Delivery.objects.filter(pk=delivery.pk, state=DeliveryState.SENDING, attempt=delivery.attempt)
    return bool(rows.update(**{"lease_until": None, **fields}))


def _open(now: datetime) -> Q:
    return Q(state=DeliveryState.WAITING, due_at__lte=now) | Q(state=DeliveryState.SENDING, lease_until__lte=now)


def _due(now: datetime) -> DeliveryQuerySet:
    under_way = Delivery.objects.filter(
        webhook=OuterRef("webhook"), state=DeliveryState.SENDING, lease_until__gt=now
    ).exclude(pk=OuterRef("pk"))
    return Delivery.objects.filter(_open(now), ~Exists(under_way), webhook__state=WebhookState.ON)


def _next(now: datetime, passed: set[int]) -> int | None:
    found: int | None = _due(now).exclude(pk__in=passed).order_by("due_at", "pk").values_list("pk", flat=True).first()
    return found
