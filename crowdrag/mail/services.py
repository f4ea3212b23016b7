"""Save a participant's email address, remove it, erase it."""

from datetime import datetime
from uuid import UUID

from django.db import transaction

from crowdrag.studies.models import Participant, Study
from crowdrag.studies.participants import identity

from .enums import MailState
from .models import Mail, MailAddress


@transaction.atomic
def keep_address(*, participant: Participant, address: str, base: str, now: datetime) -> MailAddress | None:
    """Save a participant's email address, replacing an earlier one; None if their data were erased."""
    # The participant's row is the lock: no address may be saved during an erasure.
    held = Participant.objects.select_for_update(no_key=True).get(pk=participant.pk)
    if held.erased_at or held.erasure_requested_at:
        return None
    values = {"address": identity.encrypt(address), "base": base, "given_at": now}
    return MailAddress.objects.update_or_create(participant=held, defaults=values)[0]


@transaction.atomic
def remove_address(*, participant: Participant) -> bool:
    """Remove a participant's address, and send nothing more. Idempotent: return whether there was an address."""
    Mail.objects.filter(participant=participant, state=MailState.WAITING).update(state=MailState.DROPPED)
    return bool(MailAddress.objects.filter(participant=participant).delete()[0])


def find_study(key: UUID) -> Study | None:
    """Return the study of a link that stops emails; None if they are already stopped."""
    stored = MailAddress.objects.filter(key=key).select_related("participant__study").first()
    return stored.participant.study if stored else None


def stop(key: UUID) -> bool:
    """Stop the emails of a link. Idempotent: return whether there were any."""
    stored = MailAddress.objects.filter(key=key).select_related("participant").first()
    return stored is not None and remove_address(participant=stored.participant)


def own_address(participant: Participant) -> str:
    """Return a participant's address, shown only to themselves; empty if they gave none."""
    stored = MailAddress.objects.filter(participant=participant).first()
    return identity.decrypt(bytes(stored.address)) if stored else ""


def erase(participant: Participant, _now: datetime) -> None:
    """Erase a participant's address and emails."""
    MailAddress.objects.filter(participant=participant).delete()
    Mail.objects.filter(participant=participant).delete()
