"""A study's writing plan: what is asked for and what it pays; opening and closing."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from crowdrag.studies.access import study_page
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study

from ..domain import plans
from ..forms.plan import PlanForm
from ..models import WritingPlan

SECTION = "progress"


@study_page(Role.EDITOR)
def plan(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the plan, make it where there is none, or change its terms."""
    found = plans.get(study)
    if found is None:
        if request.method == "POST":
            plans.ensure(study, timezone.now())
            return redirect("writing_plan", study.slug)
        return render(request, "writing/plan/none.html", {"section": SECTION})
    if request.method != "POST":
        return _show(request, found, PlanForm(found))
    form = PlanForm(found, request.POST)
    if form.is_valid() and _change(found, form):
        messages.success(request, _("Saved."))
        return redirect("writing_plan", study.slug)
    return _show(request, plans.get(study) or found, form, status=422)


@study_page(Role.EDITOR)
@require_POST
def opening(request: HttpRequest, study: Study) -> HttpResponse:
    """Let people write, or let nobody begin any more."""
    found = plans.get(study)
    if found is None:
        return redirect("writing_plan", study.slug)
    if request.POST.get("do") == "close":
        plans.close(plan=found, now=timezone.now())
        messages.success(request, _("Closed: nobody begins any more. Who has a task can finish it, and is paid."))
        return redirect("writing_plan", study.slug)
    try:
        plans.open(plan=found, now=timezone.now())
    except plans.NotReady as error:
        for problem in error.problems:
            messages.error(request, problem)
    else:
        messages.success(request, _("Open: people can write now. Give them a link under “People”."))
    return redirect("writing_plan", study.slug)


@study_page(Role.VIEWER)
@require_safe
def preview(request: HttpRequest, study: Study) -> HttpResponse:
    """Show everything that a writer is told and asked, in their order."""
    found = plans.get(study)
    if found is None:
        return redirect("writing_progress", study.slug)
    asked = [each.style for each in found.plan_styles.select_related("style").order_by("position", "id")]
    return render(request, "writing/plan/preview.html", {"plan": found, "styles": asked, "section": SECTION})


def _change(found: WritingPlan, form: PlanForm) -> bool:
    """Change the plan by what the form says; put what is wrong into the form."""
    data = form.cleaned_data
    try:
        plans.change(
            plan=found,
            terms=form.terms,
            style_names=data["styles"],
            trial_topics=data["trial_topics"],
            now=timezone.now(),
        )
    except plans.BadPlan as error:
        for field, problem in error.problems.items():
            form.add_error(field if field in form.fields else None, problem)
        return False
    return True


def _show(request: HttpRequest, found: WritingPlan, form: PlanForm, *, status: int = 200) -> HttpResponse:
    context: dict[str, Any] = {
        "plan": found,
        "form": form,
        "costs": plans.costs(found),
        "wage": plans.promised_wage(found),
        "readiness": plans.readiness(found),
        "styles": [each.style for each in found.plan_styles.select_related("style").order_by("position", "id")],
        "section": SECTION,
    }
    return render(request, "writing/plan/plan.html", context, status=status)
