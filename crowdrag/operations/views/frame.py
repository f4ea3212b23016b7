"""The frame of the operator's dashboards: Django admin's, with its navigation."""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import wraps
from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache

from crowdrag.studies.access import operator_page

# The dashboards in their order, by the names of their addresses.
PAGES: dict[str, str | Promise] = {
    "operations": _("Overview"),
    "operations_services": _("Services and queues"),
    "operations_machines": _("Workers and devices"),
    "operations_work": _("Stuck and slow work"),
    "operations_spend": _("Budgets and spend"),
    "operations_disk": _("Disk"),
    "operations_rates": _("Rates and latencies"),
    "operations_sign_ins": _("Failed sign-ins"),
    "operations_trail": _("Who looked at worker data"),
    "operations_retention": _("Retention and erasure"),
    "operations_backups": _("Backups"),
}
Shown = tuple[str, Mapping[str, Any]]


def dashboard(view: Callable[[HttpRequest, datetime], Shown]) -> Callable[..., HttpResponseBase]:
    """Show what a function of the request and the time returns, a template and its context, to operators."""

    @operator_page
    @never_cache
    @wraps(view)
    def shown(request: HttpRequest) -> HttpResponse:
        now = timezone.now()
        template, context = view(request, now)
        return framed(request, template, {"now": now, **context})

    return shown


def framed(request: HttpRequest, template: str, context: Mapping[str, Any], *, status: int = 200) -> HttpResponse:
    """Answer with a page in the admin's frame."""
    here = request.resolver_match.url_name if request.resolver_match else ""
    pages = [{"title": title, "url": reverse(name), "is_here": name == here} for name, title in PAGES.items()]
    title = PAGES.get(str(here), PAGES["operations"])
    frame = {**admin.site.each_context(request), "title": title, "dashboards": pages}
    return render(request, f"operations/{template}.html", {**frame, **context}, status=status)
