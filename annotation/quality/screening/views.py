"""Pages of screening: the queue and one questionnaire."""

from collections.abc import Container, Mapping
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from crowdrag.assignments import assignees, review_locks, undo
from crowdrag.assignments.bulk import BulkResult
from crowdrag.assignments.forms import AssigneeForm, UndoForm
from crowdrag.assignments.review_locks import resent_fields, typed_texts
from crowdrag.studies.access import audit_subject, audited, study_page
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Study
from crowdrag.studies.notes import services as notes
from crowdrag.studies.saved_replies import services as saved_replies
from crowdrag.ui import remembered_filters

from ...enums import AssignmentState
from ...models import Assignment, Campaign
from . import dossier, queue, services
from .forms import AcceptForm, BulkForm, InclusionForm, PayForm, RejectForm, ReverseForm, ScreeningRejectForm
from .platform_decisions import is_from_platform
from .signals import ProposedAction

PER_PAGE = 50
FILTERS = ("proposal", "assigned")
PROPOSALS = {each.name.lower(): each for each in ProposedAction}


@study_page(Role.REVIEWER)
@audited(AuditedContent.PEOPLE)
def screening(request: HttpRequest, study: Study, campaign_id: int) -> HttpResponse:
    """List the questionnaires that await a decision with their flags, or those that are decided."""
    campaign, now = _campaign(study, campaign_id), timezone.now()
    name = request.GET.get("list", "waiting")
    name = name if name in queue.LISTS else "waiting"
    if (earlier := remembered_filters.restore(request, f"screening-{campaign.pk}", FILTERS)) is not None:
        return earlier
    what, where = _proposing(request), _assigned(request)
    listed: Any = queue.list_assignments(campaign, name).filter(where)
    if what is not None and name == "waiting":
        listed = [row.assignment for row in queue.proposing(campaign, what, now, where=where)]
    page = Paginator(listed, PER_PAGE).get_page(request.GET.get("page"))
    rows = queue.rows(page.object_list, now)
    context = {
        "campaign": campaign,
        "page": page,
        "rows": rows,
        "free": queue.free_places(row.assignment.questionnaire_id for row in rows) if name == "surplus" else {},
        "counts": queue.counts(campaign, now),
        "now": now.isoformat(),
        "unpaid": queue.unpaid(campaign),
        "list": name,
        "lists": _lists(),
        "proposal": what.name.lower() if what is not None else "",
        "proposals": _proposals(),
        "query": _query(request),
        "recent": queue.recent_decisions(campaign, _user(request), now),
        "assignee_form": AssigneeForm(study),
        "assigned": request.GET.get("assigned", ""),
        "assigned_choices": assignees.CHOICES,
        "section": "judging",
    }
    return render(request, "annotation/quality/screening/queue.html", context)


@study_page(Role.REVIEWER)
@require_POST
@audited(AuditedContent.PEOPLE)
def bulk_decision(request: HttpRequest, study: Study, campaign_id: int) -> HttpResponse:
    """Accept or assign the selected questionnaires; reject them after a reason was entered."""
    campaign, by, now = _campaign(study, campaign_id), _user(request), timezone.now()
    name = request.POST.get("decision", "")
    selection = queue.selected(campaign, request.POST.getlist("selected"), by, now)
    if name == "assign" and selection.rows:
        _assign(request, study, selection.rows)
        return _to_queue(request, campaign)
    if name not in {"accept", "reject"} or not selection.rows:
        messages.error(request, "Select at least one questionnaire that awaits review.")
        return _to_queue(request, campaign)
    if name == "accept":  # at once: it can be undone
        result = services.accept_each(assignments=selection.rows, by=by, now=now)
        _report(request, f"{result.done} accepted.", result)
        return _to_queue(request, campaign)
    is_confirmed = "confirmed" in request.POST
    from_platform = any(map(is_from_platform, selection.rows))
    form = ScreeningRejectForm(request.POST if is_confirmed else None, from_platform=from_platform)
    if is_confirmed and form.is_valid():
        result = services.reject_each(
            assignments=selection.rows,
            reason=form.cleaned_data["reason"],
            category=form.cleaned_data.get("category", ""),
            in_full=form.in_full,
            by=by,
            now=now,
        )
        _report(request, f"{result.done} rejected.", result)
        return _to_queue(request, campaign)
    context = {
        "campaign": campaign,
        "selection": selection,
        "replies": saved_replies.by_kind(study),
        "form": form,
        "decision": name,
        "query": _query(request),
        "section": "judging",
    }
    status = 422 if form.errors else 200
    return render(request, "annotation/quality/screening/bulk.html", context, status=status)


