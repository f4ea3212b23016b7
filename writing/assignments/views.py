"""A writer's pages around the editor: start, surveys, return, outcome."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from crowdrag.assignments.problems import WorkProblem
from crowdrag.studies.access import consented_page, participant_page
from crowdrag.studies.entry import links
from crowdrag.studies.enums import Outcome
from crowdrag.studies.models import Participant

from ..editor import logs
from ..enums import SurveyKind
from ..models import WritingPlan, WritingTask
from ..plans import surveys
from . import claims, leases, queries, steps, submission
from .forms import ReturnForm, SurveyForm

# The actions of a returned task's form.
LATE = {"resume": leases.resume, "hand_in": submission.submit_late}


@consented_page("writing")
@never_cache
def start(request: HttpRequest, participant: Participant) -> HttpResponse:
    """Show the start page; POST claims the next task, or continues the current one."""
    if request.method == "POST":
        try:
            task = claims.claim(study=participant.study, participant=participant, now=timezone.now())
        except WorkProblem as problem:
            messages.warning(request, str(problem))
            return redirect("writing_start", participant.study.slug)
        return _to(task)
    plan = WritingPlan.objects.filter(study=participant.study).select_related("instructions").first()
    obstacle = claims.obstacle(study=participant.study, participant=participant)
    overview = queries.writer_overview(participant)
    outcome = Outcome.COMPLETED if overview.has_submitted else Outcome.NO_WORK
    context = {
        "plan": plan,
        "overview": overview,
        "obstacle": obstacle,
        "way_back": obstacle and links.participant_completion_target(participant=participant, outcome=outcome),
    }
    return _page(request, participant, "start", context)


@participant_page
@never_cache
def step(request: HttpRequest, participant: Participant, task_id: str) -> HttpResponse:
    """Redirect to the next step. For a returned task, show the possible actions; POST performs one."""
    task = _task(participant, task_id)
    due = steps.next_step(task)
    if request.method == "POST":
        try:
            if due is steps.Step.RETURNED:
                LATE.get(request.POST.get("do", ""), leases.resume)(task=task, now=timezone.now())
        except WorkProblem as problem:
            messages.warning(request, str(problem))
        return _to(task)
    if due is not steps.Step.RETURNED:
        return redirect(due.value, participant.study.slug, task_id)
    context = {"task": task, "row": queries.writer_task_row(task), "text": logs.current_text(task)}
    return _page(request, participant, "returned", context)


@participant_page
@never_cache
def entry(request: HttpRequest, participant: Participant, task_id: str) -> HttpResponse:
    """Show the entry survey."""
    task = _task(participant, task_id)
    if steps.next_step(task) is not steps.Step.ENTRY:
        return _to(task)
    form = SurveyForm(
        surveys.current_survey(task, SurveyKind.ENTRY), request.POST if request.method == "POST" else None
    )
    if request.method == "POST" and form.is_valid():
        return _done(request, task, lambda: steps.answer_entry(task=task, answers=form.answers, now=timezone.now()))
    return _page(request, participant, "entry", {"task": task, "form": form})


@participant_page
@never_cache
def leave(request: HttpRequest, participant: Participant, task_id: str) -> HttpResponse:
    """Show the exit survey and submit, or reopen the text."""
    task = _task(participant, task_id)
    if steps.next_step(task) not in {steps.Step.EXIT, steps.Step.DONE}:
        return _to(task)
    if "back" in request.POST:
        steps.reopen_text(task=task)
        return _to(task)
    if request.method != "POST" and steps.next_step(task) is steps.Step.DONE:
        return _to(task)
    form = SurveyForm(surveys.current_survey(task, SurveyKind.EXIT), request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        return _done(request, task, lambda: submission.submit(task=task, answers=form.answers, now=timezone.now()))
    context = {"task": task, "form": form, "text": logs.current_text(task)}
    return _page(request, participant, "exit", context)


@participant_page
@never_cache
def done(request: HttpRequest, participant: Participant, task_id: str) -> HttpResponse:
    """Confirm the submission, and explain what happens next and when it is paid."""
    task = _task(participant, task_id)
    if steps.next_step(task) is not steps.Step.DONE:
        return _to(task)
    context = {
        "task": task,
        "row": queries.writer_task_row(task),
        "payer": links.paying_platform(participant),
        "overview": queries.writer_overview(participant),
        "obstacle": claims.obstacle(study=participant.study, participant=participant),
        "way_back": links.participant_completion_target(participant=participant, outcome=Outcome.COMPLETED),
    }
    return _page(request, participant, "done", context)


@participant_page
@never_cache
def give_back(request: HttpRequest, participant: Participant, task_id: str) -> HttpResponse:
    """Ask for confirmation to return a task; POST returns it, with an optional reason."""
    task = _task(participant, task_id)
    if request.method != "POST" and steps.next_step(task) in {steps.Step.DONE, steps.Step.RETURNED}:
        return _to(task)
    form = ReturnForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            claims.give_back(task=task, reason=form.cleaned_data["reason"], now=timezone.now())
        except WorkProblem as problem:
            messages.warning(request, str(problem))
            return _to(task)
        has_text = bool(logs.current_text(task))
        messages.success(
            request, _("You returned the task. Your text is saved.") if has_text else _("You returned the task.")
        )
        return redirect("writing_start", participant.study.slug)
    return _page(request, participant, "return", {"task": task, "form": form, "text": logs.current_text(task)})


def _task(participant: Participant, external_id: str) -> WritingTask:
    tasks = WritingTask.objects.filter(participant=participant, is_imported=False)
    return get_object_or_404(tasks.select_related("study", "topic", "style", "instructions"), external_id=external_id)


def _to(task: WritingTask) -> HttpResponseRedirect:
    """Redirect to the next step of a task."""
    return redirect("writing_task", task.study.slug, task.external_id)


def _done(request: HttpRequest, task: WritingTask, work: Callable[[], object]) -> HttpResponse:
    """Perform an action and redirect to the next step; that page shows problems."""
    try:
        work()
    except WorkProblem as problem:
        messages.warning(request, str(problem))
        steps.reopen_text(task=task)
    return _to(task)


def _page(request: HttpRequest, participant: Participant, name: str, context: dict[str, Any]) -> HttpResponse:
    common = {"participant": participant, "taking_part": participant.study}
    return render(request, f"writing/assignments/{name}.html", common | context)
