"""Send messages to the researchers, and answer them."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Count, F, Min, Q
from django.urls import reverse
from django.utils.translation import gettext as _

from .. import activities
from ..enums import MessageKind
from ..navigation import InboxEntry
from ..participants.models import Participant
from ..study.models import Study, User
from .models import ParticipantMessage

# Enough for real questions, too few for flooding.
MAX_OPEN = 20
MAX_LENGTH = 5000


@dataclass(frozen=True)
class MessageWithSubject:
    """A message with the label of the work that it is about."""

    message: ParticipantMessage
    about: str


AnswerHook = Callable[[ParticipantMessage, datetime], None]
_answer_hooks: list[AnswerHook] = []


def on_answer(hook: AnswerHook) -> None:
    """Add a hook that runs in the same transaction when a message is answered; called once from an app's `ready`."""
    _answer_hooks.append(hook)


class MessageError(ValueError):
    """A message or an answer that cannot be saved."""


@transaction.atomic
def ask(
    *, participant: Participant, kind: MessageKind, text: str, now: datetime, about: str = ""
) -> ParticipantMessage:
    """Save a participant's message."""
    # The participant's row is the lock: simultaneous messages still count towards the limit.
    held = Participant.objects.select_for_update(no_key=True).get(pk=participant.pk)
    if held.erased_at:
        raise MessageError(_("Your data was erased, so nobody can answer you."))
    if held.messages.filter(answered_at__isnull=True).count() >= MAX_OPEN:
        raise MessageError(
            _("You have %(most)d unanswered messages. Please wait until one is answered.") % {"most": MAX_OPEN}
        )
    return ParticipantMessage.objects.create(
        participant=held, kind=kind, about=about[:200], text=_check_text(text, MAX_LENGTH), asked_at=now
    )


@transaction.atomic
def answer(*, message: ParticipantMessage, text: str, by: User, now: datetime) -> ParticipantMessage:
    """Answer a message; a later answer replaces the earlier one."""
    held = ParticipantMessage.objects.select_for_update(of=("self",)).select_related("participant").get(pk=message.pk)
    before = held.answer
    held.answer, held.answered_at, held.answered_by = _check_text(text, MAX_LENGTH), now, by
    held.save(update_fields=["answer", "answered_at", "answered_by"])
    if held.answer != before:
        _tell_answered([held], now)
    return held


def settle_contests(*, participant: Participant, about: str, text: str, by: User, now: datetime) -> int:
    """Answer the open messages that contest a decision which was just reversed; return their number."""
    messages = ParticipantMessage.objects.filter(
        participant=participant, about=about, kind=MessageKind.CONTEST, answered_at__isnull=True
    )
    if not about:
        return 0
    answered = list(messages.select_related("participant"))
    count = messages.update(answer=_check_text(text, MAX_LENGTH), answered_at=now, answered_by=by)
    _tell_answered(answered, now)
    return count


def _tell_answered(answered: list[ParticipantMessage], now: datetime) -> None:
    for message in answered:
        for hook in _answer_hooks:
            hook(message, now)


def count_unanswered(study: Study) -> int:
    """Return the number of unanswered messages."""
    return ParticipantMessage.objects.filter(participant__study=study, answered_at__isnull=True).count()


def inbox_entries(study: Study, _member: User | None) -> list[InboxEntry]:
    """Return the number of unanswered messages for the study's inbox; one query."""
    waiting = ParticipantMessage.objects.filter(participant__study=study, answered_at__isnull=True)
    kinds = {kind: Count("pk", filter=Q(kind=kind)) for kind in (MessageKind.CONTEST, MessageKind.PROBLEM)}
    figures = waiting.aggregate(n=Count("pk"), oldest=Min("asked_at"), **kinds)
    notices = []
    if contests := figures[MessageKind.CONTEST]:
        notices.append("1 contests a rejection" if contests == 1 else f"{contests} contest a rejection")
    if problems := figures[MessageKind.PROBLEM]:
        notices.append("1 reports a problem" if problems == 1 else f"{problems} report a problem")
    address = reverse("participant_messages", args=[study.slug])
    return [InboxEntry("Messages to answer", figures["n"], address, oldest=figures["oldest"], notices=tuple(notices))]


def list_of_participant(participant: Participant) -> list[MessageWithSubject]:
    """Return a participant's messages, newest first."""
    messages = participant.messages.order_by("-asked_at", "-pk")
    known = activities.of_study(participant.study)
    return [
        MessageWithSubject(message, activities.about_label(participant, message.about, known)) for message in messages
    ]


def list_of_study(study: Study) -> "list[ParticipantMessage]":
    """Return all messages of a study: unanswered ones, oldest first, then answered ones, newest first."""
    messages = ParticipantMessage.objects.filter(participant__study=study).select_related(
        "participant__study", "answered_by"
    )
    waiting = messages.filter(answered_at__isnull=True).order_by("asked_at", "pk")
    return [*waiting, *messages.filter(answered_at__isnull=False).order_by(F("answered_at").desc(), "-pk")]


def _check_text(text: str, most: int) -> str:
    text = text.replace("\0", "").strip()
    if not text:
        raise MessageError(_("The text is empty. Enter your message."))
    if len(text) > most:
        raise MessageError(_("The text is longer than %(most)d characters.") % {"most": most})
    return text
