"""Pages of payments: what is owed, and payment lists."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from crowdrag.studies.access import audited, study_page
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Participant, Study
from crowdrag.ui.csv_export import MEDIA_TYPE

from . import csv_files, queries, services
from .enums import PaymentMethod
from .forms import PaymentListForm, ReferenceForm
from .models import PaymentList

ROWS = 100
OWED, EVERYBODY = "owed", "all"


@study_page(Role.EDITOR)
@never_cache
@audited(AuditedContent.PEOPLE)
def payments(request: HttpRequest, study: Study) -> HttpResponse:
    """Show earnings and amounts owed; create a payment list."""
    rows = queries.amounts(study, now=timezone.now())
    if request.method != "POST":
        return _show(request, study, rows, PaymentListForm(owed=[]))
    form = PaymentListForm(request.POST, owed=list(rows))
    if not form.is_valid():
        return _show(request, study, rows, form, status=422)
    try:
        payment_list = services.create_list(
            study=study,
            method=PaymentMethod(form.cleaned_data["method"]),
            key=form.cleaned_data["key"],
            participants=form.cleaned_data["participant"] or None,
            by=request.user,  # type: ignore[arg-type]
            now=timezone.now(),
        )
    except services.PaymentListError as error:
        form.add_error(None, str(error))
        return _show(request, study, rows, form, status=422)
    return redirect("payment_list", slug=study.slug, key=payment_list.key)


def _show(
    request: HttpRequest, study: Study, rows: dict[int, queries.Amounts], form: PaymentListForm, *, status: int = 200
) -> HttpResponse:
    chosen = EVERYBODY if request.GET.get("show") == EVERYBODY else OWED
    shown = rows if chosen == EVERYBODY else {key for key, row in rows.items() if row.owed}
    names = Participant.objects.filter(study=study).order_by("external_id", "pk").values_list("pk", flat=True)
    page: Any = Paginator([key for key in names if key in shown], ROWS).get_page(request.GET.get("page"))
    page.object_list = queries.with_people(study, {key: rows[key] for key in page.object_list})
    lists = PaymentList.objects.filter(study=study).with_totals().select_related("created_by", "paid_by")
    context = {
        "section": "payments",
        "totals": queries.totals(rows.values()),
        "has_rows": bool(rows),
        "has_platform": any(row.by_platform for row in rows.values()),
        "page": page,
        "chosen": chosen,
        "lists": lists.order_by("-created_at", "-pk"),
        "form": form,
    }
    return render(request, "payments/payments.html", context, status=status)


@study_page(Role.EDITOR)
@require_safe
@never_cache
@audited(AuditedContent.FILE)
def overview_csv(request: HttpRequest, study: Study) -> HttpResponse:
    """Send the balances of everybody as CSV."""
    content = csv_files.overview_file(study, queries.balances(study, now=timezone.now()))
    return _file(content, f"{study.slug}-payments.csv")


@study_page(Role.EDITOR)
@require_safe
@never_cache
@audited(AuditedContent.PEOPLE)
def payment_list(request: HttpRequest, study: Study, key: UUID) -> HttpResponse:
    """Show a payment list."""
    return _show_list(request, _get(study, key), ReferenceForm())


def _show_list(
    request: HttpRequest, payment_list: PaymentList, form: ReferenceForm, *, status: int = 200
) -> HttpResponse:
    lines = payment_list.lines.select_related("participant").order_by("participant__external_id", "pk")
    context = {
        "section": "payments",
        "payment_list": payment_list,
        "page": Paginator(lines, ROWS).get_page(request.GET.get("page")),
        "events": payment_list.events.select_related("by").order_by("-at", "-pk"),
        "without_id": csv_files.without_prolific_id(payment_list),
        "form": form,
    }
    return render(request, "payments/payment_list.html", context, status=status)


@study_page(Role.EDITOR)
@require_safe
@never_cache
@audited(AuditedContent.FILE)
def payment_file(request: HttpRequest, study: Study, key: UUID) -> HttpResponse:
    """Send the file with which a list is paid."""
    row = _get(study, key)
    return _file(csv_files.payment_file(row), f"{study.slug}-{row.method.lower()}-{row.created_at:%Y-%m-%d-%H%M}.csv")


@study_page(Role.EDITOR)
@require_POST
@audited(AuditedContent.PEOPLE)
def mark_paid(request: HttpRequest, study: Study, key: UUID) -> HttpResponse:
    """Mark a list as paid out."""
    row, form = _get(study, key), ReferenceForm(request.POST)
    if not form.is_valid():
        return _show_list(request, row, form, status=422)
    try:
        services.mark_paid(payment_list=row, by=request.user, now=timezone.now(), **form.cleaned_data)  # type: ignore[arg-type]
    except services.PaymentListError as error:
        form.add_error(None, str(error))
        return _show_list(request, row, form, status=422)
    messages.success(request, "Marked as paid.")
    return redirect("payment_list", slug=study.slug, key=key)


@study_page(Role.EDITOR)
@require_POST
def take_back(request: HttpRequest, study: Study, key: UUID) -> HttpResponse:
    """Undo the mark *paid out*."""
    try:
        services.take_back(payment_list=_get(study, key), by=request.user, now=timezone.now())  # type: ignore[arg-type]
    except services.PaymentListError as error:
        messages.warning(request, str(error))
    else:
        messages.success(request, "The list is to be paid again.")
    return redirect("payment_list", slug=study.slug, key=key)


@study_page(Role.EDITOR)
@require_POST
def cancel(request: HttpRequest, study: Study, key: UUID) -> HttpResponse:
    """Cancel a list."""
    try:
        services.cancel(payment_list=_get(study, key), by=request.user, now=timezone.now())  # type: ignore[arg-type]
    except services.PaymentListError as error:
        messages.warning(request, str(error))
        return redirect("payment_list", slug=study.slug, key=key)
    messages.success(request, "The list is cancelled. Its amounts are owed again.")
    return redirect("payments", slug=study.slug)


def _get(study: Study, key: UUID) -> PaymentList:
    rows = PaymentList.objects.with_totals().select_related("study", "created_by", "paid_by")
    return get_object_or_404(rows, study=study, key=key)


def _file(content: bytes, name: str) -> HttpResponse:
    return HttpResponse(
        content, content_type=MEDIA_TYPE, headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )
