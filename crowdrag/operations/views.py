"""The operator's dashboards.

Each reads its module of operations. The audit log can be filtered and exported; removals and erasures are previewed
first, then carried out and recorded.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from crowdrag.audit import queries
from crowdrag.studies.access import operator_page
from crowdrag.studies.models import Study
from crowdrag.ui import csv_export

from . import backups, disk_usage, machines, metrics, overview, retention, service_status, spend
from .forms import AuditLogForm, ConfirmForm, ErasureForm, FailuresForm, RemovalForm

# The dashboards in order, by URL name.
PAGES: dict[str, str | Promise] = {
    "operations": "Overview",
    "operations_services": "Services and queues",
    "operations_machines": "Workers and machines",
    "operations_work": "Stuck and slow work",
    "operations_spend": "Budgets and spending",
    "operations_disk": "Disk",
    "operations_rates": "Requests and latency",
    "operations_sign_ins": "Failed sign-ins",
    "operations_access_log": "Access log",
    "operations_retention": "Retention and erasure",
    "operations_backups": "Backups",
}
#: Pages that belong to a dashboard in the list.
PARENTS = {"operations_erase": "operations_retention"}
Dashboard = tuple[str, Mapping[str, Any]]


def dashboard(view: Callable[[HttpRequest, datetime], Dashboard]) -> Callable[..., HttpResponseBase]:
    """Show operators a dashboard: the function returns a template and its context from the request and the time."""

    @operator_page
    @never_cache
    @wraps(view)
    def shown(request: HttpRequest) -> HttpResponse:
        now = timezone.now()
        template, context = view(request, now)
        return render_framed(request, template, {"now": now, **context})

    return shown


def render_framed(
    request: HttpRequest, template: str, context: Mapping[str, Any], *, status: int = 200
) -> HttpResponse:
    """Render a page with the list of dashboards."""
    name = request.resolver_match.url_name if request.resolver_match else ""
    here = PARENTS.get(str(name), str(name))
    pages = [{"title": title, "url": reverse(page), "is_here": page == here} for page, title in PAGES.items()]
    title = PAGES.get(here, PAGES["operations"])
    frame = {"title": title, "dashboards": pages, "is_overview": here == "operations"}
    return render(request, f"operations/{template}.html", {**frame, **context}, status=status)


@dashboard
def overview_page(_request: HttpRequest, now: datetime) -> Dashboard:
    """Show whether anything is wrong, and where."""
    return "index", {"tiles": overview.tiles(now=now)}


@dashboard
def services_page(_request: HttpRequest, now: datetime) -> Dashboard:
    """Show services, queues and stores."""
    return "services", {
        "queues": service_status.queues(now=now),
        "supervised": service_status.supervised(),
        "sweeps": service_status.sweeps_alive(now=now),
        "scheduled_tasks": service_status.scheduled_tasks(),
        "database": service_status.database(),
        "broker": service_status.broker(),
    }


@dashboard
def machines_page(_request: HttpRequest, now: datetime) -> Dashboard:
    """Show workers, machines and devices."""
    return "machines", {"workers": service_status.workers(now=now), "machines": machines.list_machines(now=now)}


@dashboard
def work_page(_request: HttpRequest, now: datetime) -> Dashboard:
    """Show stalled work, and usual durations."""
    return "stalled_work", service_status.hanging_units(now=now)


@dashboard
def spend_page(request: HttpRequest, now: datetime) -> Dashboard:
    """Show budgets, and spending by study and endpoint in a period."""
    requested = request.GET.get("period", "month")
    period = requested if requested in spend.PERIODS else "month"
    return "spend", {
        "budgets": spend.list_budgets(),
        "rows": spend.spend_by_study_and_endpoint(now=now, period=period),
        "period": period,
        "periods": list(spend.PERIODS),
    }


@dashboard
def disk_page(_request: HttpRequest, _now: datetime) -> Dashboard:
    """Show disk usage."""
    return "disk", {
        "disks": disk_usage.disks(),
        "tables": disk_usage.largest_tables(),
        "files": disk_usage.files_by_study(),
        "storage": disk_usage.storage_kind(),
        "reserve": settings.DISK_RESERVE,
    }


@dashboard
def rates_page(_request: HttpRequest, now: datetime) -> Dashboard:
    """Show request rates and latencies."""
    return "requests", {
        "requests": metrics.request_rates(),
        "models": metrics.model_rates(now=now),
        "units": metrics.unit_rates(now=now),
    }


@dashboard
def backups_page(_request: HttpRequest, now: datetime) -> Dashboard:
    """Show backups and drills."""
    return "backups", {"kept": backups.status(now=now), "rows": backups.latest()}


PER_PAGE = 100


@dashboard
def audit_log_page(request: HttpRequest, _now: datetime) -> Dashboard:
    """Show the audit log, filtered."""
    form = AuditLogForm(request.GET or None)
    page = Paginator(queries.accesses(form.wanted()), PER_PAGE).get_page(request.GET.get("page"))
    return "access_log", {"form": form, "page": page, "query": request.GET.urlencode(), "most": queries.MAX_EXPORTED}


@dashboard
def sign_ins_page(request: HttpRequest, now: datetime) -> Dashboard:
    """Show failed sign-ins, and the most frequent origins."""
    form = FailuresForm(request.GET or None)
    page = Paginator(queries.sign_in_failures(form.wanted()), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "form": form,
        "page": page,
        "query": request.GET.urlencode(),
        "pressing": queries.busiest_addresses(now=now),
    }
    return "sign_ins", context


@operator_page
@require_safe
@never_cache
def audit_log_file(request: HttpRequest) -> HttpResponse:
    """Send the filtered audit log as CSV."""
    return _csv_file("audit-trail", queries.ACCESS_COLUMNS, queries.export_accesses, AuditLogForm(request.GET).wanted())


@operator_page
@require_safe
@never_cache
def sign_ins_file(request: HttpRequest) -> HttpResponse:
    """Send the filtered failures as CSV."""
    return _csv_file(
        "failed-sign-ins", queries.FAILURE_COLUMNS, queries.export_failures, FailuresForm(request.GET).wanted()
    )


def _csv_file(
    name: str,
    columns: Sequence[str],
    rows: Callable[[queries.AuditFilter], Iterable[Any]],
    filters: queries.AuditFilter,
) -> HttpResponse:
    disposition = f'attachment; filename="{name}-{timezone.now():%Y-%m-%d}.csv"'
    content = csv_export.to_csv(columns, rows(filters))
    return HttpResponse(content, content_type=csv_export.MEDIA_TYPE, headers={"Content-Disposition": disposition})


@dashboard
def retention_page(_request: HttpRequest, now: datetime) -> tuple[str, Mapping[str, Any]]:
    """Show data whose retention period is over, and each study's promise."""
    return "retention", {
        "found": retention.preview_rules(now=now),
        "promises": retention.study_promises(),
        "removals": retention.latest_removals(),
        "form": ErasureForm(),
        "until": now.isoformat(),
    }


