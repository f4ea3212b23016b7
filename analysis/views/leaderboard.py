"""Participants ranked."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from crowdrag.studies.access import study_page
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study

from ..domain.pages import leaderboard as page
from . import shared


@study_page(Role.VIEWER)
@require_safe
def leaderboard(request: HttpRequest, study: Study) -> HttpResponse:
    """Show who is ranked where on a dimension, with intervals, and who differs from whom."""
    state = shared.state_of(request, study)
    found = page.leaderboard(study, state, dimension=request.GET.get("dimension", ""), page=request.GET.get("page"))
    return render(request, "analysis/leaderboard.html", shared.context(request, state, "leaderboard") | found)
