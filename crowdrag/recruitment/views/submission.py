"""The page of one visit: how it stands, and what the platform is told of it by hand."""

from typing import Any
from uuid import uuid4

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from crowdrag.studies.access import audit_subject, audited, study_page
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Study

from ..domain import orders, overview
from ..enums import OrderKind
from ..forms import ApproveForm, BonusForm, RejectForm, ScreenOutForm
from ..models import PlatformOrder, Submission


@study_page(Role.EDITOR)
@audited(AuditedContent.VISIT)
def submission(request: HttpRequest, study: Study, purpose: str, session: str) -> HttpResponse:
    """Show a visit; on POST, order what is decided of it by hand."""
    rows = Submission.objects.select_related("platform_study__study", "platform_study__link", "participant")
    found = get_object_or_404(rows, external_id=session, platform_study__study=study, platform_study__purpose=purpose)
    audit_subject(request, found.participant, found.pk)
    kind = request.POST.get("kind", "")
    forms_here = _forms(request, study, kind)
    if request.method == "POST" and kind in forms_here and forms_here[kind].is_valid():
        try:
            orders.check(found, OrderKind(kind))
            _order(request, found, kind, forms_here[kind].cleaned_data)
        except orders.OrderError as error:
            messages.error(request, str(error))
        else:
            messages.success(request, _("Ordered: Prolific is told in a moment."))
        return redirect("recruitment_submission", study.slug, purpose, session)
    context = {
        "row": overview.row(found),
        "found": found,
        "forms": forms_here,
        "orders": PlatformOrder.objects.filter(submission=found).order_by("-created_at", "-pk"),
        "possible": orders.possible(found),
        "screens_out": found.platform_study.screen_out_reward,
        "section": "recruitment",
    }
    return render(request, "recruitment/submission.html", context, status=422 if request.method == "POST" else 200)


def _forms(request: HttpRequest, study: Study, kind: str) -> dict[str, forms.Form]:
    def given(name: str) -> Any:
        return request.POST if request.method == "POST" and kind == name else None

    return {
        OrderKind.APPROVE.value: ApproveForm(given(OrderKind.APPROVE), auto_id="approve_%s"),
        OrderKind.REJECT.value: RejectForm(given(OrderKind.REJECT)),
        OrderKind.BONUS.value: BonusForm(study, given(OrderKind.BONUS), initial={"once": uuid4()}),
        OrderKind.SCREEN_OUT.value: ScreenOutForm(given(OrderKind.SCREEN_OUT), auto_id="screen_out_%s"),
    }


def _order(request: HttpRequest, found: Submission, kind: str, data: dict[str, Any]) -> None:
    name = f"visit-{found.external_id}"
    about: dict[str, Any] = {
        "study": found.platform_study.study,
        "purpose": found.platform_study.purpose,
        "session": found.external_id,
        "now": timezone.now(),
        "by": request.user,
    }
    if kind == OrderKind.APPROVE:
        orders.approve(key=f"{name}-approve-by-hand", **about)
    elif kind == OrderKind.REJECT:
        orders.reject(key=f"{name}-reject-{uuid4().hex[:8]}", **data, **about)
    elif kind == OrderKind.SCREEN_OUT:
        orders.screen_out(key=f"{name}-screen-out", **about)
    else:
        # The page's own number: the same page sent twice pays once.
        orders.bonus(key=f"{name}-bonus-{data['once']}", amount=data["amount"], reason=data["reason"], **about)
