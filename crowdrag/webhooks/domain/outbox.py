"""What is to be told is written down in the transaction of what happened: told if it happened, and only then."""

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction

from crowdrag.studies.models import Study

from .. import tasks
from ..enums import Event
from ..models import Delivery, Message, Webhook


def tell(*, study: Study, event: Event, data: dict[str, Any], now: datetime) -> Message | None:
    """Write down for all who asked for it that something happened; None where nobody did.

    Call it in the transaction of what happened. `data` leaves the system: names and states of a researcher's things,
    and nothing that a participant gave.
    """
    told = list(Webhook.objects.on().filter(study=study).for_event(event))
    return _write(study, event, data, told, now) if told else None


def test(*, webhook: Webhook, now: datetime) -> Message:
    """Send a webhook a message that says nothing but that it arrives."""
    return _write(webhook.study, Event.TEST, {"webhook": webhook.key}, [webhook], now)


@transaction.atomic
def _write(study: Study, event: Event, data: dict[str, Any], told: Iterable[Webhook], now: datetime) -> Message:
    content = {"type": event, "timestamp": now, "data": {"study": study.slug, **data}}
    body = json.dumps(content, cls=DjangoJSONEncoder, ensure_ascii=False, separators=(",", ":"))
    message = Message.objects.create(study=study, event=event, body=body, created_at=now)
    Delivery.objects.bulk_create(Delivery(webhook=webhook, message=message, due_at=now) for webhook in told)
    transaction.on_commit(tasks.call)
    return message
