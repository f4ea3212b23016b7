"""What researchers do with an order that waits for them."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from crowdrag.studies.access import study_page
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study

from ..domain import orders
from ..models import PlatformOrder


@study_page(Role.OWNER)
@require_POST
def again(request: HttpRequest, study: Study, purpose: str, order: int) -> HttpResponse:
    """Send an order again that failed."""
    try:
        orders.retry(order=_order(study, purpose, order), now=timezone.now())
    except orders.OrderError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("It is sent again in a moment."))
    return redirect("recruitment", study.slug, purpose)


@study_page(Role.OWNER)
@require_POST
def drop(request: HttpRequest, study: Study, purpose: str, order: int) -> HttpResponse:
    """Give an order up."""
    try:
        orders.drop(order=_order(study, purpose, order), now=timezone.now())
    except orders.OrderError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("The order is given up; Prolific is not told."))
    return redirect("recruitment", study.slug, purpose)


def _order(study: Study, purpose: str, key: int) -> PlatformOrder:
    return get_object_or_404(PlatformOrder, pk=key, platform_study__study=study, platform_study__purpose=purpose)
