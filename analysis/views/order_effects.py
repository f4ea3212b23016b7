"""Order effects, and how far the dimensions say the same."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from crowdrag.studies.access import study_page
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study

from ..domain.pages import order_effects as page
from . import shared


@study_page(Role.VIEWER)
@require_safe
def order_effects(request: HttpRequest, study: Study) -> HttpResponse:
    """Show agreement by order, the preference for a side, and the correlation between dimensions."""
    state = shared.state_of(request, study)
    found = page.order_effects(study, state)
    return render(request, "analysis/order_effects.html", shared.context(request, state, "order_results") | found)
