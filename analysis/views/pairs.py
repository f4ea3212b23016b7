"""Presented pairs: their labels, and the votes behind them."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation.models import Pair
from crowdrag.studies.access import audit_subject, audited, study_page
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Study
from writing.models import Response

from ..domain.pages import pairs as page
from . import shared


@study_page(Role.VIEWER)
@require_safe
def pairs(request: HttpRequest, study: Study) -> HttpResponse:
    """List labels of pairs."""
    state = shared.state_of(request, study, live=True)
    asked = {name: request.GET.get(name, "") for name in ("topic", "dimension", "label", "sort")}
    found = page.pairs(study, state, page=request.GET.get("page"), **asked)
    return render(request, "analysis/pairs.html", shared.context(request, state, "pairs") | found)


@study_page(Role.VIEWER)
@require_safe
@audited(AuditedContent.RESPONSE)
def pair(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """Show the two responses of a pair and the votes behind its labels."""
    pairs = Pair.objects.select_related("a__topic", *Response.label_needs("a", "b"))
    found = get_object_or_404(pairs, study=study, pk=pk)
    audit_subject(request, None, found.pk)
    state = shared.state_of(request, study, live=True)
    context = shared.context(request, state, "pairs") | {"pair": found}
    return render(request, "analysis/pair.html", context | page.pair(study, state, found))
