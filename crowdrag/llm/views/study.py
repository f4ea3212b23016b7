"""A study's page of models: what was asked of them, what it cost, what is left."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from crowdrag.studies.access import study_page
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study

from ..domain import endpoints


@study_page(Role.VIEWER)
@require_safe
def page(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the study's calls, tokens, cost, budget and failures."""
    return render(request, "llm/study.html", {"use": endpoints.use(study=study)})
