"""What people are told and asked in a writing plan: instructions, consent, styles, questions."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django_htmx.http import HttpResponseClientRedirect

from crowdrag.studies.access import study_page
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study

from ..domain import plans, surveys
from ..enums import SurveyKind
from ..forms import questions as table
from ..forms.plan import LICENCES, ConsentForm, InstructionsForm, StyleForm
from ..models import WritingPlan
from .plan import SECTION


def _of_plan(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponseBase]:
    """Let in editors, and give the view the study's plan; without one they are sent to make it."""

    @study_page(Role.EDITOR)
    @wraps(view)
    def found(request: HttpRequest, study: Study, *args: Any, **kwargs: Any) -> HttpResponse:
        plan = plans.get(study)
        return view(request, plan, *args, **kwargs) if plan else redirect("writing_plan", study.slug)

    return found


@_of_plan
def instructions(request: HttpRequest, plan: WritingPlan) -> HttpResponse:
    """Change what writers are told."""
    initial = {"text": plan.instructions.text if plan.instructions else ""}
    form = InstructionsForm(request.POST or None, initial=initial)
    if _is_sent(request, form):
        saved = _saved(form, lambda: plans.change_instructions(plan=plan, now=timezone.now(), **form.cleaned_data))
        if saved:
            messages.success(request, _("Saved. Whoever claims a task from now on is told this."))
            return redirect("writing_plan", plan.study.slug)
    context = {"title": _("Instructions"), "held": plan.instructions, "preview": form["text"].value()}
    return _show(request, plan, form, "writing/plan/text.html", context)


@_of_plan
def consent(request: HttpRequest, plan: WritingPlan) -> HttpResponse:
    """Change what people are asked to agree to."""
    held = plan.consent_text
    names = ("text", "text_licence", "log_licence", "timing_licence")
    form = ConsentForm(request.POST or None, initial={name: getattr(held, name, "") for name in names})
    if _is_sent(request, form):
        saved = _saved(form, lambda: plans.change_consent(plan=plan, now=timezone.now(), **form.cleaned_data))
        if saved:
            messages.success(request, _("Saved. Who agreed to another version is asked again before they go on."))
            return redirect("writing_plan", plan.study.slug)
    context = {"title": _("Consent"), "held": held, "preview": form["text"].value(), "licences": LICENCES}
    return _show(request, plan, form, "writing/plan/text.html", context)


@_of_plan
def style(request: HttpRequest, plan: WritingPlan, name: str = "") -> HttpResponse:
    """Add a style, or word one anew."""
    held = plan.styles.filter(name=name).order_by("-version").first() if name else None
    if name and held is None:
        raise Http404("The plan asks for no style of this name.")
    fields = ("label", "name", "target_words", "instructions")
    form = StyleForm(request.POST or None, initial={each: getattr(held, each) for each in fields} if held else {})
    if held:
        form.fields["name"].disabled = True
    if _is_sent(request, form):
        saved = _saved(form, lambda: plans.add_style(plan=plan, now=timezone.now(), **form.cleaned_data))
        if saved:
            messages.success(request, _("Saved, and asked for."))
            return redirect("writing_plan", plan.study.slug)
    context = {"title": held.label if held else _("A style of your own"), "held": held, "style": held}
    return _show(request, plan, form, "writing/plan/text.html", context | {"preview": form["instructions"].value()})


@_of_plan
def questions(request: HttpRequest, plan: WritingPlan, kind: str) -> HttpResponse:
    """Change the questions before or after writing, in a table."""
    survey_kind = {each.lower(): each for each in SurveyKind}.get(kind)
    if survey_kind is None:
        raise Http404("Questions are asked on entry and on exit.")
    survey = getattr(plan, plans.changing.SURVEY_FIELDS[survey_kind])
    rows, focus, problems = table.rows_of(survey.questions if survey else []), "", []
    if request.method == "POST":
        do = request.POST.get("do", "")
        rows = table.read(request.POST, request.POST.getlist("row"))
        if do == "usual":
            rows = table.rows_of(surveys.defaults(survey_kind))
        rows, focus = table.changed(rows, do)
        problems = _problems(rows) if do in {"save", "show"} else []
        if do == "save" and not problems:
            plans.change_survey(plan=plan, kind=survey_kind, questions=table.questions(rows), now=timezone.now())
            messages.success(request, _("Saved."))
            return _sent_on(request, plan)
    context = {
        "plan": plan,
        "kind": survey_kind,
        "held": survey,
        "rows": rows,
        "kinds": table.KINDS,
        "focus": focus,
        "problems": problems,
        "asked": table.questions(rows),
        "section": SECTION,
    }
    template = "writing/plan/_questions.html" if request.htmx else "writing/plan/questions.html"  # type: ignore[attr-defined]
    return render(request, template, context, status=422 if problems else 200)


def _problems(rows: list[table.Row]) -> list[str]:
    try:
        surveys.parse(table.questions(rows))
    except surveys.BadSurvey as error:
        return error.problems
    return []


def _sent_on(request: HttpRequest, plan: WritingPlan) -> HttpResponse:
    target = redirect("writing_plan", plan.study.slug)
    return HttpResponseClientRedirect(target.url) if request.htmx else target  # type: ignore[attr-defined]


def _is_sent(request: HttpRequest, form: forms.Form) -> bool:
    """Say whether a form is to be saved: it was sent, not just to be looked at, and is in order."""
    return request.method == "POST" and "preview" not in request.POST and form.is_valid()


def _saved(form: forms.Form, save: Callable[[], object]) -> bool:
    """Save what a form says; put what is wrong into the form."""
    try:
        save()
    except plans.BadPlan as error:
        for field, problem in error.problems.items():
            form.add_error(field if field in form.fields else None, problem)
        return False
    return True


def _show(
    request: HttpRequest, plan: WritingPlan, form: forms.Form, template: str, context: dict[str, Any]
) -> HttpResponse:
    is_wrong = form.is_bound and "preview" not in request.POST and bool(form.errors)
    context = {"plan": plan, "form": form, "section": SECTION, "shows_errors": is_wrong, **context}
    return render(request, template, context, status=422 if is_wrong else 200)
