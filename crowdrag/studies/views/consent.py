"""Agreeing to take part, or not."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache

from .. import ways
from ..access import participant_page
from ..domain import consenting, keys, links
from ..enums import Outcome
from ..forms import ConsentForm
from ..models import Consent, Participant


@participant_page
@never_cache
def consent(request: HttpRequest, participant: Participant) -> HttpResponse:
    """Show what is recorded and under which licence it is released; keep what somebody agrees to, and nothing else."""
    way = ways.get_for(participant, request.GET.get("way", "")) or ways.latest(participant)
    offer = way.offer(participant.study) if way else None
    if way is None or offer is None or participant.withdrawn_at:
        return redirect("work", participant.study.slug)
    if "decline" in request.POST:
        return decline(request, participant)
    text = offer.consent_text
    given = Consent.objects.filter(participant=participant, text=text, withdrawn_at__isnull=True).first()
    released = ("releases_text", "releases_log", "releases_timing")
    initial = {"agrees": True, **{name: getattr(given, name) for name in released}} if given else {}
    form = ConsentForm(text, request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        releases = {name: form.cleaned_data.get(name, False) for name in released}
        consenting.give(participant=participant, text=text, now=timezone.now(), **releases)
        made = links.first_key(participant=participant, purpose=way.name, now=timezone.now())
        return show_key(request, participant, made, way) if made else redirect(way.address(participant.study))
    context = {
        "taking_part": participant.study,
        "text": text,
        "form": form,
        "given": given,
        "earlier": not given and consenting.holds_some_version(participant=participant, text=text),
        "offer": offer,
        "start": way.address(participant.study),
    }
    return render(request, "studies/participant/consent.html", context, status=422 if form.errors else 200)


def decline(request: HttpRequest, participant: Participant) -> HttpResponse:
    """Say goodbye; nothing is written down."""
    back = links.way_back(participant=participant, outcome=Outcome.NO_CONSENT)
    context = {"taking_part": participant.study, "way_back": back, "platform": links.payer(participant)}
    return render(request, "studies/participant/declined.html", context)


def show_key(request: HttpRequest, participant: Participant, made: links.Made, way: ways.Way) -> HttpResponse:
    """Show somebody's own key, this once: only its hash is kept."""
    context = {
        "taking_part": participant.study,
        "address": request.build_absolute_uri(reverse("join", args=[made.key])),
        "code": keys.grouped(made.key),
        "start": way.address(participant.study),
    }
    return render(request, "studies/participant/key.html", context)
