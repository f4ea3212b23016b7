"""What reviewers decide about a questionnaire: accept, reject, include, pay, take up, take back."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from crowdrag.recruitment.platform_actions import OrderError
from crowdrag.studies.access import audited, study_page
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Study

from ..domain import assignments
from ..domain.screening import deciding, dossier
from ..enums import AssignmentState
from ..forms.screening import AcceptForm, InclusionForm, PayForm, ReverseForm
from ..models import Assignment
from .screening import address, find, reject_form, show, to_next


@study_page(Role.REVIEWER)
@require_POST
@audited(AuditedContent.REVIEW)
def decide(request: HttpRequest, study: Study, campaign: int, assignment: str) -> HttpResponse:
    """Accept or reject; then the next one."""
    found = find(study, campaign, assignment)
    name = request.POST.get("decision", "")
    if name == "accept":
        form: Any = AcceptForm(request.POST)
        do: Callable[..., Assignment] = deciding.accept
        said = _("Accepted: it is paid, and one of the judgments asked for.")
    elif name == "reject":
        form = reject_form(dossier.of(found), found, request.POST)
        do = deciding.reject
        said = _("Rejected: its place is free again, and somebody else judges.")
    else:
        return show(request, found, status=422)
    if not form.is_valid():
        return show(request, found, {name: form}, status=422)
    wanted = ("note",) if name == "accept" else ("reason", "pay_part", "category")
    given = {each: form.cleaned_data[each] for each in wanted if each in form.cleaned_data}
    answer = _done(request, found, name, form, lambda who: do(**given, **who))
    if answer is not None:
        return answer
    messages.success(request, said)
    return to_next(request, found.questionnaire.campaign, found)


@study_page(Role.REVIEWER)
@require_POST
@audited(AuditedContent.REVIEW)
def include(request: HttpRequest, study: Study, campaign: int, assignment: str) -> HttpResponse:
    """Decide whether judgments count in the analysis, whatever is paid."""
    found = find(study, campaign, assignment)
    form = InclusionForm(request.POST)
    if not form.is_valid():
        return show(request, found, {"inclusion": form}, status=422)
    holds, why = form.cleaned_data["inclusion"] == "include", form.cleaned_data["why"]
    return _stay(
        request, found, "inclusion", form, lambda who: deciding.include(holds=holds, reason=why, **who),
        _("Noted for the analysis. What is paid is a decision of its own."),
    )  # fmt: skip


@study_page(Role.REVIEWER)
@require_POST
@audited(AuditedContent.REVIEW)
def pay(request: HttpRequest, study: Study, campaign: int, assignment: str) -> HttpResponse:
    """Pay something beside, with a reason."""
    found = find(study, campaign, assignment)
    form = PayForm(study.currency, request.POST)
    if not form.is_valid():
        return show(request, found, {"pay": form}, status=422)
    return _stay(
        request, found, "pay", form, lambda who: deciding.pay(**form.cleaned_data, **who),
        _("Noted as owed to the judge."),
    )  # fmt: skip


@study_page(Role.REVIEWER)
@require_POST
@audited(AuditedContent.REVIEW)
def reverse_rejection(request: HttpRequest, study: Study, campaign: int, assignment: str) -> HttpResponse:
    """Accept after all what was rejected."""
    found = find(study, campaign, assignment)
    form = ReverseForm(request.POST)
    if not form.is_valid():
        return show(request, found, {"reverse": form}, status=422)
    answer = _done(request, found, "reverse", form, lambda who: deciding.accept(note=form.cleaned_data["note"], **who))
    if answer is not None:
        return answer
    held = find(study, campaign, assignment).state == AssignmentState.ACCEPTED
    messages.success(
        request,
        _("The rejection is reversed, and the rest of the pay is owed.")
        if held
        else _("The rejection is reversed and the rest is owed; its place was taken, so it is kept as surplus."),
    )
    return redirect(address("screening_assignment", found, request))


@study_page(Role.REVIEWER)
@require_POST
@audited(AuditedContent.REVIEW)
def take_up(request: HttpRequest, study: Study, campaign: int, assignment: str) -> HttpResponse:
    """Let a surplus questionnaire have a place that is free."""
    found = find(study, campaign, assignment)
    return _stay(
        request, found, "", None, lambda who: assignments.take_up(**who),
        _("It has a place now, and waits for a decision like any other."),
    )  # fmt: skip


def _stay(
    request: HttpRequest, found: Assignment, name: str, form: Any, do: Callable[[dict[str, Any]], object], said: str
) -> HttpResponse:
    answer = _done(request, found, name, form, do)
    if answer is not None:
        return answer
    messages.success(request, said)
    return redirect(address("screening_assignment", found, request))


def _done(
    request: HttpRequest, found: Assignment, name: str, form: Any, do: Callable[[dict[str, Any]], object]
) -> HttpResponse | None:
    """Do what was decided; where that cannot be, answer with the page as it is now and what is the matter."""
    try:
        do({"assignment": found, "by": request.user, "now": timezone.now()})
    except (assignments.AssignmentProblem, OrderError) as problem:
        messages.error(request, str(problem))
        campaign = found.questionnaire.campaign
        now = find(campaign.study, campaign.pk, found.external_id)
        return show(request, now, {name: form} if form else {}, status=409)
    return None
