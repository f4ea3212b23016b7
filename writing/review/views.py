"""Review pages: queue, response, decisions."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.forms import Form
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from crowdrag.assignments import assignees, undo
from crowdrag.assignments.bulk import BulkResult
from crowdrag.assignments.forms import AssigneeForm, BulkRejectForm, BulkRevisionForm, UndoForm
from crowdrag.assignments.problems import WorkProblem
from crowdrag.assignments.review_locks import resent_fields, typed_texts
from crowdrag.recruitment.platform_actions import ActionError
from crowdrag.studies.access import audit_subject, audited, study_page
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Study
from crowdrag.studies.notes import services as notes
from crowdrag.studies.saved_replies import services as saved_replies
from crowdrag.ui import remembered_filters
from writing.assignments.lifecycle import TASKS

from ..corpus import queries
from ..enums import TaskState
from ..models import Response, Style, WritingTask
from ..replay import views
from . import dossier, queue, services, signal_display
from .forms import AcceptForm, InclusionForm, PayForm, QueueForm, RejectForm, ReverseForm, SendBackForm

PER_PAGE = 50
FILTERS = ("style", "writer", "trial", "signals", "assigned")
DECISIONS = {"accept": AcceptForm, "reject": RejectForm, "send_back": SendBackForm}
BULK: dict[str, type[Form]] = {"reject": BulkRejectForm, "send_back": BulkRevisionForm}
DECIDED = {"reject": "rejected", "send_back": "sent back for revision"}
SAID = {
    "reject": "Rejected, and left out of the analysis.",
    "send_back": "Revision requested. The writer sees your note and can continue from their text.",
}


@study_page(Role.REVIEWER)
@audited(AuditedContent.PEOPLE)
def review_queue(request: HttpRequest, study: Study) -> HttpResponse:
    """List the responses that await review or have been decided."""
    now = timezone.now()
    name = request.GET.get("list", "waiting")
    name = name if name in queue.LISTS else "waiting"
    if (earlier := remembered_filters.restore(request, f"review-{study.pk}", FILTERS)) is not None:
        return earlier
    form, filters = _filter_form(study, request)
    tasks: Any = queue.list_tasks(study, name, filters)
    if filters.signals:
        tasks = queue.filter_by_signals(list(tasks), filters)
    page = Paginator(tasks, PER_PAGE).get_page(request.GET.get("page"))
    rows = list(page.object_list)
    signals = signal_display.flag_titles(rows)
    context = {
        "page": page,
        "rows": [(task, signals.get(task.pk, []), _is_locked(task, now)) for task in rows],
        "counts": queue.counts(study, now),
        "list": name,
        "lists": _lists(),
        "form": form,
        "query": _query(request.GET),
        "recent": queue.recent_decisions(study, _user(request), now),
        "assignee_form": AssigneeForm(study),
        "section": "inbox",
    }
    return render(request, "writing/review/queue.html", context)


@study_page(Role.REVIEWER)
@require_POST
@audited(AuditedContent.PEOPLE)
def review_bulk(request: HttpRequest, study: Study) -> HttpResponse:
    """Accept or assign the selected responses; reject them or request revisions after a text was entered."""
    name, by, now = request.POST.get("decision", ""), _user(request), timezone.now()
    selection = queue.selected(study, request.POST.getlist("selected"), by, now)
    if name == "assign" and selection.rows:
        return _assign(request, study, selection.rows, "review_queue")
    to_queue = redirect(f"{reverse('review_queue', args=[study.slug])}{_query(request.GET)}")
    if not (name == "accept" or name in BULK) or not selection.rows:
        messages.error(request, "Select at least one response that awaits review.")
        return to_queue
    if name == "accept":  # at once: it can be undone
        result = services.accept_each(tasks=selection.rows, by=by, now=now)
        _report(request, f"{result.done} accepted.", result)
        return to_queue
    is_confirmed = "confirmed" in request.POST
    form = BULK[name](request.POST if is_confirmed else None)
    if is_confirmed and form.is_valid():
        result = _decide_each(name, form, {"tasks": selection.rows, "by": by, "now": now})
        _report(request, f"{result.done} {DECIDED[name]}.", result)
        return to_queue
    context = {
        "selection": selection,
        "replies": saved_replies.by_kind(study),
        "form": form,
        "decision": name,
        "query": _query(request.GET),
        "section": "inbox",
    }
    return render(request, "writing/review/bulk.html", context, status=422 if form.errors else 200)


@study_page(Role.REVIEWER)
@require_POST
def review_assign(request: HttpRequest, study: Study, task_id: str) -> HttpResponse:
    """Assign one response to a reviewer, or to nobody."""
    return _assign(request, study, [_task(study, task_id)], "review_task", task_id)


@study_page(Role.REVIEWER)
@require_POST
def review_undo(request: HttpRequest, study: Study) -> HttpResponse:
    """Undo the reviewer's decisions of one time."""
    form = UndoForm(request.POST)
    if form.is_valid():
        result = services.undo_each(study=study, at=form.cleaned_data["at"], by=_user(request), now=timezone.now())
        _report(request, f"{result.done} returned to review.", result)
    else:
        messages.error(request, "Choose the decision to undo in the list.")
    return redirect(f"{reverse('review_queue', args=[study.slug])}{_query(request.GET)}")


