"""Models as writers: campaigns, what they would cost, what came of them."""

from typing import Any
from uuid import UUID

from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from crowdrag.runs.kinds import Rejected
from crowdrag.studies.access import study_page
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study

from ..domain.generation import campaigns, listing, slots
from ..enums import AnswerOutcome
from ..forms.campaigns import CampaignForm

PER_PAGE = 50
CAMPAIGNS = 20
INVALID = 422


@study_page(Role.EDITOR)
@require_safe
def writers(request: HttpRequest, study: Study) -> HttpResponse:
    """List the campaigns in which models wrote."""
    page = Paginator(listing.runs(study), CAMPAIGNS).get_page(request.GET.get("page"))
    context = {"page": page, "campaigns": listing.campaigns(page.object_list), "section": "progress"}
    return render(request, "writing/models.html", context)


@study_page(Role.EDITOR)
@require_http_methods(["GET", "HEAD", "POST"])
def order(request: HttpRequest, study: Study) -> HttpResponse:
    """Order a campaign: the form, then what it would come to and what exactly is asked, then the run."""
    if request.method != "POST":
        return _form(request, CampaignForm(study))
    form = CampaignForm(study, request.POST)
    if not form.is_valid():
        return _form(request, form, status=INVALID)
    with transaction.atomic():
        ordered = form.order(now=timezone.now())
    # What starts is what was estimated: the page that showed the estimate carries the order's digest.
    if request.POST.get("start") == ordered.digest:
        try:
            run = campaigns.start(study=study, order=ordered, by=request.user)  # type: ignore[arg-type] # study_page lets nobody else in
        except Rejected as rejected:
            form.add_error(None, rejected.problems[0]["message"])
            return _form(request, form, status=INVALID)
        return redirect("run", study.slug, run.key)
    pairs = ordered.pairs(study)
    context: dict[str, Any] = {
        "forecast": campaigns.forecast(study=study, order=ordered),
        "order": ordered,
        "sample": ordered.writer().text(slots.of(pairs[:1])[0]) if pairs else "",
        "sampled": pairs[0] if pairs else None,
    }
    return _form(request, form, **context)


@study_page(Role.EDITOR)
@require_safe
def campaign(request: HttpRequest, study: Study, key: UUID) -> HttpResponse:
    """Show what a campaign's model answered, outcome by outcome."""
    run = get_object_or_404(listing.runs(study), key=key)
    outcome = request.GET.get("outcome", "")
    page = Paginator(listing.answers(run, outcome=outcome), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "campaign": listing.campaigns([run])[0],
        "run": run,
        "page": page,
        "outcome": outcome,
        "outcomes": AnswerOutcome.choices,
        "section": "progress",
    }
    return render(request, "writing/campaign.html", context)


def _form(request: HttpRequest, form: CampaignForm, *, status: int = 200, **context: Any) -> HttpResponse:
    return render(request, "writing/campaign_new.html", {"form": form, "section": "progress", **context}, status=status)
