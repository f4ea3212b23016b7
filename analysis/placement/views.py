"""Pages of placements: the order with its cost, and where a system stands."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from annotation.campaigns.problems import CampaignProblem
from crowdrag.studies.access import audited, study_page
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Study

from . import anchors, queries, services
from .forms import PlacementForm
from .services import PlacementProblem

SECTION = {"section": "results"}


@study_page(Role.EDITOR)
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest, study: Study) -> HttpResponse:
    """Ask for a system and a budget; POST shows the cost, and creates the draft of the campaign when told so."""
    run = anchors.latest_run(study)
    listed = queries.candidates(study, run)
    initial = {"system": request.GET["system"]} if request.GET.get("system", "").isdigit() else {}
    form = PlacementForm(study, request.POST if request.method == "POST" else None, initial=initial)
    context: dict[str, Any] = {
        "form": form,
        "run": run,
        "listed": listed,
        "fewest": anchors.FEWEST_ANCHORS,
        "ranked": len(anchors.anchor_rows(run, "").get(anchors.ALL, ())),
        "source": services.source_campaign(study),
        **SECTION,
    }
    if form.is_bound and form.is_valid():
        try:
            if request.POST.get("do") == "create":
                services.create_campaign(study=study, order=form.order, now=timezone.now())
                return redirect("placement", study.slug, form.order.system.pk)
            draw = services.draw_pairs(study, form.order)
            context |= {"draw": draw, "forecast": services.forecast(study, form.order, draw), "order": form.order}
        except (PlacementProblem, CampaignProblem) as error:
            form.add_error(None, str(error))
    return render(request, "analysis/placement/new.html", context, status=422 if form.errors else 200)


@study_page(Role.VIEWER)
@require_safe
@audited(AuditedContent.PEOPLE)
def placement(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """Show where a system stands."""
    system = get_object_or_404(queries.systems(study), pk=pk)
    context = queries.page(study, system) | {
        "may_edit": request.study_role >= Role.EDITOR,  # type: ignore[attr-defined]
        **SECTION,
    }
    return render(request, "analysis/placement/placement.html", context)
