"""Language models as judges."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from crowdrag.studies.access import study_page
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study

from ..domain.pages import model_judges as page
from . import shared


@study_page(Role.VIEWER)
@require_safe
def model_judges(request: HttpRequest, study: Study) -> HttpResponse:
    """Show how consistent models judge, how close to people, and what they make of their own responses."""
    state = shared.state_of(request, study)
    found = page.model_judges(study, state, page=request.GET.get("page"))
    return render(request, "analysis/model_judges.html", shared.context(request, state, "model_judge_results") | found)
