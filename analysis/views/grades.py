"""Grades of responses."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from crowdrag.studies.access import study_page
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study

from ..domain.pages import grades as page
from . import shared


@study_page(Role.VIEWER)
@require_safe
def grades(request: HttpRequest, study: Study) -> HttpResponse:
    """Show mean grades by style and origin, and the grades of each topic's responses."""
    state = shared.state_of(request, study, live=True)
    found = page.grades(study, state, topic=request.GET.get("topic", ""), page=request.GET.get("page"))
    return render(request, "analysis/grades.html", shared.context(request, state, "grades") | found)
