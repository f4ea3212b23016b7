"""Pages of the writing plan."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect

from crowdrag.studies.access import study_page
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study

from ..enums import SurveyKind
from ..models import WritingPlan
from . import forms as plan_forms
from . import services, surveys
from .forms import LICENCES, ConsentForm, InstructionsForm, PlanForm, StyleForm
from .services import NotReady

SECTION = "writing"


@study_page(Role.EDITOR)
def plan_page(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the plan (create it if there is none), or change its terms."""
    writing_plan = services.get_plan(study)
    if writing_plan is None:
        if request.method == "POST":
            services.ensure_plan(study, timezone.now())
            return redirect("writing_plan", study.slug)
        return render(request, "writing/plans/no_plan.html", {"section": SECTION})
    if request.method != "POST":
        return _show_plan(request, writing_plan, PlanForm(writing_plan))
    form = PlanForm(writing_plan, request.POST)
    if form.is_valid() and _change(writing_plan, form):
        messages.success(request, "Saved.")
        return redirect("writing_plan", study.slug)
    return _show_plan(request, services.get_plan(study) or writing_plan, form, status=422)


@study_page(Role.EDITOR)
@require_POST
def change_state(request: HttpRequest, study: Study) -> HttpResponse:
    """Open or close the plan."""
    plan = services.get_plan(study)
    if plan is None:
        return redirect("writing_plan", study.slug)
    if request.POST.get("do") == "close":
        services.close_plan(plan=plan, now=timezone.now())
        messages.success(
            request,
            "The plan is closed. Nobody can start a new task. Writers who have a task can finish it and are paid.",
        )
        return redirect("writing_plan", study.slug)
    try:
        services.open_plan(plan=plan, now=timezone.now())
    except NotReady as error:
        for problem in error.problems:
            messages.error(request, problem)
    else:
        messages.success(request, "The plan is open. People can write now. Create a link on the page Participants.")
    return redirect("writing_plan", study.slug)


@study_page(Role.VIEWER)
@require_safe
def preview(request: HttpRequest, study: Study) -> HttpResponse:
    """Show all texts and questions as writers see them."""
    plan = services.get_plan(study)
    if plan is None:
        return redirect("writing_progress", study.slug)
    styles = services.styles_of(plan)
    return render(request, "writing/plans/preview.html", {"plan": plan, "styles": styles, "section": SECTION})


def _change(plan: WritingPlan, form: PlanForm) -> bool:
    """Change the plan as the form requests; add problems to the form's errors."""
    data = form.cleaned_data
    try:
        services.change_terms(
            plan=plan,
            terms=form.terms,
            style_names=data["styles"],
            trial_topics=data["trial_topics"],
            now=timezone.now(),
        )
    except services.BadPlan as error:
        for field, problem in error.problems.items():
            form.add_error(field if field in form.fields else None, problem)
        return False
    return True


def _show_plan(request: HttpRequest, plan: WritingPlan, form: PlanForm, *, status: int = 200) -> HttpResponse:
    context: dict[str, Any] = {
        "plan": plan,
        "form": form,
        "costs": services.costs(plan),
        "wage": services.promised_wage(plan),
        "readiness": services.readiness(plan),
        "styles": services.styles_of(plan),
        "section": SECTION,
    }
    return render(request, "writing/plans/plan.html", context, status=status)


def _of_plan(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponseBase]:
    """Require an editor and pass the study's plan to the view; if there is no plan, redirect to its page."""

    @study_page(Role.EDITOR)
    @wraps(view)
    def found(request: HttpRequest, study: Study, *args: Any, **kwargs: Any) -> HttpResponse:
        plan = services.get_plan(study)
        return view(request, plan, *args, **kwargs) if plan else redirect("writing_plan", study.slug)

    return found


@_of_plan
def instructions(request: HttpRequest, plan: WritingPlan) -> HttpResponse:
    """Change the instructions."""
    initial = {"text": plan.instructions.text if plan.instructions else ""}
    form = InstructionsForm(request.POST or None, initial=initial)
    if _is_to_save(request, form):
        saved = _saved(form, lambda: services.change_instructions(plan=plan, now=timezone.now(), **form.cleaned_data))
        if saved:
            messages.success(request, "Saved. Writers who claim a task from now on see this version.")
            return redirect("writing_plan", plan.study.slug)
    context = {"title": "Instructions", "held": plan.instructions, "preview": form["text"].value()}
    return _show_text(request, plan, form, "writing/plans/text.html", context)


