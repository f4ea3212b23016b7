"""Progress pages. Participants are shown by pseudonym."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from crowdrag.studies import money
from crowdrag.studies.access import audited, study_page
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Participant, Study
from crowdrag.ui import csv_export

from . import overview, wages

PER_PAGE = 50


@study_page(Role.VIEWER)
@require_safe
@audited(AuditedContent.PEOPLE)
def progress(request: HttpRequest, study: Study) -> HttpResponse:
    """Show task counts, times, pay, writers and costs."""
    figures = overview.overview(study)
    context = {
        "found": figures,
        "plan": figures.plan,
        "page": Paginator(figures.writers, PER_PAGE).get_page(request.GET.get("page")),
        "may_edit": request.study_role >= Role.EDITOR,  # type: ignore[attr-defined]
        "may_review": request.study_role >= Role.REVIEWER,  # type: ignore[attr-defined]
        "section": "progress",
    }
    return render(request, "writing/progress/progress.html", context)


@study_page(Role.VIEWER)
@require_safe
@audited(AuditedContent.PEOPLE)
def table(request: HttpRequest, study: Study, name: str) -> HttpResponse:
    """Send one of the page's tables as CSV."""
    try:
        content = overview.as_table(study, name)
    except overview.UnknownTable as error:
        raise Http404("There is no such table.") from error
    disposition = f'attachment; filename="{study.slug}-writing-{name}.csv"'
    return HttpResponse(content, content_type=csv_export.MEDIA_TYPE, headers={"Content-Disposition": disposition})


@study_page(Role.EDITOR)
@require_POST
def top_up(request: HttpRequest, study: Study, writer: int) -> HttpResponse:
    """Top up a writer's pay to the wage floor."""
    participant = get_object_or_404(Participant, study=study, pk=writer)
    amount = wages.top_up(
        study=study,
        participant=participant,
        by=request.user,  # type: ignore[arg-type] # study_page requires sign-in
        now=timezone.now(),
    )
    if amount:
        named = {"amount": money.format_amount(amount, study.currency), "who": participant.external_id}
        messages.success(request, "Top-up added: {amount} for {who}.".format(**named))
    else:
        messages.info(request, "No top-up needed. The hourly pay of this writer is no longer below the minimum.")
    return redirect("writing_progress", study.slug)
