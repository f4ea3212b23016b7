"""Pages for participants' messages and researchers' answers."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from .. import activities
from ..access import audited, participant_page, study_page
from ..enums import AuditedContent, MessageKind, Role
from ..participants.models import Participant
from ..saved_replies import services as saved_replies
from ..study.models import Study
from . import services
from .forms import AnswerForm, MessageForm
from .models import ParticipantMessage


@participant_page
def ask_researchers(request: HttpRequest, participant: Participant) -> HttpResponse:
    """Ask, report a problem or contest a rejection; `?kind` and `?about` preset the kind and the piece of work."""
    if request.method == "POST":
        return _keep_message(request, participant)
    kind = request.GET.get("kind", "")
    form = MessageForm(
        initial={
            "kind": kind if kind in MessageKind.values else MessageKind.QUESTION,
            "about": request.GET.get("about", "")[:200],
        }
    )
    return _show_form(request, participant, form)


def _keep_message(request: HttpRequest, participant: Participant) -> HttpResponse:
    form = MessageForm(request.POST)
    if not form.is_valid():
        return _show_form(request, participant, form)
    try:
        services.ask(
            participant=participant,
            kind=MessageKind(form.cleaned_data["kind"]),
            about=form.cleaned_data["about"],
            text=form.cleaned_data["text"],
            now=timezone.now(),
        )
    except services.MessageError as error:
        form.add_error(None, str(error))
        return _show_form(request, participant, form)
    messages.success(request, _("Sent. The answer will appear here and on your dashboard."))
    return redirect("participant_message_new", participant.study.slug)


def _show_form(request: HttpRequest, participant: Participant, form: MessageForm) -> HttpResponse:
    context = {
        "taking_part": participant.study,
        "form": form,
        "about": activities.about_label(participant, str(form["about"].value() or "")),
        "participant_messages": services.list_of_participant(participant),
        "most": services.MAX_OPEN,
    }
    return render(request, "studies/messages/ask.html", context, status=422 if form.errors else 200)


@study_page(Role.REVIEWER)
@audited(AuditedContent.LETTERS)
def list_messages(request: HttpRequest, study: Study) -> HttpResponse:
    """List messages, unanswered ones first."""
    return _show_messages(request, study)


@study_page(Role.REVIEWER)
@require_POST
@audited(AuditedContent.LETTERS)
def answer_message(request: HttpRequest, study: Study, message_id: int) -> HttpResponse:
    """Answer a message, or change the answer."""
    message = get_object_or_404(ParticipantMessage, pk=message_id, participant__study=study)
    form = AnswerForm(request.POST)
    if not form.is_valid():
        return _show_messages(request, study, (message.pk, form))
    services.answer(message=message, text=form.cleaned_data["text"], by=request.user, now=timezone.now())  # type: ignore[arg-type]
    messages.success(request, "Answered. The participant can read it on their dashboard.")
    return redirect("participant_messages", study.slug)


def _review_address(message: ParticipantMessage, known: list[activities.Activity]) -> str:
    """Return the review page of the work that a message is about, from the activity that knows it."""
    if not message.about:
        return ""
    return next(filter(None, (activity.review_url(message.participant, message.about) for activity in known)), "")


def _remedy_address(message: ParticipantMessage, known: list[activities.Activity]) -> str:
    """Return the page that reverses the rejection that a message contests, while it is in effect."""
    if message.kind != MessageKind.CONTEST or not message.about:
        return ""
    return next(filter(None, (activity.remedy(message.participant, message.about) for activity in known)), "")


def _show_messages(request: HttpRequest, study: Study, refused: tuple[int, AnswerForm] | None = None) -> HttpResponse:
    known = activities.of_study(study)
    rows = [
        {
            "message": message,
            "review_url": _review_address(message, known),
            "remedy": _remedy_address(message, known),
            "about": activities.about_label(message.participant, message.about, known),
            "form": refused[1]
            if refused and refused[0] == message.pk
            else AnswerForm(initial={"text": message.answer}, auto_id=f"id_{message.pk}_%s"),
        }
        for message in services.list_of_study(study)
    ]
    replies = saved_replies.by_kind(study)
    context = {"rows": rows, "waiting": services.count_unanswered(study), "replies": replies, "section": "inbox"}
    return render(request, "studies/messages/list.html", context, status=422 if refused else 200)