@study_page(Role.REVIEWER)
@require_POST
@audited(AuditedContent.REVIEW)
def review_undo_one(request: HttpRequest, study: Study, task_id: str) -> HttpResponse:
    """Undo the decision about a response, by any reviewer."""
    task = _task(study, task_id)
    form = UndoForm(request.POST)
    try:
        at = form.cleaned_data["at"] if form.is_valid() else None
        services.undo_decision(task=task, at=at, by=_user(request), now=timezone.now())
    except (WorkProblem, ActionError) as problem:
        messages.error(request, str(problem))
        return _show(request, _task(study, task_id), status=409)
    messages.success(request, "Decision undone. The response awaits review again.")
    return redirect(_address("review_task", study, task_id, request.GET))


@study_page(Role.REVIEWER)
@require_POST
def review_next(request: HttpRequest, study: Study) -> HttpResponse:
    """Redirect to the next response that matches the reviewer's filter."""
    return _to_next(request, study, None)


@study_page(Role.REVIEWER)
@audited(AuditedContent.REVIEW)
def review_task(request: HttpRequest, study: Study, task_id: str) -> HttpResponse:
    """Show a response with its context and the decision forms."""
    return _show(request, _task(study, task_id))


@study_page(Role.REVIEWER)
@require_POST
def review_lock(request: HttpRequest, study: Study, task_id: str) -> HttpResponseBase:
    """Extend the reviewer's lock; with `over`, take over another reviewer's lock."""
    task = _task(study, task_id)
    now = timezone.now()
    if "over" in request.POST:
        if queue.take_over(task=task, by=_user(request), now=now):
            messages.success(request, "You have taken over this response. Tell the other reviewer if you can.")
            name = request.POST.get("decision", "")
            if name in DECISIONS:  # another reviewer's lock blocked this decision: keep its inputs
                return _take_over(request, study, _task(study, task_id), {name: DECISIONS[name](task, request.POST)})
        return redirect(_address("review_task", study, task_id, request.GET))
    is_held = queue.hold(task=task, by=_user(request), now=now)
    if not is_held:
        task = _task(study, task_id)
    return render(request, "writing/review/review.html#hold", {"task": task, "lost": not is_held, "study": study})


@audited(AuditedContent.REVIEW)
def _take_over(request: HttpRequest, study: Study, task: WritingTask, forms: Mapping[str, Any]) -> HttpResponse:
    """Show the response after the takeover, with the inputs that the reviewer had typed."""
    return _show(request, task, forms)


@study_page(Role.REVIEWER)
@require_POST
def review_skip(request: HttpRequest, study: Study, task_id: str) -> HttpResponse:
    """Release a response and redirect to the next."""
    task = _task(study, task_id)
    queue.release(task=task, by=_user(request))
    return _to_next(request, study, task)


@study_page(Role.REVIEWER)
@require_POST
@audited(AuditedContent.REVIEW)
def review_decide(request: HttpRequest, study: Study, task_id: str) -> HttpResponse:
    """Accept, reject, or request a revision; then redirect to the next response."""
    task = _task(study, task_id)
    name = request.POST.get("decision", "")
    if name not in DECISIONS:
        return _show(request, task, status=422)
    form = DECISIONS[name](task, request.POST)
    if not form.is_valid():
        return _show(request, task, {name: form}, status=422)
    try:
        _decide(name, task, form.cleaned_data, request)
    except WorkProblem as problem:
        messages.error(request, str(problem))
        return _show(request, _task(study, task_id), {name: form}, status=409)
    messages.success(request, _accepted(_task(study, task_id)) if name == "accept" else (SAID[name]))
    return _to_next(request, study, task)