@study_page(Role.REVIEWER)
@require_POST
def assign(request: HttpRequest, study: Study, campaign_id: int, assignment_id: str) -> HttpResponse:
    """Assign one questionnaire to a reviewer, or to nobody."""
    assignment = find(study, campaign_id, assignment_id)
    _assign(request, study, [assignment])
    return redirect(address("screening_assignment", assignment, request))


@study_page(Role.REVIEWER)
@require_POST
def undo_decisions(request: HttpRequest, study: Study, campaign_id: int) -> HttpResponse:
    """Undo a reviewer's decisions at one moment."""
    campaign, form = _campaign(study, campaign_id), UndoForm(request.POST)
    if form.is_valid():
        at = form.cleaned_data["at"]
        result = services.undo_each(campaign=campaign, at=at, by=_user(request), now=timezone.now())
        _report(request, f"{result.done} returned to review.", result)
    else:
        messages.error(request, "Choose the decision to undo in the list.")
    return _to_queue(request, campaign)


@study_page(Role.REVIEWER)
@require_POST
def following(request: HttpRequest, study: Study, campaign_id: int) -> HttpResponse:
    """Open the next questionnaire that matches the filter."""
    return to_next(request, _campaign(study, campaign_id), None)


@study_page(Role.REVIEWER)
@require_POST
@audited(AuditedContent.PEOPLE)
def accept_clean(request: HttpRequest, study: Study, campaign_id: int) -> HttpResponse:
    """Accept the questionnaires without flags that were submitted before the list was shown. This can be undone."""
    campaign, form = _campaign(study, campaign_id), BulkForm(request.POST)
    if form.is_valid():
        until = form.cleaned_data["until"]
        result = services.accept_clean(campaign=campaign, until=until, by=_user(request), now=timezone.now())
        _report(request, f"{result.done} accepted.", result)
        if not result.done:
            messages.info(request, "No questionnaire without flags awaits review.")
    else:
        messages.error(request, "Open the list, then choose “Accept all without flags”.")
    return _to_queue(request, campaign)


@study_page(Role.REVIEWER)
@audited(AuditedContent.REVIEW)
def assignment_page(request: HttpRequest, study: Study, campaign_id: int, assignment_id: str) -> HttpResponse:
    """Show one questionnaire with everything that a reviewer needs."""
    return show(request, find(study, campaign_id, assignment_id))


@study_page(Role.REVIEWER)
@require_POST
def lock(request: HttpRequest, study: Study, campaign_id: int, assignment_id: str) -> HttpResponseBase:
    """Renew the reviewer's lock; with `over`, take it over from another reviewer."""
    assignment, now = find(study, campaign_id, assignment_id), timezone.now()
    if "over" in request.POST:
        if queue.REVIEW_LOCK.take_over(assignment, _user(request), now):
            messages.success(request, "You have taken over this questionnaire. Tell the other reviewer if you can.")
            if form := _decision(assignment, request.POST):
                return _take_over(request, study, find(study, campaign_id, assignment_id), form)
        return redirect(address("screening_assignment", assignment, request))
    is_held = queue.REVIEW_LOCK.hold(assignment, _user(request), now)
    if not is_held:
        assignment = find(study, campaign_id, assignment_id)
    context = {
        "assignment": assignment,
        "campaign": assignment.questionnaire.campaign,
        "lost": not is_held,
        "study": study,
    }
    return render(request, "annotation/quality/screening/assignment.html#hold", context)


