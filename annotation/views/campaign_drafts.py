"""A campaign before it is launched: making it, changing it, what it comes to, opening it."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from crowdrag.studies.access import study_page
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study

from ..domain import campaigns
from ..domain.campaigns import questions
from ..enums import CampaignKind, CampaignState
from ..forms.campaigns import CampaignForm, NewForm
from ..models import Campaign

SECTION = "annotation"
ALONG = ("study", "source", "instructions", "consent_text")


def of_people(role: Role = Role.EDITOR) -> Callable[[Callable[..., HttpResponseBase]], Callable[..., HttpResponseBase]]:
    """Let in members of this role, and give the view the campaign; those that models judge are not found."""

    def decorate(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        @study_page(role)
        @wraps(view)
        def found(request: HttpRequest, study: Study, campaign: int, **kwargs: Any) -> HttpResponseBase:
            own = Campaign.objects.filter(study=study).exclude(judges="MODEL").select_related(*ALONG)
            return view(request, get_object_or_404(own, pk=campaign), **kwargs)

        return found

    return decorate


@study_page(Role.EDITOR)
def new(request: HttpRequest, study: Study) -> HttpResponse:
    """Ask what a campaign is; POST makes a draft with the usual questions and texts."""
    form = NewForm(study, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = campaigns.draft(study=study, now=timezone.now(), **form.cleaned_data)
        except campaigns.BadCampaign as error:
            put(form, error)
        else:
            return redirect("campaign_edit", study.slug, made.pk)
    context = {"form": form, "section": SECTION}
    return render(request, "annotation/campaigns/new.html", context, status=422 if form.errors else 200)


@of_people()
def edit(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show a campaign's terms and design; POST changes them."""
    form = CampaignForm(campaign, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            campaigns.change(campaign=campaign, terms=form.terms, design=form.new_design, now=timezone.now())
        except campaigns.CampaignProblem as error:
            put(form, error)
        else:
            messages.success(request, _("Saved."))
            return redirect("campaign_edit", campaign.study.slug, campaign.pk)
    context = {
        "campaign": campaign,
        "form": form,
        "questions": questions.of(campaign),
        "is_draft": campaign.state == CampaignState.DRAFT,
        "is_expert": campaign.kind == CampaignKind.EXPERT,
        "picked": len(form.design.picked),
        "section": SECTION,
    }
    return render(request, "annotation/campaigns/edit.html", context, status=422 if form.errors else 200)


@of_people()
def opening(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show what a campaign comes to, and what is missing; POST draws its questionnaires, or opens it."""
    if request.method == "POST":
        return _opened(request, campaign) if request.POST.get("do") == "open" else _drawn(request, campaign)
    forecast = campaigns.forecast(campaign)
    measures = campaigns.measures(campaign) if forecast.is_drawn else None
    context = {
        "campaign": campaign,
        "forecast": forecast,
        "measures": measures,
        "readiness": campaigns.readiness(campaign, forecast, measures),
        "is_draft": campaign.state == CampaignState.DRAFT,
        "has_sides": campaign.kind != CampaignKind.POINTWISE,
        "section": SECTION,
    }
    return render(request, "annotation/campaigns/open.html", context)


@of_people()
@require_POST
def clone(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Make a draft like this campaign."""
    made = campaigns.clone(campaign=campaign, now=timezone.now())
    messages.success(request, _("“%(name)s” is a copy. Nothing was drawn or judged yet.") % {"name": made.name})
    return redirect("campaign_edit", campaign.study.slug, made.pk)


@of_people()
@require_POST
def delete(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Delete a draft."""
    try:
        campaigns.delete(campaign=campaign)
    except campaigns.BadCampaign as error:
        messages.error(request, " ".join(error.problems.values()))
    except campaigns.CampaignProblem as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("“%(name)s” was deleted.") % {"name": campaign.name})
        return redirect("campaigns", campaign.study.slug)
    return redirect("campaign", campaign.study.slug, campaign.pk)


def put(form: forms.Form, error: campaigns.CampaignProblem) -> None:
    """Put what is wrong beside the fields that it is about."""
    problems = error.problems if isinstance(error, campaigns.BadCampaign) else {"": str(error)}
    for field, problem in problems.items():
        form.add_error(field if field in form.fields else None, problem)


def _drawn(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    try:
        campaigns.build(campaign=campaign, now=timezone.now())
    except campaigns.CampaignProblem as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("Drawn."))
    return redirect("campaign_open", campaign.study.slug, campaign.pk)


def _opened(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    try:
        campaigns.open(campaign=campaign, now=timezone.now())
    except campaigns.CampaignProblem as error:
        messages.error(request, str(error))
        return redirect("campaign_open", campaign.study.slug, campaign.pk)
    messages.success(request, _("Open: people who come by its links can judge now. Make the links under “People”."))
    return redirect("campaign", campaign.study.slug, campaign.pk)