@study_page(Role.REVIEWER)
@require_POST
@audited(AuditedContent.REVIEW)
def review_include(request: HttpRequest, study: Study, task_id: str) -> HttpResponse:
    """Include or exclude a response, independently of payment."""
    task = _task(study, task_id)
    form = InclusionForm(request.POST)
    if not form.is_valid():
        return _show(request, task, {"inclusion": form}, status=422)
    choose = services.include if form.cleaned_data["inclusion"] == "include" else services.exclude
    try:
        choose(response=task.response, reason=form.cleaned_data["why"], by=_user(request), now=timezone.now())
    except WorkProblem as problem:
        messages.error(request, str(problem))
        return _show(request, _task(study, task_id), status=409)
    messages.success(request, "Analysis decision saved. You decide on payment separately.")
    return redirect(_address("review_task", study, task_id, request.GET))


@study_page(Role.REVIEWER)
@require_POST
@audited(AuditedContent.REVIEW)
def review_pay(request: HttpRequest, study: Study, task_id: str) -> HttpResponse:
    """Pay an extra amount with a reason."""
    task = _task(study, task_id)
    form = PayForm(study.currency, request.POST)
    if not form.is_valid():
        return _show(request, task, {"pay": form}, status=422)
    try:
        TASKS.pay(task, **form.cleaned_data, by=_user(request), now=timezone.now())
    except WorkProblem as problem:
        messages.error(request, str(problem))
        return _show(request, task, {"pay": form}, status=409)
    messages.success(request, "Payment added.")
    return redirect(_address("review_task", study, task_id, request.GET))


@study_page(Role.REVIEWER)
@require_POST
@audited(AuditedContent.REVIEW)
def review_reverse(request: HttpRequest, study: Study, task_id: str) -> HttpResponse:
    """Accept a rejected response."""
    task = _task(study, task_id)
    form = ReverseForm(request.POST)
    if not form.is_valid():
        return _show(request, task, {"reverse": form}, status=422)
    try:
        services.reverse_rejection(task=task, note=form.cleaned_data["note"], by=_user(request), now=timezone.now())
    except WorkProblem as problem:
        messages.error(request, str(problem))
        return _show(request, _task(study, task_id), {"reverse": form}, status=409)
    messages.success(request, "The rejection is reversed. The rest of the pay is owed to the writer.")
    return redirect(_address("review_task", study, task_id, request.GET))


def _assign(request: HttpRequest, study: Study, tasks: list[WritingTask], back: str, *names: str) -> HttpResponse:
    form = AssigneeForm(study, request.POST)
    if form.is_valid():
        result = services.assign_each(tasks=tasks, to=form.cleaned_data["to"])
        _report(request, f"{result.done} assigned to {form.cleaned_data['to'] or 'nobody'}.", result)
    else:
        messages.error(request, "Choose a member who is a reviewer or above.")
    return redirect(f"{reverse(back, args=[study.slug, *names])}{_query(request.GET)}")


def _decide_each(name: str, form: Any, who: dict[str, Any]) -> BulkResult:
    if name == "reject":
        return services.reject_each(reason=form.cleaned_data["reason"], in_full=form.in_full, **who)
    return services.send_back_each(note=form.cleaned_data["note"], **who)


def _report(request: HttpRequest, text: str, result: BulkResult) -> None:
    if result.done:
        messages.success(request, text)
    for explanation in result.explanations:
        messages.warning(request, explanation)


def _decide(name: str, task: WritingTask, data: Mapping[str, Any], request: HttpRequest) -> None:
    who: dict[str, Any] = {"task": task, "by": _user(request), "now": timezone.now()}
    if name == "accept":
        services.accept(note=data["note"], **who)
    elif name == "reject":
        services.reject(reason=data["reason"], pay_part=data["pay_part"], **who)
    else:
        services.send_back(note=data["note"], **who)


def _accepted(task: WritingTask) -> str:
    """Describe the result of an acceptance, which depends on whether the response is included."""
    if task.response.is_included:
        return "Accepted and included in the analysis."
    if task.response.erased_at:
        return "Accepted. The response was erased and stays excluded from the analysis."
    if task.is_trial:
        return "Accepted. This is a trial and is excluded from the analysis."
    return "Accepted. The response stays excluded from the analysis, as decided before."


