"""A participant's own page: what they can do here, what they earned, what they asked, and how to leave."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from .. import ways
from ..access import forget, participant_page
from ..domain import enquiring, links, standing
from ..models import Participant
from .consent import show_key


@participant_page
@never_cache
def work(request: HttpRequest, participant: Participant) -> HttpResponse:
    """Show somebody what there is for them and from them."""
    context = {
        "taking_part": participant.study,
        "participant": participant,
        "standing": standing.of(participant),
        "enquiries": enquiring.of_participant(participant),
    }
    return render(request, "studies/participant/work.html", context)


@participant_page
@require_POST
@never_cache
def key(request: HttpRequest, participant: Participant) -> HttpResponse:
    """Give somebody a new personal link; the earlier ones stop working."""
    way = ways.latest(participant)
    if way is None:
        return redirect("work", participant.study.slug)
    made = links.renew(participant=participant, purpose=way.name, now=timezone.now())
    return show_key(request, participant, made, way)


@participant_page
@require_POST
def leave_browser(request: HttpRequest, participant: Participant) -> HttpResponse:
    """Let this browser forget who it is: for devices that several people use."""
    forget(request, participant)
    request.session.cycle_key()
    messages.success(request, _("This browser has forgotten who you are. Your personal link brings you back."))
    return redirect("work_begin")