@operator_page
@require_POST
def remove_by_rule(request: HttpRequest) -> HttpResponse:
    """Remove what the preview of a rule showed."""
    form = RemovalForm(request.POST)
    if not form.is_valid():
        messages.error(request, "First preview what would be removed.")
        return redirect("operations_retention")
    arguments: Any = {"name": form.cleaned_data["rule"], "until": form.cleaned_data["until"], "by": request.user}
    try:
        done = retention.remove_by_rule(**arguments, now=timezone.now())
    except retention.UnknownRuleError:
        messages.error(request, "This rule does not exist.")
    else:
        messages.success(request, f"Removed: {sum(done.rows.values())} rows.")
    return redirect("operations_retention")


@operator_page
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def erase_page(request: HttpRequest) -> HttpResponse:
    """Preview the erasure of a participant's data; POST with the pseudonym typed again carries it out."""
    fields = request.POST if request.method == "POST" else request.GET
    form = ConfirmForm(fields) if request.method == "POST" else ErasureForm(fields or None)
    named = {name: fields.get(name, "").strip() for name in ("study", "pseudonym")}
    title = "Erase a participant's data"
    person = retention.find_person(**named)
    if person is None:
        if any(named.values()):
            is_study = Study.objects.filter(slug=named["study"]).exists()
            problem = "Nobody in this study has this pseudonym." if is_study else f"There is no study {named['study']}."
            form.add_error("pseudonym" if is_study else "study", problem)
        return render_framed(
            request, "erase", {"form": form, "title": title}, status=422 if any(named.values()) else 200
        )
    if request.method == "POST" and form.is_valid() and not person.erased_at:
        retention.erase_person(participant=person, by=request.user, now=timezone.now())  # type: ignore[arg-type]
        messages.success(request, "Erased. Only a record with the pseudonym remains.")
        return redirect("operations_retention")
    context: dict[str, Any] = {"title": title, "form": form, "person": person, "confirm": _confirm_form(form, named)}
    try:
        context["effect"] = (
            None if person.erased_at else retention.rehearse_erasure(participant=person, now=timezone.now())
        )
    except retention.ErasureBusyError:
        context["is_busy"] = True
    return render_framed(request, "erase", context, status=422 if request.method == "POST" else 200)


def _confirm_form(form: Any, named: Mapping[str, str]) -> ConfirmForm:
    return form if isinstance(form, ConfirmForm) else ConfirmForm(initial=dict(named))