def _to_next(request: HttpRequest, study: Study, after: WritingTask | None) -> HttpResponse:
    _form, filters = _filter_form(study, request)
    following = queue.take_next(study=study, by=_user(request), now=timezone.now(), filters=filters, after=after)
    if following is None:
        messages.info(request, "There is nothing to review. All responses are decided or open with another reviewer.")
        address = reverse("review_queue", args=[study.slug])
        return redirect(f"{address}{_query(request.GET)}")
    return redirect(_address("review_task", study, following.external_id, request.GET))


def _show(
    request: HttpRequest, task: WritingTask, forms: Mapping[str, Any] | None = None, *, status: int = 200
) -> HttpResponse:
    forms_shown = forms or {}
    responses = queries.with_statements(Response.objects.with_people().select_related("task__log"))
    response = responses.get(pk=task.response.pk)
    audit_subject(request, task.participant, response.pk)
    log = getattr(task, "log", None)
    now = timezone.now()
    held = _is_locked(task, now)
    waits = task.state == TaskState.SUBMITTED
    context = {
        "task": task,
        "response": response,
        "retrieved": task.topic.retrieved.select_related("passage").order_by("rank", "id"),
        "log": log,
        "signals": signal_display.signals_of_response(log, response),
        "dossier": dossier.collect(task),
        "waits": waits,
        "held_by": task.reviewer if held and task.reviewer_id != request.user.pk else None,
        "decisions": {name: forms_shown.get(name) or form(task) for name, form in DECISIONS.items()},
        "inclusion": forms_shown.get("inclusion")
        or InclusionForm(initial={"inclusion": "exclude" if response.is_included else "include"}),
        "pay": forms_shown.get("pay") or PayForm(task.study.currency),
        "reverse": forms_shown.get("reverse") or ReverseForm(),
        "opened": next(iter(forms_shown), request.GET.get("open", "")),
        "typed": typed_texts(next(iter(forms_shown.values()), None)),
        "resent": resent_fields(request.POST) if forms_shown else [],
        "query": _query(request.GET),
        "recent": queue.recent_decisions(task.study, _user(request), now)[:1],
        "undoable": undo.undoable(task, now),
        "assignee_form": AssigneeForm(task.study, initial={"to": task.assignee}),
        "notes": notes.of_work(task.participant, task.external_id),
        "replies": saved_replies.by_kind(task.study),
        "section": "inbox",
        **views.shown(response),
    }
    return render(request, "writing/review/review.html", context, status=status)


def _task(study: Study, external_id: str) -> WritingTask:
    tasks = WritingTask.objects.filter(study=study, response__isnull=False).select_related(
        "study", "topic", "style", "participant", "reviewer", "assignee", "response", "log", "revises__response"
    )
    return get_object_or_404(tasks, external_id=external_id)


def _filter_form(study: Study, request: HttpRequest) -> tuple[QueueForm, queue.QueueFilter]:
    styles = list(Style.objects.filter(study=study).values_list("name", "label").order_by("name", "version"))
    form = QueueForm(list(dict(styles).items()), request.GET)
    if not form.is_valid():
        return form, queue.QueueFilter()
    assigned = assignees.matching(form.cleaned_data["assigned"], _user(request))
    return form, queue.QueueFilter(**{**form.cleaned_data, "assigned": assigned})


def _query(query: QueryDict) -> str:
    """Return the filter as a query string, to keep it from one response to the next."""
    kept = QueryDict(mutable=True)
    for name in FILTERS:
        if value := query.get(name):
            kept[name] = str(value)
    return f"?{kept.urlencode()}" if kept else ""


def _address(name: str, study: Study, task_id: str, query: QueryDict) -> str:
    address = reverse(name, args=[study.slug, task_id])
    return f"{address}{_query(query)}"


def _is_locked(task: WritingTask, now: Any) -> bool:
    return (
        task.state == TaskState.SUBMITTED
        and task.reviewer_id is not None
        and task.reviewing_until is not None
        and task.reviewing_until > now
    )


def _lists() -> list[tuple[str, str]]:
    return [
        ("waiting", "Awaiting review"),
        ("accepted", "Accepted"),
        ("rejected", "Rejected"),
        ("revision", "Revision requested"),
        ("erased", "Erased before review"),
    ]


def _user(request: HttpRequest) -> Any:
    return request.user  # study_page requires sign-in
