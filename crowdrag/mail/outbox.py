"""The outbox: an email is stored in the transaction of its event, and sent afterwards.

The event's key ensures one email, however often the event is published.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from crowdrag.studies.models import Participant

from . import tasks
from .enums import Event, MailState
from .models import Mail, MailAddress


def publish(
    *,
    participant: Participant,
    event: Event,
    event_key: str,
    subject_key: str,
    now: datetime,
    details: Mapping[str, Any] | None = None,
    due_at: datetime | None = None,
) -> Mail | None:
    """Notify a participant of an event; None if they gave no address, or were notified before.

    Unsent earlier emails about the same subject are dropped. Call it in the transaction of the event.
    """
    if not settings.SENDS_MAIL or not MailAddress.objects.filter(participant=participant).exists():
        return None
    mail, is_new = Mail.objects.get_or_create(
        event_key=event_key,
        defaults={
            "participant": participant,
            "event": event,
            "subject_key": subject_key,
            "details": dict(details or {}),
            "created_at": now,
            "due_at": due_at or now,
        },
    )
    if not is_new:
        return None
    _waiting(participant, subject_key).exclude(pk=mail.pk).update(state=MailState.DROPPED)
    if due_at is None:
        transaction.on_commit(tasks.wake_now)
    return mail


def drop_unsent(*, participant: Participant, subject_key: str) -> int:
    """Drop unsent emails about a subject that were replaced or undone. Return how many."""
    return _waiting(participant, subject_key).update(state=MailState.DROPPED)


def _waiting(participant: Participant, subject_key: str) -> QuerySet[Mail]:
    return Mail.objects.filter(participant=participant, subject_key=subject_key, state=MailState.WAITING)


KEPT_FOR: Final = timedelta(days=30)
# A pass of the sweep is short: the rest is for the next one.
AT_ONCE: Final = 1000


def remove_old(now: datetime) -> int:
    """Remove old settled emails; return how many."""
    settled = Mail.objects.exclude(state__in=[MailState.WAITING, MailState.SENDING])
    chosen = list(settled.filter(created_at__lt=now - KEPT_FOR).values_list("pk", flat=True)[:AT_ONCE])
    return Mail.objects.filter(pk__in=chosen).delete()[0]
