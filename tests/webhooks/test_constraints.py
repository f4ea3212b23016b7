"""What must be true of webhooks is held by the database."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from django.db import DatabaseError, transaction

from crowdrag.webhooks import services
from crowdrag.webhooks.enums import DeliveryState, Event
from crowdrag.webhooks.models import Delivery, Message, Webhook
from tests.concurrency import together
from tests.factories import NOW, StudyFactory
from tests.webhooks.conftest import sent_test, subscribed
from tests.webhooks.receiver import Receiver

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("rule", "breaks"),
    [
        ("webhook_events_known_and_some", lambda: Webhook.objects.update(events=[])),
        ("webhook_events_known_and_some", lambda: Webhook.objects.update(events=["user.erased"])),
        ("webhook_events_known_and_some", lambda: Webhook.objects.update(events=[Event.TEST])),
        ("webhook_state_known", lambda: Webhook.objects.update(state="ASLEEP")),
        ("webhook_former_secret_has_an_end", lambda: Webhook.objects.update(former_secret=b"x")),
        ("webhook_former_secret_has_an_end", lambda: Webhook.objects.update(former_until=NOW)),
        ("delivery_sending_has_a_lease", lambda: Delivery.objects.update(state=DeliveryState.SENDING)),
        ("delivery_sending_has_a_lease", lambda: Delivery.objects.update(lease_until=NOW)),
        ("webhook_delivery_done_has_a_time", lambda: Delivery.objects.update(state=DeliveryState.DONE)),
        ("webhook_delivery_state", lambda: Delivery.objects.update(state="LOST")),
        (
            "webhook_delivery_one_at_a_time",
            lambda: Delivery.objects.update(state=DeliveryState.SENDING, lease_until=NOW),
        ),
        ("never_updated|Cannot update rows", lambda: Message.objects.update(body="{}")),
    ],
)
def test_what_must_be_true_cannot_be_broken(there: Receiver, rule: str, breaks: Callable[[], Any]) -> None:
    made = subscribed(there)
    sent_test(made.webhook)
    sent_test(made.webhook)
    with pytest.raises(DatabaseError, match=rule), transaction.atomic():
        breaks()


def test_a_message_goes_to_a_webhook_once(there: Receiver) -> None:
    delivery = sent_test(subscribed(there).webhook)
    with pytest.raises(DatabaseError, match="webhook_delivery_once"), transaction.atomic():
        Delivery.objects.create(webhook=delivery.webhook, message=delivery.message, due_at=NOW)


def test_an_address_is_told_once_a_study(there: Receiver) -> None:
    made = subscribed(there)
    with pytest.raises(services.WebhookError):
        subscribed(there, study=made.webhook.study)
    other = subscribed(there, study=made.webhook.study, address=there.url + "&other")
    with pytest.raises(services.WebhookError):
        services.change(webhook=other.webhook, address=there.url, events=[Event.RUN_ENDED], label="")


@pytest.mark.parametrize("events", [[], ["run.ended", "everything"], ["webhook.test"]])
def test_only_known_events_can_be_asked_for(there: Receiver, events: list[str]) -> None:
    with pytest.raises(services.WebhookError, match=r"run\.ended"):
        subscribed(there, events=events)


@pytest.mark.django_db(transaction=True)
def test_however_many_are_made_at_once_a_study_has_no_more_than_the_most(
    there: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "MOST_WEBHOOKS", 3)
    study = StudyFactory(slug="mine")

    def make(n: int) -> None:
        with suppress(services.WebhookError):
            subscribed(there, study=study, address=f"http://localhost/{n}")

    together([lambda n=n: make(n) for n in range(6)])  # type: ignore[misc]
    assert Webhook.objects.count() == 3
