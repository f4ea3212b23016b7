"""Asking the researchers, and their answers."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from .. import ways
from ..enums import EnquiryKind
from ..models import Enquiry, Participant, Study, User

# Enough for whoever has something to say, too few for whoever floods.
MOST_OPEN = 20
LONGEST = 5000


@dataclass(frozen=True)
class Asked:
    """What somebody asked, and what the work is called that it is about."""

    enquiry: Enquiry
    about: str


class EnquiryError(ValueError):
    """What was asked or answered cannot be kept like this."""


@transaction.atomic
def ask(*, participant: Participant, kind: EnquiryKind, text: str, now: datetime, about: str = "") -> Enquiry:
    """Keep what a participant asks."""
    # The participant's row is the lock: whoever asks twice at once is still held to the limit.
    held = Participant.objects.select_for_update(no_key=True).get(pk=participant.pk)
    if held.erased_at:
        raise EnquiryError(_("What you gave was erased, and nobody could answer you."))
    if held.enquiries.filter(answered_at__isnull=True).count() >= MOST_OPEN:
        raise EnquiryError(
            _("%(most)d of your questions wait for an answer. Please wait until one is answered.") % {"most": MOST_OPEN}
        )
    return Enquiry.objects.create(
        participant=held, kind=kind, about=about[:200], text=_within(text, LONGEST), asked_at=now
    )


@transaction.atomic
def answer(*, enquiry: Enquiry, text: str, by: User, now: datetime) -> Enquiry:
    """Answer what was asked; a later answer takes the place of the earlier one."""
    held = Enquiry.objects.select_for_update().get(pk=enquiry.pk)
    held.answer, held.answered_at, held.answered_by = _within(text, LONGEST), now, by
    held.save(update_fields=["answer", "answered_at", "answered_by"])
    return held


def settle_contests(*, participant: Participant, about: str, text: str, by: User, now: datetime) -> int:
    """Answer the open messages that contest a decision which was just reversed; return how many there were."""
    found = Enquiry.objects.filter(
        participant=participant, about=about, kind=EnquiryKind.CONTEST, answered_at__isnull=True
    )
    return found.update(answer=_within(text, LONGEST), answered_at=now, answered_by=by) if about else 0


def unanswered(study: Study) -> int:
    """Return how many wait for an answer."""
    return Enquiry.objects.filter(participant__study=study, answered_at__isnull=True).count()


def of_participant(participant: Participant) -> list[Asked]:
    """Return what somebody asked, the latest first."""
    found = participant.enquiries.order_by("-asked_at", "-pk")
    known = ways.every(participant.study)
    return [Asked(enquiry, ways.about_label(participant, enquiry.about, known)) for enquiry in found]


def of_study(study: Study) -> "list[Enquiry]":
    """Return all of a study, unanswered first, of these the oldest first; then the answered ones, the latest first."""
    found = Enquiry.objects.filter(participant__study=study).select_related("participant__study", "answered_by")
    waiting = found.filter(answered_at__isnull=True).order_by("asked_at", "pk")
    return [*waiting, *found.filter(answered_at__isnull=False).order_by(F("answered_at").desc(), "-pk")]


def _within(text: str, most: int) -> str:
    text = text.replace("\0", "").strip()
    if not text:
        raise EnquiryError(_("There is no text."))
    if len(text) > most:
        raise EnquiryError(_("The text is longer than %(most)d characters.") % {"most": most})
    return text
