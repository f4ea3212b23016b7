"""Withdrawal from a study, with or without erasure."""

from datetime import datetime

from django.db import transaction

from .. import activities
from ..entry.models import Arrival, EntryLink
from ..messages.models import ParticipantMessage
from ..notes.models import StaffNote
from .models import Consent, Participant, ParticipantBlock


@transaction.atomic
def withdraw(*, participant: Participant, now: datetime) -> Participant:
    """Withdraw a participant: work in progress is reassigned, submitted work stays. Idempotent."""
    held = Participant.objects.select_for_update().get(pk=participant.pk)
    if held.withdrawn_at is None:
        held.withdrawn_at = now
        held.save(update_fields=["withdrawn_at"])
        for leaver in activities.withdraw_hooks():
            leaver(held, now)
    return held


@transaction.atomic
def request_erasure(*, participant: Participant, now: datetime) -> Participant:
    """Withdraw a participant, and start the erasure of their data. Idempotent.

    The erasure itself may take long and is done by a worker (`crowdrag.jobs.erasure`).
    """
    held = withdraw(participant=participant, now=now)
    if held.erasure_requested_at is None:
        held.erasure_requested_at = now
        held.save(update_fields=["erasure_requested_at"])
        for start in activities.erasure_request_hooks():
            start(held, now)
    return held


@transaction.atomic
def erase(*, participant: Participant, now: datetime) -> Participant:
    """Withdraw a participant and erase their data; their row stays as a tombstone, with its pseudonym.

    Each app erases its own rows (`activities.on_erase`). Unpaid earnings stay on their task: they belong to the
    tombstone, and reveal nothing of what was written.
    """
    held = withdraw(participant=participant, now=now)
    if held.erased_at:
        return held
    for eraser in activities.erase_hooks():
        eraser(held, now)
    ParticipantMessage.objects.filter(participant=held).delete()
    StaffNote.objects.filter(participant=held).delete()
    ParticipantBlock.objects.filter(participant=held).delete()
    Consent.objects.filter(participant=held, withdrawn_at__isnull=True).update(withdrawn_at=now)
    Arrival.objects.filter(participant=held).delete()
    EntryLink.objects.filter(participant=held).delete()
    held.erased_at = now
    held.erasure_requested_at = held.erasure_requested_at or now
    held.identity = held.identity_hash = None
    held.platform_facts, held.specification = {}, {}
    fields = ["erased_at", "erasure_requested_at", "identity", "identity_hash", "platform_facts", "specification"]
    held.save(update_fields=fields)
    return held
