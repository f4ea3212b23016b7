"""Create, change and remove webhooks. A secret is returned once, when it is created."""

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

# After a new secret is created, the earlier one still signs messages for this long.
OVERLAP: Final = timedelta(hours=24)
MOST_WEBHOOKS: Final = 20


class WebhookError(ValueError):
    """An action that is not possible with a webhook; the message says what to do."""


@dataclass(frozen=True)
class CreatedWebhook:
    """A webhook with its new secret."""

    webhook: Webhook
    secret: str


def create(
    *, study: Study, address: str, events: Sequence[str], by: User | None, now: datetime, label: str = ""
) -> CreatedWebhook:
    """Subscribe another system to these events of a study.

    Raises
    ------
    AddressError
        if nothing may be sent to the URL.
    WebhookError
        if the URL is already subscribed, there are too many webhooks, or no event is selected.
    """
    transport.parse_address(address)
    chosen = _checked_events(events)
    secret = signatures.generate_secret()
    with transaction.atomic():
        # The study's row is the lock, so that simultaneous creations are counted one after the other.
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
    """Change the URL, the events and the name. The secret stays.

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
    """Create a new secret. For a day, messages also carry the signature of the earlier one."""
    secret = signatures.generate_secret()
    Webhook.objects.filter(pk=webhook.pk).update(
        former_secret=F("secret"), former_until=now + OVERLAP, secret=signatures.encrypt(secret)
    )
    webhook.refresh_from_db()
    return CreatedWebhook(webhook, secret)


def switch_off(*, webhook: Webhook) -> None:
    """Pause a webhook. Pending messages wait; events that happen meanwhile are not sent later."""
    Webhook.objects.filter(pk=webhook.pk).on().update(state=WebhookState.OFF)


def switch_on(*, webhook: Webhook, now: datetime) -> None:
    """Switch a webhook on again; pending messages are sent at once."""
    with transaction.atomic():
        Webhook.objects.filter(pk=webhook.pk).update(state=WebhookState.ON)
        Delivery.objects.filter(webhook=webhook, state=DeliveryState.WAITING).update(due_at=now, tries=0)
        transaction.on_commit(tasks.wake_now)


def remove(*, webhook: Webhook) -> None:
    """Delete a webhook with all its messages."""
    webhook.delete()


def send_again(*, delivery: Delivery, now: datetime) -> None:
    """Send a message again now, under the same id, with the full number of tries.

    Raises
    ------
    WebhookError
        while it is being sent, or if its webhook is switched off.
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
