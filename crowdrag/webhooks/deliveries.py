"""Send due deliveries under a lease, with retries, until accepted or given up.

A webhook that accepted nothing between the first and the last try of a message is switched off: it failed for days. A
person has to switch it on again.
"""

import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from crowdrag.jobs.delivery_queue import Backoff, DeliveryQueue

from . import signatures, transport
from .enums import DeliveryState, WebhookState
from .models import Delivery, Webhook


def _nothing_in_flight(now: datetime) -> Any:
    """Match deliveries to a webhook to which nothing is being sent."""
    others = Delivery.objects.filter(webhook=OuterRef("webhook"), state=DeliveryState.SENDING, lease_until__gt=now)
    return ~Exists(others.exclude(pk=OuterRef("pk")))


# The lease is longer than a try may take (transport.py).
QUEUE: Final = DeliveryQueue(
    Delivery,
    lease=timedelta(minutes=2),
    related=("webhook__study", "message"),
    where=Q(webhook__state=WebhookState.ON),
    is_ready=_nothing_in_flight,
)
# Ten tries in about three days.
BACKOFF: Final = Backoff(
    (
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
)
# A worker sends for this long at most; the rest wakes one again.
PASS_SECONDS: Final = 60.0
Post = Callable[..., transport.DeliveryResponse]
Clock = Callable[[], datetime]
log = logging.getLogger(__name__)


def deliver_due(*, clock: Clock = timezone.now, post: Post = transport.post, seconds: float = PASS_SECONDS) -> int:
    """Send due messages; return how many were accepted."""
    end, taken = time.monotonic() + seconds, 0
    while time.monotonic() < end and (delivery := QUEUE.claim(clock())) is not None:
        taken += deliver(delivery, clock=clock, post=post)
    return taken


def deliver(delivery: Delivery, *, clock: Clock = timezone.now, post: Post = transport.post) -> bool:
    """Send one claimed delivery once, and record the result; return whether it was accepted."""
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
        # Whatever the error is, the message is not lost, and the others are sent.
        log.exception("Delivery %s could not be sent", delivery.pk)
        answer = transport.DeliveryResponse(problem="Internal error. The operator's log has the details.")
    return _write(delivery, answer, clock())


def _secrets(webhook: Webhook, now: datetime) -> list[str]:
    kept = [webhook.secret]
    if webhook.former_secret is not None and webhook.former_until is not None and now < webhook.former_until:
        kept.append(webhook.former_secret)
    return [signatures.decrypt(secret) for secret in kept]


def _write(delivery: Delivery, answer: transport.DeliveryResponse, now: datetime) -> bool:
    outcome = {"status": answer.status, "problem": answer.problem[:300], "tried_at": now}
    webhook = Webhook.objects.filter(pk=delivery.webhook_id)
    if answer.is_taken:
        if QUEUE.settle(delivery, state=DeliveryState.DONE, delivered_at=now, **outcome):
            webhook.update(succeeded_at=now)
        return True
    wait = None if answer.is_gone else BACKOFF.after(delivery.tries)
    if wait is None:
        settled = QUEUE.settle(delivery, state=DeliveryState.FAILED, **outcome)
    else:
        due_at = now + max(wait, answer.wait or timedelta(0))
        settled = QUEUE.settle(delivery, state=DeliveryState.WAITING, due_at=due_at, **outcome)
    if settled:
        webhook.update(failed_at=now)
    if settled and answer.is_gone:
        webhook.on().update(state=WebhookState.GONE)
    elif settled and wait is None:
        took_nothing = Q(succeeded_at__isnull=True) | Q(succeeded_at__lt=delivery.message.created_at)
        webhook.on().filter(took_nothing).update(state=WebhookState.FAILING)
    return False
