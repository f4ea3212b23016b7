"""Who looked at worker data, and who failed to sign in: filtered, in pages, and to take along."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from crowdrag.studies.access import operator_page
from crowdrag.studies.domain import sheets

from ..domain import trail
from ..forms import FailuresForm, TrailForm
from .frame import dashboard

PER_PAGE = 100
Shown = tuple[str, Mapping[str, Any]]


@dashboard
def looks(request: HttpRequest, _now: datetime) -> Shown:
    """Show the audit trail, as far as the filter goes."""
    form = TrailForm(request.GET or None)
    page = Paginator(trail.looks(form.wanted()), PER_PAGE).get_page(request.GET.get("page"))
    return "trail", {"form": form, "page": page, "query": request.GET.urlencode(), "most": trail.MOST_EXPORTED}


@dashboard
def sign_ins(request: HttpRequest, now: datetime) -> Shown:
    """Show sign-ins that failed, and from where most did."""
    form = FailuresForm(request.GET or None)
    page = Paginator(trail.failures(form.wanted()), PER_PAGE).get_page(request.GET.get("page"))
    context = {"form": form, "page": page, "query": request.GET.urlencode(), "pressing": trail.pressing(now=now)}
    return "sign_ins", context


@operator_page
@require_safe
@never_cache
def looks_file(request: HttpRequest) -> HttpResponse:
    """Send the looks that the filter keeps as CSV."""
    return _file("audit-trail", trail.COLUMNS, trail.exported, TrailForm(request.GET).wanted())


@operator_page
@require_safe
@never_cache
def sign_ins_file(request: HttpRequest) -> HttpResponse:
    """Send the failures that the filter keeps as CSV."""
    return _file("failed-sign-ins", trail.FAILURE_COLUMNS, trail.exported_failures, FailuresForm(request.GET).wanted())


def _file(
    name: str, columns: Sequence[str], rows: Callable[[trail.Wanted], Iterable[Any]], wanted: trail.Wanted
) -> HttpResponse:
    disposition = f'attachment; filename="{name}-{timezone.now():%Y-%m-%d}.csv"'
    content = sheets.as_csv(columns, rows(wanted))
    return HttpResponse(content, content_type=sheets.MEDIA_TYPE, headers={"Content-Disposition": disposition})
