"""Views of decisions about one questionnaire, on its page."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from crowdrag.assignments.forms import UndoForm
from crowdrag.assignments.problems import WorkProblem
from crowdrag.recruitment.platform_actions import ActionError
from crowdrag.studies.access import audited, study_page
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Study

from ...enums import AssignmentState
from ...judging import decisions
from ...models import Assignment
from . import dossier, services
from .forms import AcceptForm, InclusionForm, PayForm, ReverseForm
from .views import address, find, reject_form, show, to_next


@study_page(Role.REVIEWER)
@require_POST
@audited(AuditedContent.REVIEW)
def decide(request: HttpRequest, study: Study, campaign_id: int, assignment_id: str) -> HttpResponse:
    """Accept or reject a questionnaire, then go to the next one."""
    assignment = find(study, campaign_id, assignment_id)
    name = request.POST.get("decision", "")
    if name == "accept":
        form: Any = AcceptForm(request.POST)
        do: Callable[..., Assignment] = services.accept
        message = "Accepted. The judge has earned the pay, and the questionnaire counts as collected."
    elif name == "reject":
        form = reject_form(dossier.collect(assignment), assignment, request.POST)
        do = services.reject
        message = "Rejected. The place is open again for another judge."
    else:
        return show(request, assignment, status=422)
    if not form.is_valid():
        return show(request, assignment, {name: form}, status=422)
    names = ("note",) if name == "accept" else ("reason", "pay_part", "category")
    fields = {each: form.cleaned_data[each] for each in names if each in form.cleaned_data}
    answer = _done(request, assignment, name, form, lambda who: do(**fields, **who))
    if answer is not None:
        return answer
    messages.success(request, message)
    return to_next(request, assignment.questionnaire.campaign, assignment)


@study_page(Role.REVIEWER)
@require_POST
@audited(AuditedContent.REVIEW)
def include(request: HttpRequest, study: Study, campaign_id: int, assignment_id: str) -> HttpResponse:
    """Include judgments in the analysis or exclude them, regardless of payment."""
    assignment = find(study, campaign_id, assignment_id)
    form = InclusionForm(request.POST)
    if not form.is_valid():
        return show(request, assignment, {"inclusion": form}, status=422)
    holds, why = form.cleaned_data["inclusion"] == "include", form.cleaned_data["why"]
    return _stay(
        request, assignment, "inclusion", form, lambda who: services.include(holds=holds, reason=why, **who),
        "Saved for the analysis. You decide on payment separately.",
    )  # fmt: skip


@study_page(Role.REVIEWER)
@require_POST
@audited(AuditedContent.REVIEW)
def pay(request: HttpRequest, study: Study, campaign_id: int, assignment_id: str) -> HttpResponse:
    """Add an extra payment with a reason."""
    assignment = find(study, campaign_id, assignment_id)
    form = PayForm(study.currency, request.POST)
    if not form.is_valid():
        return show(request, assignment, {"pay": form}, status=422)
    return _stay(
        request, assignment, "pay", form, lambda who: services.pay(**form.cleaned_data, **who),
        "Saved. The amount is now owed to the judge.",
    )  # fmt: skip


@study_page(Role.REVIEWER)
@require_POST
@audited(AuditedContent.REVIEW)
def reverse_rejection(request: HttpRequest, study: Study, campaign_id: int, assignment_id: str) -> HttpResponse:
    """Accept a rejected questionnaire."""
    assignment = find(study, campaign_id, assignment_id)
    form = ReverseForm(request.POST)
    if not form.is_valid():
        return show(request, assignment, {"reverse": form}, status=422)
    answer = _done(
        request, assignment, "reverse", form, lambda who: services.accept(note=form.cleaned_data["note"], **who)
    )
    if answer is not None:
        return answer
    held = find(study, campaign_id, assignment_id).state == AssignmentState.ACCEPTED
    messages.success(
        request,
        "The rejection is reversed, and the rest of the pay is owed."
        if held
        else (
            "The rejection is reversed, and the rest of the pay is owed. The place is taken, so the work is kept "
            "as surplus."
        ),
    )
    return redirect(address("screening_assignment", assignment, request))


@study_page(Role.REVIEWER)
@require_POST
@audited(AuditedContent.REVIEW)
def restore(request: HttpRequest, study: Study, campaign_id: int, assignment_id: str) -> HttpResponse:
    """Give a surplus questionnaire a free slot."""
    assignment = find(study, campaign_id, assignment_id)
    return _stay(
        request, assignment, "", None, lambda who: decisions.take_up(**who),
        "Moved to review. The questionnaire now awaits a decision.",
    )  # fmt: skip


@study_page(Role.REVIEWER)
@require_POST
@audited(AuditedContent.REVIEW)
def undo_one(request: HttpRequest, study: Study, campaign_id: int, assignment_id: str) -> HttpResponse:
    """Undo the decision about one questionnaire, regardless of who decided."""
    form = UndoForm(request.POST)
    at = form.cleaned_data["at"] if form.is_valid() else None
    return _stay(
        request, find(study, campaign_id, assignment_id), "", None, lambda who: services.undo_decision(at=at, **who),
        "Decision undone. The questionnaire awaits review again.",
    )  # fmt: skip


def _stay(
    request: HttpRequest,
    assignment: Assignment,
    name: str,
    form: Any,
    do: Callable[[dict[str, Any]], object],
    message: str,
) -> HttpResponse:
    answer = _done(request, assignment, name, form, do)
    if answer is not None:
        return answer
    messages.success(request, message)
    return redirect(address("screening_assignment", assignment, request))


def _done(
    request: HttpRequest, assignment: Assignment, name: str, form: Any, do: Callable[[dict[str, Any]], object]
) -> HttpResponse | None:
    """Apply the decision. If it is refused, return the current page with the reason."""
    try:
        do({"assignment": assignment, "by": request.user, "now": timezone.now()})
    except (WorkProblem, ActionError) as problem:
        messages.error(request, str(problem))
        campaign = assignment.questionnaire.campaign
        now = find(campaign.study, campaign.pk, assignment.external_id)
        return show(request, now, {name: form} if form else {}, status=409)
    return None
