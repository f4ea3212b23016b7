"""Pausing, closing, reopening a campaign, and asking for more judgments: pressed twice, it is done once."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from ..domain import assignments, campaigns, live
from ..forms.extending import ExtendForm
from ..models import Campaign
from .campaign_drafts import SECTION, of_people, put


@of_people()
@require_POST
def pause(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Give out no questionnaire for the time being."""
    return _to(request, campaign, campaigns.pause, _("Paused. Whoever has a questionnaire can finish it."))


@of_people()
@require_POST
def close(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Give out no questionnaire any more."""
    return _to(request, campaign, campaigns.close, _("Closed. Whoever has a questionnaire can finish it."))


@of_people()
@require_POST
def reopen(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Give out questionnaires again."""
    return _to(request, campaign, campaigns.reopen, _("Open: people who come by its links can judge again."))


@of_people()
@require_http_methods(["GET", "HEAD", "POST"])
def extend(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Say what more judgments of each questionnaire cost; POST asks for them."""
    data = request.POST if request.method == "POST" else request.GET if "k" in request.GET else None
    form = ExtendForm(campaign, data)
    found = None
    if data is not None and form.is_valid():
        try:
            found = live.extension(campaign, form.cleaned_data["k"])
            if request.method == "POST":
                made = live.extend(campaign=campaign, k=form.cleaned_data["k"], now=timezone.now())
                messages.success(request, _extended(made))
                return redirect("campaign", campaign.study.slug, campaign.pk)
        except campaigns.CampaignProblem as error:
            put(form, error)
    context = {
        "campaign": campaign,
        "form": form,
        "extension": found,
        "phase": live.phase(campaign),
        "recruitment": reverse("recruitment", args=[campaign.study.slug, assignments.purpose(campaign)]),
        "section": SECTION,
    }
    return render(request, "annotation/live/extend.html", context, status=422 if form.errors else 200)


def _extended(made: int) -> str:
    if not made:
        return _("There are as many places already.")
    return ngettext("%(n)s place more.", "%(n)s places more.", made) % {"n": made}


def _to(request: HttpRequest, campaign: Campaign, change: Callable[..., Campaign], done: str) -> HttpResponse:
    try:
        change(campaign=campaign, now=timezone.now())
    except campaigns.CampaignProblem as error:
        messages.error(request, str(error))
    else:
        messages.success(request, done)
    return redirect("campaign", campaign.study.slug, campaign.pk)
