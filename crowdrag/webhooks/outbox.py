"""The outbox: an event is stored in the transaction that causes it, and sent afterwards.

Messages are deliberately minimal: names and states of a researcher's objects, and where the API tells the rest. The
receiver asks the API, with a token, for what it may know. No participant's data leave the system in a message. Messages
are kept for a while, to be viewed and sent again, and then deleted.
"""

import json
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, Final

from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction

from crowdrag.jobs.models import Run
from crowdrag.studies.models import Study

from . import tasks
from .enums import Event
from .models import Delivery, Message, Webhook

#: The fields of `data` in each event's message; docs/reference/webhook-events.md is generated from it.
CONTENTS: Final[dict[Event, dict[str, str]]] = {
    Event.RUN_ENDED: {
        "study": "the short name of the study",
        "run": "the key of the run",
        "kind": "its kind: import, analysis, export, experiment, ...",
        "state": "`DONE`, `FAILED` or `CANCELLED`. A resumed run ends again",
    },
    Event.CAMPAIGN_ENDED: {
        "study": "the short name of the study",
        "campaign": "the number of the campaign; null for writing",
        "kind": "`judging` or `writing`",
        "name": "its title",
    },
    Event.RELEASE_PUBLISHED: {
        "study": "the short name of the study",
        "version": "the number of the release",
        "address": "the address of its public page",
    },
    Event.TEST: {"study": "the short name of the study", "webhook": "the key of the webhook"},
}


def publish(*, study: Study, event: Event, data: dict[str, Any], now: datetime) -> Message | None:
    """Store an event for all webhooks that subscribe to it; None if there are none.

    Call it in the transaction of the event. `data` leaves the system: names and states of a researcher's objects, and
    no participant's data.
    """
    webhooks = list(Webhook.objects.on().filter(study=study).for_event(event))
    return _write(study, event, data, webhooks, now) if webhooks else None


def publish_test(*, webhook: Webhook, now: datetime) -> Message:
    """Send a test message to a webhook."""
    return _write(webhook.study, Event.TEST, {"webhook": webhook.key}, [webhook], now)


@transaction.atomic
def _write(study: Study, event: Event, data: dict[str, Any], webhooks: Iterable[Webhook], now: datetime) -> Message:
    assert {"study", *data} == {*CONTENTS[event]}, f"{event}: other fields than its description has"
    content = {"type": event, "timestamp": now, "data": {"study": study.slug, **data}}
    body = json.dumps(content, cls=DjangoJSONEncoder, ensure_ascii=False, separators=(",", ":"))
    message = Message.objects.create(study=study, event=event, body=body, created_at=now)
    Delivery.objects.bulk_create(Delivery(webhook=webhook, message=message, due_at=now) for webhook in webhooks)
    transaction.on_commit(tasks.wake_now)
    return message


def publish_run_ended(run: Run, at: datetime) -> Message | None:
    """Publish that a run is done, failed or cancelled."""
    data = {"run": run.key, "kind": run.kind, "state": run.state}
    return publish(study=run.study, event=Event.RUN_ENDED, data=data, now=at)


def publish_campaign_ended(
    *, study: Study, kind: str, name: str, campaign: int | None, now: datetime
) -> Message | None:
    """Publish that a campaign is closed: of judgments, with its number; or of writing, of which a study has one."""
    data = {"campaign": campaign, "kind": kind, "name": name}
    return publish(study=study, event=Event.CAMPAIGN_ENDED, data=data, now=now)


def publish_release_published(*, study: Study, version: int, address: str, now: datetime) -> Message | None:
    """Publish that a release is published, with the URL of its public page."""
    data = {"version": version, "address": address}
    return publish(study=study, event=Event.RELEASE_PUBLISHED, data=data, now=now)


KEPT_FOR: Final = timedelta(days=30)
# A pass of the sweep is short: the rest is for the next one.
AT_ONCE: Final = 1000


def remove_old(now: datetime) -> int:
    """Remove old messages with their deliveries; return how many."""
    old = Message.objects.filter(created_at__lt=now - KEPT_FOR).order_by("created_at").values_list("pk", flat=True)
    chosen = list(old[:AT_ONCE])
    Message.objects.filter(pk__in=chosen).delete()
    return len(chosen)