@_of_plan
def consent(request: HttpRequest, plan: WritingPlan) -> HttpResponse:
    """Change the consent text and licences."""
    held = plan.consent_text
    names = ("text", "text_licence", "log_licence", "timing_licence")
    form = ConsentForm(request.POST or None, initial={name: getattr(held, name, "") for name in names})
    if _is_to_save(request, form):
        saved = _saved(form, lambda: services.change_consent(plan=plan, now=timezone.now(), **form.cleaned_data))
        if saved:
            messages.success(
                request, "Saved. People who agreed to an earlier version must agree again before they continue."
            )
            return redirect("writing_plan", plan.study.slug)
    context = {"title": "Consent", "held": held, "preview": form["text"].value(), "licences": LICENCES}
    return _show_text(request, plan, form, "writing/plans/text.html", context)


@_of_plan
def style(request: HttpRequest, plan: WritingPlan, name: str = "") -> HttpResponse:
    """Add or change a style."""
    held = plan.styles.filter(name=name).order_by("-version").first() if name else None
    if name and held is None:
        raise Http404("The plan asks for no style of this name.")
    fields = ("label", "name", "target_words", "instructions")
    form = StyleForm(request.POST or None, initial={each: getattr(held, each) for each in fields} if held else {})
    if held:
        form.fields["name"].disabled = True
    if _is_to_save(request, form):
        saved = _saved(form, lambda: services.add_style(plan=plan, now=timezone.now(), **form.cleaned_data))
        if saved:
            messages.success(request, "Saved. The plan now includes this style.")
            return redirect("writing_plan", plan.study.slug)
    context = {"title": held.label if held else "Your own style", "held": held, "style": held}
    return _show_text(
        request, plan, form, "writing/plans/text.html", context | {"preview": form["instructions"].value()}
    )


@_of_plan
def questions(request: HttpRequest, plan: WritingPlan, kind: str) -> HttpResponse:
    """Change the questions before or after writing, in a table."""
    survey_kind = {each.lower(): each for each in SurveyKind}.get(kind)
    if survey_kind is None:
        raise Http404("Questions are asked on entry and on exit.")
    survey = getattr(plan, services.SURVEY_FIELDS[survey_kind])
    rows, focus, problems = plan_forms.rows_of(survey.questions if survey else []), "", []
    if request.method == "POST":
        do = request.POST.get("do", "")
        rows = plan_forms.read_rows(request.POST, request.POST.getlist("row"))
        if do == "usual":
            rows = plan_forms.rows_of(surveys.defaults(plan.study, survey_kind))
        rows, focus = plan_forms.edit_rows(rows, do)
        problems = _problems(rows) if do in {"save", "show"} else []
        if do == "save" and not problems:
            services.change_survey(
                plan=plan, kind=survey_kind, questions=plan_forms.questions(rows), now=timezone.now()
            )
            messages.success(request, "Saved.")
            return _redirect(request, plan)
    context = {
        "plan": plan,
        "kind": survey_kind,
        "held": survey,
        "rows": rows,
        "kinds": plan_forms.KINDS,
        "focus": focus,
        "problems": problems,
        "asked": plan_forms.questions(rows),
        "section": SECTION,
    }
    template = "writing/plans/_questions.html" if request.htmx else "writing/plans/questions.html"  # type: ignore[attr-defined]
    return render(request, template, context, status=422 if problems else 200)


def _problems(rows: list[plan_forms.QuestionRow]) -> list[str]:
    try:
        surveys.parse(plan_forms.questions(rows))
    except surveys.BadSurvey as error:
        return error.problems
    return []


def _redirect(request: HttpRequest, plan: WritingPlan) -> HttpResponse:
    target = redirect("writing_plan", plan.study.slug)
    return HttpResponseClientRedirect(target.url) if request.htmx else target  # type: ignore[attr-defined]


def _is_to_save(request: HttpRequest, form: forms.Form) -> bool:
    """Return whether to save a form: it was submitted, not for a preview, and is valid."""
    return request.method == "POST" and "preview" not in request.POST and form.is_valid()


def _saved(form: forms.Form, save: Callable[[], object]) -> bool:
    """Save a form and return whether this succeeded; add problems to the form's errors."""
    try:
        save()
    except services.BadPlan as error:
        for field, problem in error.problems.items():
            form.add_error(field if field in form.fields else None, problem)
        return False
    return True


def _show_text(
    request: HttpRequest, plan: WritingPlan, form: forms.Form, template: str, context: dict[str, Any]
) -> HttpResponse:
    is_wrong = form.is_bound and "preview" not in request.POST and bool(form.errors)
    context = {"plan": plan, "form": form, "section": SECTION, "shows_errors": is_wrong, **context}
    return render(request, template, context, status=422 if is_wrong else 200)
