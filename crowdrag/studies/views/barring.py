"""Giving a participant nothing more, and taking that back."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from ..access import study_page
from ..domain import barring
from ..enums import Role
from ..models import Participant, Study


@study_page(Role.REVIEWER)
@require_POST
def bar(request: HttpRequest, study: Study, participant: int) -> HttpResponse:
    """Give somebody nothing more; with `lift`, let them get work again."""
    found = get_object_or_404(Participant, study=study, pk=participant)
    by, now = request.user, timezone.now()
    if "lift" in request.POST:
        barring.lift(participant=found, by=by, now=now)  # type: ignore[arg-type]
        messages.success(request, _("They can get work again."))
    else:
        try:
            barring.bar(participant=found, reason=request.POST.get("reason", "")[:500], by=by, now=now)  # type: ignore[arg-type]
            messages.success(request, _("They get nothing more. What they have in hand they may finish."))
        except barring.NoReasonError:
            messages.error(request, _("Say why they get nothing more: they read it."))
    back = request.POST.get("back", "")
    if not url_has_allowed_host_and_scheme(back, allowed_hosts=None):
        back = reverse("study", args=[study.slug])
    return redirect(back)
