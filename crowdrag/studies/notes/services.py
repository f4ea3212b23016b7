"""Add and remove notes on participants and their work."""

from datetime import datetime

from django.db import transaction
from django.db.models import Q

from ..enums import Role
from ..participants.models import Participant
from ..study.models import Study, User
from .models import StaffNote

MAX_LENGTH = 5000


class NoteError(ValueError):
    """A note that cannot be written or removed; the message says why."""


@transaction.atomic
def add(*, participant: Participant, text: str, by: User, now: datetime, about: str = "") -> StaffNote:
    """Add a note on a participant, or on the work that `about` names. Idempotent for the same text.

    Raises
    ------
    NoteError
    """
    text = text.replace("\0", "").strip()
    if not text:
        raise NoteError("The note is empty. Enter a text.")
    if len(text) > MAX_LENGTH:
        raise NoteError(f"The note is longer than {MAX_LENGTH} characters.")
    # An erasure locks the participant: no note is added while their data are being erased.
    held = Participant.objects.select_for_update(no_key=True).get(pk=participant.pk)
    if held.erased_at:
        raise NoteError("The data of this participant were erased. Notes are no longer possible.")
    last = StaffNote.objects.filter(participant=held, about=about[:200]).order_by("-pk").first()
    if last is not None and (last.text, last.by_id) == (text, by.pk):
        return last
    return StaffNote.objects.create(participant=held, about=about[:200], text=text, at=now, by=by)


def remove(*, note: StaffNote, by: User) -> None:
    """Remove a note: allowed for its author and for owners of the study. Idempotent.

    Raises
    ------
    NoteError
    """
    is_owner = Study.objects.for_user(by, Role.OWNER).filter(pk=note.participant.study_id).exists()
    if note.by_id != by.pk and not is_owner:
        raise NoteError("Only the author of a note or an owner of the study can remove it.")
    StaffNote.objects.filter(pk=note.pk).delete()


def of_work(participant: Participant | None, about: str) -> list[StaffNote]:
    """Return the notes on a participant and on one piece of their work, oldest first."""
    if participant is None:
        return []
    notes = StaffNote.objects.filter(Q(about="") | Q(about=about), participant=participant)
    return list(notes.select_related("by").order_by("at", "pk"))
