"""Withdrawing, in the session or with the personal link alone."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from .. import ways
from ..access import forget, participant_page, public
from ..domain import leaving, links
from ..enums import Outcome
from ..forms import KeyForm, WithdrawForm
from ..models import Participant


@participant_page
@never_cache
def withdraw(request: HttpRequest, participant: Participant) -> HttpResponse:
    """Say what each choice means; do what is chosen."""
    form = WithdrawForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        return _leave(request, participant, form.cleaned_data["choice"])
    return _show(request, participant, form)


@public
@never_cache
def withdraw_by_key(request: HttpRequest) -> HttpResponse:
    """Let somebody withdraw who has nothing but their personal link: no session, no account."""
    given = KeyForm(request.POST or None)
    if request.method != "POST" or not given.is_valid():
        return _ask(request, given)
    link = links.find_personal(given.cleaned_data["key"])
    if link is None or link.participant is None:
        given.add_error("key", _("Nobody has this link or code. Is all of it there? It may also have been replaced."))
        return _ask(request, given)
    form = WithdrawForm(request.POST) if "choice" in request.POST or "is_sure" in request.POST else WithdrawForm()
    if form.is_valid():
        return _leave(request, link.participant, form.cleaned_data["choice"])
    return _show(request, link.participant, form, given.cleaned_data["key"])


def _ask(request: HttpRequest, form: KeyForm) -> HttpResponse:
    status = 422 if form.errors else 200
    return render(request, "studies/participant/withdraw_begin.html", {"form": form}, status=status)


def _show(request: HttpRequest, participant: Participant, form: WithdrawForm, key: str = "") -> HttpResponse:
    context = {"taking_part": participant.study, "participant": participant, "form": form, "key": key}
    context |= {"owed": ways.owed(participant), "payer": links.payer(participant)}
    context |= {"awaited": ways.awaited(participant), "erasure": ways.erasure(participant)}
    return render(request, "studies/participant/withdraw.html", context, status=422 if form.errors else 200)


def _leave(request: HttpRequest, participant: Participant, choice: str) -> HttpResponse:
    # Read before the arrivals go.
    back = links.way_back(participant=participant, outcome=Outcome.WITHDRAWN)
    payer = links.payer(participant)
    awaited, erasure = ways.awaited(participant), ways.erasure(participant)
    now = timezone.now()
    if choice == "erase":
        leaving.request_erasure(participant=participant, now=now)
        forget(request, participant)
    else:
        leaving.withdraw(participant=participant, now=now)
    context = {
        "taking_part": participant.study,
        "participant": participant,
        "is_erased": choice == "erase",
        "way_back": back,
        "owed": ways.owed(participant),
        "payer": payer,
        "awaited": awaited,
        "erasure": erasure,
    }
    return render(request, "studies/participant/withdrawn.html", context)
