"""Sending what is due, again and again until it is taken or given up; one worker at a time, under a lease.

An address that took nothing from the first try of a message to its last, and nothing else meanwhile, is switched off:
it failed for days. Somebody has to switch it on again.
"""

import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from . import signatures, transport
from .enums import DeliveryState, WebhookState
from .models import Delivery, DeliveryQuerySet, Webhook

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
                delivery = rows.filter(_open_deliveries(now), webhook__state=WebhookState.ON, pk=pk).first()
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


def _open_deliveries(now: datetime) -> Q:
    return Q(state=DeliveryState.WAITING, due_at__lte=now) | Q(state=DeliveryState.SENDING, lease_until__lte=now)


def _due(now: datetime) -> DeliveryQuerySet:
    under_way = Delivery.objects.filter(
        webhook=OuterRef("webhook"), state=DeliveryState.SENDING, lease_until__gt=now
    ).exclude(pk=OuterRef("pk"))
    return Delivery.objects.filter(_open_deliveries(now), ~Exists(under_way), webhook__state=WebhookState.ON)


def _next(now: datetime, passed: set[int]) -> int | None:
    found: int | None = _due(now).exclude(pk__in=passed).order_by("due_at", "pk").values_list("pk", flat=True).first()
    return found


# How long to wait after the first try, the second, and so on: ten tries in about three days.
RETRY_WAITS: Final = (
    timedelta(seconds=5),
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=12),
    timedelta(hours=24),
    timedelta(hours=24),
)
# A worker goes on for so long, and then does something else; what is left wakes one again.
PASS_SECONDS: Final = 60.0
Post = Callable[..., transport.DeliveryResponse]
Clock = Callable[[], datetime]
log = logging.getLogger(__name__)


def deliver_due(*, clock: Clock = timezone.now, post: Post = transport.post, seconds: float = PASS_SECONDS) -> int:
    """Send what is due; return how many messages were taken."""
    end, taken = time.monotonic() + seconds, 0
    while time.monotonic() < end and (delivery := claim(now=clock())) is not None:
        taken += deliver(delivery, clock=clock, post=post)
    return taken


def deliver(delivery: Delivery, *, clock: Clock = timezone.now, post: Post = transport.post) -> bool:
    """Send one claimed delivery once, and write down what came of it; say whether it was taken."""
    now = clock()
    try:
        body, message = delivery.message.body, delivery.message.name
        proof = signatures.build_headers(
            secrets_=_secrets(delivery.webhook, now), message=message, timestamp=int(now.timestamp()), body=body
        )
        answer = post(address=delivery.webhook.address, headers=proof, body=body)
    except signatures.UnreadableSecretError as error:
        answer = transport.DeliveryResponse(problem=str(error))
    except Exception:
        # Whatever it is, the message is not lost, and the others are sent.
        log.exception("Delivery %s could not be sent", delivery.pk)
        answer = transport.DeliveryResponse(problem=_("A fault of this system; its operator's log says more."))
    return _write(delivery, answer, clock())


def _secrets(webhook: Webhook, now: datetime) -> list[str]:
    kept = [webhook.secret]
    if webhook.former_secret is not None and webhook.former_until is not None and now < webhook.former_until:
        kept.append(webhook.former_secret)
    return [signatures.decrypt(each) for each in kept]


def _write(delivery: Delivery, answer: transport.DeliveryResponse, now: datetime) -> bool:
    said = {"status": answer.status, "problem": answer.problem[:300], "tried_at": now}
    webhook = Webhook.objects.filter(pk=delivery.webhook_id)
    if answer.is_taken:
        if settle(delivery, state=DeliveryState.DONE, delivered_at=now, **said):
            webhook.update(succeeded_at=now)
        return True
    gives_up = answer.is_gone or delivery.tries > len(RETRY_WAITS)
    if gives_up:
        settled = settle(delivery, state=DeliveryState.FAILED, **said)
    else:
        wait = max(RETRY_WAITS[delivery.tries - 1], answer.wait or timedelta(0))
        settled = settle(delivery, state=DeliveryState.WAITING, due_at=now + wait, **said)
    if settled:
        webhook.update(failed_at=now)
    if settled and answer.is_gone:
        webhook.on().update(state=WebhookState.GONE)
    elif settled and gives_up:
        took_nothing = Q(succeeded_at__isnull=True) | Q(succeeded_at__lt=delivery.message.created_at)
        webhook.on().filter(took_nothing).update(state=WebhookState.FAILING)
    return False
