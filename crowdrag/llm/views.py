"""The pages of models: the operator's page of all endpoints, and a study's page of its calls and their cost."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from crowdrag.studies.access import operator_page, study_page
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study

from . import endpoints
from .models import Endpoint


@operator_page
@require_safe
def models(request: HttpRequest) -> HttpResponse:
    """Show all endpoints and what studies spent."""
    return render(request, "llm/endpoints.html", endpoints.summary())


@operator_page
@require_POST
def try_out(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask an endpoint for one word."""
    trial = endpoints.try_out(endpoint=get_object_or_404(Endpoint, pk=pk))
    if request.htmx:  # type: ignore[attr-defined]
        return render(request, "llm/endpoints.html#trial", {"trial": trial})
    if trial.error:
        messages.error(request, f"{trial.endpoint}: {trial.error}")
    else:
        messages.success(request, f"{trial.endpoint}: “{trial.text}”")
    return redirect("models")


@study_page(Role.VIEWER)
@require_safe
def study_models(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the study's calls, tokens, cost, budget and failures."""
    return render(request, "llm/study.html", {"use": endpoints.study_usage(study=study)})