@study_page(Role.REVIEWER)
@require_POST
def skip(request: HttpRequest, study: Study, campaign_id: int, assignment_id: str) -> HttpResponse:
    """Release a questionnaire for other reviewers, and go to the next one."""
    assignment = find(study, campaign_id, assignment_id)
    queue.REVIEW_LOCK.let_go(assignment, _user(request))
    return to_next(request, assignment.questionnaire.campaign, assignment)


def show(
    request: HttpRequest, assignment: Assignment, forms: Mapping[str, Any] | None = None, *, status: int = 200
) -> HttpResponse:
    """Return the page of a questionnaire, with submitted forms that have errors."""
    forms_shown, now = forms or {}, timezone.now()
    audit_subject(request, assignment.participant, assignment.pk)
    known = dossier.collect(assignment)
    currency = assignment.questionnaire.campaign.study.currency
    context = {
        "assignment": assignment,
        "campaign": assignment.questionnaire.campaign,
        "dossier": known,
        "waits": assignment.state == AssignmentState.SUBMITTED,
        "free": queue.free_places([assignment.questionnaire_id]).get(assignment.questionnaire_id, 0),
        "held_by": assignment.reviewer if _is_locked_by_another(assignment, request) else None,
        "owed": dossier.owed_if_accepted(assignment),
        "left": dossier.left_of_pay(assignment),
        "accept": forms_shown.get("accept") or AcceptForm(),
        "reject": forms_shown.get("reject") or reject_form(known, assignment),
        "inclusion": forms_shown.get("inclusion")
        or InclusionForm(initial={"inclusion": "exclude" if assignment.is_included else "include"}),
        "pay": forms_shown.get("pay") or PayForm(currency),
        "reverse": forms_shown.get("reverse") or ReverseForm(),
        "opened": next(iter(forms_shown), request.GET.get("open", "")),
        "typed": typed_texts(next(iter(forms_shown.values()), None)),
        "resent": resent_fields(request.POST) if forms_shown else [],
        "held_until": assignment.reviewing_until if review_locks.is_locked(assignment, now) else None,
        "query": _query(request),
        "recent": queue.recent_decisions(assignment.questionnaire.campaign, _user(request), now)[:1],
        "undoable": undo.undoable(assignment, now),
        "assignee_form": AssigneeForm(assignment.questionnaire.campaign.study, initial={"to": assignment.assignee}),
        "notes": notes.of_work(assignment.participant, assignment.external_id),
        "replies": saved_replies.by_kind(assignment.questionnaire.campaign.study),
        "section": "judging",
    }
    return render(request, "annotation/quality/screening/assignment.html", context, status=status)


@audited(AuditedContent.REVIEW)
def _take_over(request: HttpRequest, study: Study, assignment: Assignment, forms: Mapping[str, Any]) -> HttpResponse:
    """Return the page of a questionnaire that the reviewer has taken over, with what they had entered."""
    return show(request, assignment, forms)


def _decision(assignment: Assignment, data: Any) -> dict[str, Any]:
    """Return the filled form of a decision that was refused because another reviewer had the questionnaire open."""
    name = data.get("decision", "")
    if name == "accept":
        return {name: AcceptForm(data)}
    return {name: reject_form(dossier.collect(assignment), assignment, data)} if name == "reject" else {}


def reject_form(known: dossier.Dossier, assignment: Assignment, data: Any = None) -> RejectForm:
    """Return the rejection form, with the fields that the platform requires if it is told."""
    is_told = known.from_platform and assignment.state == AssignmentState.SUBMITTED
    currency = assignment.questionnaire.campaign.study.currency
    return RejectForm(data, owed=dossier.left_of_pay(assignment), currency=currency, from_platform=is_told)


