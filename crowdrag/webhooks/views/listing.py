"""The webhooks of a study, and a form for one more."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache

from crowdrag.studies.access import study_page
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study

from ..domain import subscribing
from ..enums import CHOSEN
from ..forms import WebhookForm
from ..models import Webhook


@study_page(Role.OWNER)
@never_cache
def webhooks(request: HttpRequest, study: Study) -> HttpResponse:
    """List the webhooks of a study; make one, and show its secret this once."""
    if request.method != "POST":
        return _show(request, study, WebhookForm(initial={"events": CHOSEN}))
    form = WebhookForm(request.POST)
    if not form.is_valid():
        return _show(request, study, form, status=422)
    try:
        made = subscribing.subscribe(study=study, by=request.user, now=timezone.now(), **form.cleaned_data)  # type: ignore[arg-type]
    except subscribing.WebhookError as error:
        form.add_error(None, str(error))
        return _show(request, study, form, status=422)
    return _show(request, study, WebhookForm(initial={"events": CHOSEN}), made=made)


def _show(
    request: HttpRequest, study: Study, form: WebhookForm, *, made: subscribing.Made | None = None, status: int = 200
) -> HttpResponse:
    found = Webhook.objects.filter(study=study).newest_first()
    context = {"webhooks": found, "form": form, "made": made, "section": "webhooks"}
    return render(request, "webhooks/list.html", context, status=status)
