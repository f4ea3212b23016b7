"""Reference-based metrics."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from crowdrag.studies.access import study_page
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study

from ..domain.pages import metrics as page
from . import shared


@study_page(Role.VIEWER)
@require_safe
def reference_metrics(request: HttpRequest, study: Study) -> HttpResponse:
    """Show how well metrics rank responses as their grades do."""
    state = shared.state_of(request, study)
    found = page.metrics(study, state)
    return render(request, "analysis/metrics.html", shared.context(request, state, "reference_metrics") | found)
