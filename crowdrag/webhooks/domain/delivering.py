"""Sending what is due, again and again until it is taken or given up.

An address that took nothing from the first try of a message to its last, and nothing else meanwhile, is switched off:
it failed for days. Somebody has to switch it on again.
"""

import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from ..enums import DeliveryState, WebhookState
from ..models import Delivery, Webhook
from . import claiming, sending, signing

# How long to wait after the first try, the second, and so on: ten tries in about three days.
WAITS: Final = (
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
SECONDS: Final = 60.0
Post = Callable[..., sending.Answer]
Clock = Callable[[], datetime]
log = logging.getLogger(__name__)


def deliver_due(*, clock: Clock = timezone.now, post: Post = sending.post, seconds: float = SECONDS) -> int:
    """Send what is due; return how many messages were taken."""
    end, taken = time.monotonic() + seconds, 0
    while time.monotonic() < end and (delivery := claiming.claim(now=clock())) is not None:
        taken += deliver(delivery, clock=clock, post=post)
    return taken


def deliver(delivery: Delivery, *, clock: Clock = timezone.now, post: Post = sending.post) -> bool:
    """Send one claimed delivery once, and write down what came of it; say whether it was taken."""
    now = clock()
    try:
        body, message = delivery.message.body, delivery.message.name
        proof = signing.headers(
            secrets_=_secrets(delivery.webhook, now), message=message, timestamp=int(now.timestamp()), body=body
        )
        answer = post(address=delivery.webhook.address, headers=proof, body=body)
    except signing.UnreadableSecretError as error:
        answer = sending.Answer(problem=str(error))
    except Exception:
        # Whatever it is, the message is not lost, and the others are sent.
        log.exception("Delivery %s could not be sent", delivery.pk)
        answer = sending.Answer(problem=_("A fault of this system; its operator's log says more."))
    return _write(delivery, answer, clock())


def _secrets(webhook: Webhook, now: datetime) -> list[str]:
    kept = [webhook.secret]
    if webhook.former_secret is not None and webhook.former_until is not None and now < webhook.former_until:
        kept.append(webhook.former_secret)
    return [signing.opened(each) for each in kept]


def _write(delivery: Delivery, answer: sending.Answer, now: datetime) -> bool:
    said = {"status": answer.status, "problem": answer.problem[:300], "tried_at": now}
    webhook = Webhook.objects.filter(pk=delivery.webhook_id)
    if answer.is_taken:
        if claiming.settle(delivery, state=DeliveryState.DONE, delivered_at=now, **said):
            webhook.update(succeeded_at=now)
        return True
    gives_up = answer.is_gone or delivery.tries > len(WAITS)
    if gives_up:
        settled = claiming.settle(delivery, state=DeliveryState.FAILED, **said)
    else:
        wait = max(WAITS[delivery.tries - 1], answer.wait or timedelta(0))
        settled = claiming.settle(delivery, state=DeliveryState.WAITING, due_at=now + wait, **said)
    if settled:
        webhook.update(failed_at=now)
    if settled and answer.is_gone:
        webhook.on().update(state=WebhookState.GONE)
    elif settled and gives_up:
        took_nothing = Q(succeeded_at__isnull=True) | Q(succeeded_at__lt=delivery.message.created_at)
        webhook.on().filter(took_nothing).update(state=WebhookState.FAILING)
    return False
