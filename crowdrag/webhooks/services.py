"""Create, change and end webhooks. A secret is returned once, when it is created."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import IntegrityError, transaction
from django.db.models import F

from crowdrag.studies.models import Study, User

from . import signatures, tasks, transport
from .enums import CHOSEN, DeliveryState, WebhookState
from .models import Delivery, Webhook

# After a new secret is made, the earlier one still proves messages for so long.
OVERLAP: Final = timedelta(hours=24)
MOST_WEBHOOKS: Final = 20


class WebhookError(ValueError):
    """Something that cannot be done with a webhook; the message says what to do."""


@dataclass(frozen=True)
class CreatedWebhook:
    """A webhook with the secret that was made for it."""

    webhook: Webhook
    secret: str


def create(
    *, study: Study, address: str, events: Sequence[str], by: User | None, now: datetime, label: str = ""
) -> CreatedWebhook:
    """Have another system told of these events of a study.

    Raises
    ------
    AddressError
        where the address is one that nothing is sent to.
    WebhookError
        where it is told already, or there are too many, or no event is chosen.
    """
    transport.parse_address(address)
    chosen = _checked_events(events)
    secret = signatures.generate_secret()
    with transaction.atomic():
        # The study's row is the lock: two that are made at once are counted one after the other.
        Study.objects.select_for_update(no_key=True).get(pk=study.pk)
        if Webhook.objects.filter(study=study).count() >= MOST_WEBHOOKS:
            raise WebhookError(f"A study can have at most {MOST_WEBHOOKS} webhooks. Remove one first.")
        _check_unused(study, address)
        webhook = Webhook.objects.create(
            study=study,
            address=address,
            events=chosen,
            label=label,
            secret=signatures.encrypt(secret),
            created_at=now,
            created_by=by,
        )
    return CreatedWebhook(webhook, secret)


def change(*, webhook: Webhook, address: str, events: Sequence[str], label: str) -> Webhook:
    """Change where it goes, what it is told of, and what it is called. The secret stays.

    Raises
    ------
    AddressError, WebhookError
    """
    transport.parse_address(address)
    webhook.address, webhook.events, webhook.label = address, _checked_events(events), label
    try:
        with transaction.atomic():
            webhook.save(update_fields=["address", "events", "label"])
    except IntegrityError as error:
        raise WebhookError(_already_used()) from error
    return webhook


def renew_secret(*, webhook: Webhook, now: datetime) -> CreatedWebhook:
    """Make a new secret. Messages carry the signature of the earlier one too, for a day."""
    secret = signatures.generate_secret()
    Webhook.objects.filter(pk=webhook.pk).update(
        former_secret=F("secret"), former_until=now + OVERLAP, secret=signatures.encrypt(secret)
    )
    webhook.refresh_from_db()
    return CreatedWebhook(webhook, secret)


def switch_off(*, webhook: Webhook) -> None:
    """Send nothing to it for the time being. What is on the way waits; what happens meanwhile is not told later."""
    Webhook.objects.filter(pk=webhook.pk).on().update(state=WebhookState.OFF)


def switch_on(*, webhook: Webhook, now: datetime) -> None:
    """Send to it again; what is on the way is sent at once."""
    with transaction.atomic():
        Webhook.objects.filter(pk=webhook.pk).update(state=WebhookState.ON)
        Delivery.objects.filter(webhook=webhook, state=DeliveryState.WAITING).update(due_at=now, tries=0)
        transaction.on_commit(tasks.wake_now)


def remove(*, webhook: Webhook) -> None:
    """Forget it, with all that was sent to it."""
    webhook.delete()


def send_again(*, delivery: Delivery, now: datetime) -> None:
    """Send a message again now, under the same id, with all tries before it.

    Raises
    ------
    WebhookError
        while it is being sent, or where its webhook is switched off.
    """
    if not delivery.webhook.is_on:
        raise WebhookError("The webhook is turned off. Turn it on first.")
    rows = Delivery.objects.filter(pk=delivery.pk).exclude(state=DeliveryState.SENDING)
    with transaction.atomic():
        if not rows.update(state=DeliveryState.WAITING, due_at=now, tries=0):
            raise WebhookError("The message is being sent right now.")
        transaction.on_commit(tasks.wake_now)


def _checked_events(events: Sequence[str]) -> list[str]:
    chosen = [str(event) for event in CHOSEN if event in events]
    if not chosen or len(chosen) < len(set(events)):
        known = ", ".join(CHOSEN)
        raise WebhookError(f"Choose one or more of these events: {known}.")
    return chosen


def _check_unused(study: Study, address: str) -> None:
    if Webhook.objects.filter(study=study, address=address).exists():
        raise WebhookError(_already_used())


def _already_used() -> str:
    return "A webhook for this URL already exists. Edit it instead."
