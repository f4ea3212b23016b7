"""How responses were written."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from crowdrag.studies.access import study_page
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study

from ..domain.pages import writing as page
from . import shared


@study_page(Role.VIEWER)
@require_safe
def writing(request: HttpRequest, study: Study) -> HttpResponse:
    """Show how long responses are, what they cite, how easy they read, and how they came about."""
    state = shared.state_of(request, study)
    found = page.writing(study, state, page=request.GET.get("page"))
    return render(request, "analysis/writing.html", shared.context(request, state, "writing_results") | found)
