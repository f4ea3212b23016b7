"""Notify participants of decisions on their paid work, of payments, and of answers to their messages."""

from datetime import datetime
from typing import Any, Final

from crowdrag.assignments import undo
from crowdrag.assignments.lifecycle import LEASE_OVER
from crowdrag.studies.models import Participant, ParticipantMessage

from . import outbox
from .enums import Event

_DECISIONS: Final = {"ACCEPTED": Event.ACCEPTED, "REJECTED": Event.REJECTED, "REVISION": Event.REVISION}
_RECEIVED: Final = ("SUBMITTED", "SURPLUS")
_ENDED: Final = ("RETURNED", "TIMED_OUT")


def publish_move(work: Any, transition: Any) -> None:
    """Notify the participant of a new state of their work, if it is one that they wait for.

    Called in the transaction of the change (`Lifecycle.after_move`).
    """
    if work.participant is None:
        return
    subject_key = f"{work._meta.label_lower}-{work.pk}"
    event = _event(transition)
    if event is None:
        if transition.before in _DECISIONS:
            outbox.drop_unsent(participant=work.participant, subject_key=subject_key)
        return
    details = {"about": str(getattr(work, "external_id", ""))}
    if event == Event.ACCEPTED and work.pay:
        details["amount"] = work.pay
    outbox.publish(
        participant=work.participant,
        event=event,
        event_key=f"{transition._meta.label_lower}-{transition.pk}",
        subject_key=subject_key,
        details=details,
        now=transition.at,
        # A decision is announced when it can no longer be undone.
        due_at=undo.deadline(transition.at) if transition.after in _DECISIONS else None,
    )


def _event(transition: Any) -> Event | None:
    if transition.after in _RECEIVED and transition.before not in _DECISIONS:
        return Event.SUBMITTED
    if transition.after in _ENDED and transition.cause == LEASE_OVER:
        return Event.RETURNED
    return _DECISIONS.get(transition.after)


def publish_payment(*, participant: Participant, amount: int, payment_key: str, now: datetime) -> None:
    """Notify a participant that an amount, in minor units, was paid out to them."""
    outbox.publish(
        participant=participant,
        event=Event.PAID,
        event_key=payment_key,
        subject_key=payment_key,
        details={"amount": amount},
        now=now,
    )


def publish_answer(message: ParticipantMessage, now: datetime) -> None:
    """Notify a participant that the researchers answered."""
    subject_key = f"message-{message.pk}"
    outbox.publish(
        participant=message.participant,
        event=Event.ANSWERED,
        event_key=f"{subject_key}-{now.isoformat()}",
        subject_key=subject_key,
        now=now,
    )
