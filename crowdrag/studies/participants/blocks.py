"""Blocks: a blocked participant gets no new work. Pay and earlier work are not affected."""

from datetime import datetime

from django.db import transaction

from ..study.models import User
from .models import Participant, ParticipantBlock


class NoReasonError(ValueError):
    """A block needs a reason, which the participant is told."""


@transaction.atomic
def block(*, participant: Participant, reason: str, by: User | None, now: datetime) -> ParticipantBlock:
    """Block a participant from new work; an existing block stays, with the reason that they were told.

    Raises
    ------
    NoReasonError
        if no reason is given.
    """
    if not reason.strip():
        raise NoReasonError("Give a reason for the block. The participant can read it.")
    # A claim locks this row too, so it either precedes the block or is refused.
    participant = Participant.objects.select_for_update(no_key=True).get(pk=participant.pk)
    return participant.block or ParticipantBlock.objects.create(
        participant=participant, reason=reason.strip(), by=by, at=now
    )


@transaction.atomic
def unblock(*, participant: Participant, by: User | None, now: datetime) -> ParticipantBlock | None:
    """Lift a block; the record of it stays."""
    open_block = (
        ParticipantBlock.objects.select_for_update().filter(participant=participant, lifted_at__isnull=True).first()
    )
    if open_block is not None:
        open_block.lifted_at, open_block.lifted_by = now, by
        open_block.save(update_fields=["lifted_at", "lifted_by"])
    return open_block
