"""Pages that add and remove staff notes."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from ..access import study_page
from ..enums import Role
from ..participants.models import Participant
from ..study.models import Study
from . import services
from .forms import NoteForm
from .models import StaffNote


@study_page(Role.REVIEWER)
@require_POST
def add_note(request: HttpRequest, study: Study, participant: int) -> HttpResponse:
    """Add a note on a participant or their work, and redirect back."""
    person = get_object_or_404(Participant, study=study, pk=participant)
    form = NoteForm(request.POST)
    if not form.is_valid():
        messages.error(request, "The note was not saved. Enter a text of at most 5,000 characters.")
        return _back(request, study)
    try:
        services.add(participant=person, by=request.user, now=timezone.now(), **form.cleaned_data)  # type: ignore[arg-type]
    except services.NoteError as error:
        messages.error(request, str(error))
    return _back(request, study)


@study_page(Role.REVIEWER)
@require_POST
def remove_note(request: HttpRequest, study: Study, note_id: int) -> HttpResponse:
    """Remove a note, and redirect back."""
    note = get_object_or_404(StaffNote.objects.select_related("participant"), participant__study=study, pk=note_id)
    try:
        services.remove(note=note, by=request.user)  # type: ignore[arg-type]
    except services.NoteError as error:
        messages.error(request, str(error))
    return _back(request, study)


def _back(request: HttpRequest, study: Study) -> HttpResponse:
    back = request.POST.get("back", "")
    if not url_has_allowed_host_and_scheme(back, allowed_hosts=None):
        back = reverse("inbox", args=[study.slug])
    return redirect(f"{back}#notes")
