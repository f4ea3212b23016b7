"""Pages of emails: a participant's address, and the link that stops the emails."""

from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from crowdrag.studies.access import participant_page, public
from crowdrag.studies.models import Participant
from crowdrag.studies.page_language import activate_browser_language, activate_study_language

from . import services
from .forms import AddressForm


@participant_page
@never_cache
def address(request: HttpRequest, participant: Participant) -> HttpResponse:
    """Show a participant their address, and save changes."""
    if not settings.SENDS_MAIL:
        raise Http404
    current = services.own_address(participant)
    form = AddressForm(request.POST or None, initial={"address": current})
    if request.method == "POST" and form.is_valid():
        services.keep_address(
            participant=participant,
            address=form.cleaned_data["address"],
            base=request.build_absolute_uri("/"),
            now=timezone.now(),
        )
        messages.success(request, _("Saved. We will write to this address."))
        return redirect("participant_dashboard", participant.study.slug)
    context = {"taking_part": participant.study, "form": form, "own_address": current}
    return render(request, "mail/address.html", context, status=422 if form.errors else 200)


@participant_page
@require_POST
def remove_address(request: HttpRequest, participant: Participant) -> HttpResponse:
    """Remove a participant's address."""
    services.remove_address(participant=participant)
    messages.success(request, _("We deleted your email address. You get no more emails from this study."))
    return redirect("participant_dashboard", participant.study.slug)


@csrf_exempt
@public
@never_cache
def stop(request: HttpRequest, key: UUID) -> HttpResponse:
    """Stop the emails of one study: confirmed on a page by its button, or by a mail program (RFC 8058).

    The key is the proof, so no CSRF token is needed. Reading the page changes nothing, since mail scanners follow
    links.
    """
    study = services.find_study(key)
    if study is None:
        activate_browser_language(request)
    else:
        activate_study_language(study)
    if request.method == "POST":
        services.stop(key)
    is_stopped = study is None or request.method == "POST"
    return render(request, "mail/stop.html", {"study": study, "is_stopped": is_stopped})
