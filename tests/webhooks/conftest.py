"""Another system that is told, and a study whose webhook leads to it."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from crowdrag.studies.models import Study
from crowdrag.webhooks import deliveries, outbox, services
from crowdrag.webhooks.enums import CHOSEN
from crowdrag.webhooks.models import Delivery, Message, Webhook
from crowdrag.webhooks.services import CreatedWebhook
from tests.factories import NOW, StudyFactory
from tests.webhooks.receiver import Receiver, receiving


@pytest.fixture
def there(settings: Any) -> Iterator[Receiver]:
    """Run another system, on a host that the operator allows."""
    settings.WEBHOOK_LOCAL_HOSTS = ["localhost"]
    with receiving() as receiver:
        yield receiver


def subscribed(there: Receiver, *, study: Study | None = None, **fields: Any) -> CreatedWebhook:
    """A webhook that leads there."""
    given = {"address": there.url, "events": CHOSEN, "by": None, "now": NOW} | fields
    return services.create(study=study or StudyFactory(slug="mine"), **given)


def sent_test(webhook: Webhook, now: datetime = NOW) -> Delivery:
    """A test message on its way to a webhook."""
    message: Message = outbox.publish_test(webhook=webhook, now=now)
    return message.deliveries.get()


def deliver(now: datetime = NOW) -> int:
    """Send what is due at a time."""
    return deliveries.deliver_due(clock=lambda: now)


class Clock:
    """A time that goes on when it is told to."""

    def __init__(self, now: datetime = NOW) -> None:
        self.now = now

    def __call__(self) -> datetime:
        """Tell the time."""
        return self.now

    def later(self, by: timedelta) -> None:
        """Let time pass."""
        self.now += by