def find(study: Study, campaign_id: int, external_id: str) -> Assignment:
    """Return a submitted assignment of this study's campaign, in any state."""
    along = ("questionnaire__campaign__study", "participant", "reviewer", "assignee")
    rows = Assignment.objects.filter(questionnaire__campaign=campaign_id, questionnaire__campaign__study=study)
    return get_object_or_404(rows.exclude(external_id="").select_related(*along), external_id=external_id)


def to_next(request: HttpRequest, campaign: Campaign, after: Assignment | None) -> HttpResponse:
    """Redirect to the next questionnaire, or to the list if none is waiting."""
    taken = queue.take_next(
        campaign=campaign, by=_user(request), now=timezone.now(), what=_proposing(request), where=_assigned(request),
        after=after,
    )  # fmt: skip
    if taken is None:
        messages.info(
            request, "There is nothing to screen. All questionnaires are decided or open with another reviewer."
        )
        return redirect(f"{reverse('screening', args=[campaign.study.slug, campaign.pk])}{_query(request)}")
    return redirect(address("screening_assignment", taken, request))


def address(name: str, assignment: Assignment, request: HttpRequest) -> str:
    """Return the URL of a page of an assignment, with the reviewer's filter."""
    campaign = assignment.questionnaire.campaign
    return f"{reverse(name, args=[campaign.study.slug, campaign.pk, assignment.external_id])}{_query(request)}"


def _campaign(study: Study, campaign_id: int) -> Campaign:
    """Return a campaign with slots. Nothing is decided in imported campaigns and those of model judges."""
    campaigns = Campaign.objects.filter(study=study, has_slots=True).select_related("study")
    return get_object_or_404(campaigns, pk=campaign_id)


def _is_locked_by_another(assignment: Assignment, request: HttpRequest) -> bool:
    waits = assignment.state == AssignmentState.SUBMITTED
    return waits and review_locks.locked_by_another(assignment, _user(request), timezone.now())


def _proposing(request: HttpRequest) -> ProposedAction | None:
    return PROPOSALS.get(request.GET.get("proposal", ""))


def _assigned(request: HttpRequest) -> Q:
    return assignees.matching(request.GET.get("assigned", ""), _user(request))


def _query(request: HttpRequest) -> str:
    """Return the filter as a query string, to keep it for the next questionnaire."""
    known: dict[str, Container[str]] = {"proposal": PROPOSALS, "assigned": dict(assignees.CHOICES)}
    kept = {name: value for name in FILTERS if (value := request.GET.get(name)) and value in known[name]}
    return f"?{urlencode(kept)}" if kept else ""


def _lists() -> list[tuple[str, str]]:
    return [
        ("waiting", "Awaiting review"),
        ("surplus", "Surplus"),
        ("accepted", "Accepted"),
        ("rejected", "Rejected"),
        ("withdrawn", "Erased before review"),
    ]


def _proposals() -> list[tuple[str, str]]:
    return [
        ("", "all"),
        ("accept", "no flags"),
        ("look", "check"),
        ("reject", "likely reject"),
    ]


def _assign(request: HttpRequest, study: Study, assignments: list[Assignment]) -> None:
    form = AssigneeForm(study, request.POST)
    if form.is_valid():
        result = services.assign_each(assignments=assignments, to=form.cleaned_data["to"])
        _report(request, f"{result.done} assigned to {form.cleaned_data['to'] or 'nobody'}.", result)
    else:
        messages.error(request, "Choose a member who is a reviewer or above.")


def _report(request: HttpRequest, text: str, result: BulkResult) -> None:
    if result.done:
        messages.success(request, text)
    for explanation in result.explanations:
        messages.warning(request, explanation)


def _to_queue(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    return redirect(f"{reverse('screening', args=[campaign.study.slug, campaign.pk])}{_query(request)}")


def _user(request: HttpRequest) -> Any:
    return request.user  # study_page admits only logged-in users
