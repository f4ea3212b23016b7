"""The operator's page of models: endpoints, how they are doing, what they cost."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from crowdrag.studies.access import operator_page

from ..domain import endpoints
from ..models import Endpoint


@operator_page
@require_safe
def page(request: HttpRequest) -> HttpResponse:
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
