"""The setup of a campaign: its tab, and the pages of terms, texts, questions, preview and launch."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import F
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRedirect

from crowdrag.studies.access import audited, study_page
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Study
from writing.models import Response
from writing.plans.forms import LICENCES

from ..campaign_types.registry import item_type, type_of
from ..enums import CampaignState
from ..judging import activity, questionnaire_content, script_messages
from ..models import Campaign, Item
from ..progress import overview
from ..quality import attention_checks
from . import (
    candidates,
    default_texts,
    design,
    forecasts,
    goals,
    launch,
    precision,
    questionnaires,
    questions,
    services,
    setup_cards,
)
from . import forms as campaign_forms
from .forms import CampaignForm, ConsentForm, GoalForm, InstructionsForm, NewForm
from .problems import BadCampaign, CampaignProblem

SECTION = "judging"
ALONG = ("study", "source", "instructions", "consent_text")


def of_people(role: Role = Role.EDITOR) -> Callable[[Callable[..., HttpResponseBase]], Callable[..., HttpResponseBase]]:
    """Require this role and pass the campaign to the view; respond 404 for campaigns of model judges."""

    def decorate(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        @study_page(role)
        @wraps(view)
        def found(request: HttpRequest, study: Study, campaign_id: int, **kwargs: Any) -> HttpResponseBase:
            campaigns = Campaign.objects.filter(study=study).exclude(judges="MODEL").select_related(*ALONG)
            return view(request, get_object_or_404(campaigns, pk=campaign_id), **kwargs)

        return found

    return decorate


@study_page(Role.EDITOR)
def new(request: HttpRequest, study: Study) -> HttpResponse:
    """Ask for the name and type of a campaign; POST creates a draft with the default questions and texts."""
    form = NewForm(study, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            named = {name: form.cleaned_data[name] for name in ("name", "kind", "source")}
            campaign = services.create_draft(study=study, now=timezone.now(), terms=form.terms, **named)
        except BadCampaign as error:
            put(form, error)
        else:
            return redirect("campaign_launch", study.slug, campaign.pk)
    context = {"form": form, "section": SECTION}
    return render(request, "annotation/campaigns/new.html", context, status=422 if form.errors else 200)


def tab_context(request: HttpRequest, campaign: Campaign, tab: str) -> dict[str, Any]:
    """Return the context that all tabs of a campaign share."""
    role: Role = request.study_role  # type: ignore[attr-defined] # set by study_page
    return {
        "campaign": campaign,
        "tab": tab,
        "phase": overview.phase(campaign),
        "is_run_here": setup_cards.is_run_here(campaign),
        "may_edit": role >= Role.EDITOR,
        "may_review": role >= Role.REVIEWER,
        "section": SECTION,
    }


@of_people(Role.VIEWER)
@require_safe
def setup(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show the setup of a campaign with its forecast."""
    forecast = forecasts.forecast(campaign) if setup_cards.is_run_here(campaign) else None
    context = tab_context(request, campaign, "Setup") | {
        "forecast": forecast,
        "cards": setup_cards.setup_cards(campaign, forecast),
        "items": item_type(campaign).items,
        "precision": precision.expected_precision(campaign) if forecast else None,
    }
    return render(request, "annotation/campaigns/setup.html", context)


@of_people()
def edit(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show a campaign's terms and design; POST changes them."""
    form = CampaignForm(campaign, request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            services.change_terms(campaign=campaign, terms=form.terms, design=form.new_design, now=timezone.now())
        except CampaignProblem as error:
            put(form, error)
        else:
            messages.success(request, "Saved.")
            return redirect("campaign_setup", campaign.study.slug, campaign.pk)
    context = {
        "campaign": campaign,
        "form": form,
        "is_draft": campaign.state == CampaignState.DRAFT,
        "is_expert": type_of(campaign).asks_again,
        "picked": len(form.design.picked),
        "section": SECTION,
    }
    return render(request, "annotation/campaigns/edit.html", context, status=422 if form.errors else 200)


@of_people()
def launch_page(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show the forecast of a campaign and what is missing; POST draws its questionnaires or opens it."""
    if request.method == "POST":
        if step := LAUNCH_STEPS.get(request.POST.get("do", "")):
            return step(request, campaign)
        messages.error(request, "This page does not know that action, so nothing changed. Use one of its buttons.")
    context = _launch_context(campaign)
    return render(request, "annotation/campaigns/launch.html", context, status=422 if request.method == "POST" else 200)


def _launch_context(campaign: Campaign) -> dict[str, Any]:
    forecast = forecasts.forecast(campaign)
    measures = questionnaires.measures(campaign) if forecast.is_drawn else None
    return {
        "campaign": campaign,
        "forecast": forecast,
        "measures": measures,
        "readiness": launch.readiness(campaign, forecast, measures),
        "is_draft": campaign.state == CampaignState.DRAFT,
        "has_sides": item_type(campaign).compares,
        "section": SECTION,
    }


@of_people()
@require_POST
def duplicate(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Copy a campaign as a new draft."""
    copy = services.clone_campaign(campaign=campaign, now=timezone.now())
    messages.success(request, f"The copy “{copy.name}” is ready. It has no questionnaires or judgments yet.")
    return redirect("campaign_setup", campaign.study.slug, copy.pk)


@of_people()
@require_POST
def delete(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Delete a draft."""
    try:
        services.delete_draft(campaign=campaign)
    except BadCampaign as error:
        messages.error(request, " ".join(error.problems.values()))
    except CampaignProblem as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"“{campaign.name}” is deleted.")
        return redirect("campaigns", campaign.study.slug)
    return redirect("campaign", campaign.study.slug, campaign.pk)


@of_people()
@require_POST
def archive(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Archive a closed campaign."""
    try:
        launch.archive_campaign(campaign=campaign, now=timezone.now())
    except BadCampaign as error:
        messages.error(request, " ".join(error.problems.values()))
        return redirect("campaign_setup", campaign.study.slug, campaign.pk)
    messages.success(request, f"“{campaign.name}” is archived. You find it under “Archived” in the list.")
    return redirect("campaigns", campaign.study.slug)


@of_people()
@require_POST
def restore(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show an archived campaign in lists again."""
    launch.restore_campaign(campaign=campaign)
    messages.success(request, f"“{campaign.name}” is in the list again.")
    return redirect("campaign_setup", campaign.study.slug, campaign.pk)


def put(form: forms.BaseForm, error: CampaignProblem) -> None:
    """Add the messages to the fields that they concern."""
    problems = error.problems if isinstance(error, BadCampaign) else {"": str(error)}
    for field, problem in problems.items():
        form.add_error(field if field in form.fields else None, problem)


def _drawn(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    try:
        questionnaires.build(campaign=campaign, now=timezone.now())
    except CampaignProblem as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "Questionnaires generated.")
    return redirect("campaign_launch", campaign.study.slug, campaign.pk)


def _opened(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    try:
        launch.open_with_link(campaign=campaign, by=request.user, now=timezone.now())  # type: ignore[arg-type] # study_page lets nobody else in
    except CampaignProblem as error:
        messages.error(request, str(error))
        return redirect("campaign_launch", campaign.study.slug, campaign.pk)
    is_expert = type_of(campaign).asks_again
    who = "Invite your experts below." if is_expert else "Send the open link to your judges, or recruit on a platform."
    messages.success(request, f"The campaign is open. {who}")
    return redirect("campaign_participants", campaign.study.slug, campaign.pk)


LAUNCH_STEPS: dict[str, Callable[[HttpRequest, Campaign], HttpResponse]] = {"draw": _drawn, "open": _opened}


@of_people(Role.VIEWER)
@require_safe
def preview(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show everything that judges read before they get a questionnaire, with a link to a questionnaire."""
    kept = design.read_design(campaign.design)
    context = {
        "campaign": campaign,
        "offer": activity.offer(campaign),
        "told": attention_checks.notice(campaign, kept.checks),
        "questionnaires": campaign.questionnaires.count(),
        "asked": questions.questions_of(campaign),
        "section": SECTION,
    }
    return render(request, "annotation/campaigns/preview.html", context)


@of_people(Role.VIEWER)
@require_safe
@audited(AuditedContent.RESPONSE)
def questionnaire(request: HttpRequest, campaign: Campaign, number: int) -> HttpResponse:
    """Preview a questionnaire by its number, from 1."""
    # Imported questionnaires have no position; they are numbered in the order of their import.
    ordered = campaign.questionnaires.order_by(F("position").asc(nulls_last=True), "pk")
    shown = ordered.select_related("campaign__study")[max(number - 1, 0) : number]
    if not shown:
        raise Http404
    context = {
        "page": questionnaire_content.preview(shown[0]),
        "campaign": campaign,
        "project": campaign.study,
        "title": activity.title(campaign),
        "number": number,
        "wording": script_messages.questionnaire(item_type(campaign).texts),
    }
    return render(request, "annotation/campaigns/try.html", context)


HARDEST = 50


@of_people()
def instructions(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Change the instructions for judges."""
    text = campaign.instructions.text if campaign.instructions else ""
    usual = {"text": services.default_instructions(campaign)}
    form = InstructionsForm(_posted(request), initial=usual if "usual" in request.GET else {"text": text})
    if _is_to_save(request, form) and _saved(
        form, lambda: services.change_instructions(campaign=campaign, now=timezone.now(), **form.cleaned_data)
    ):
        return _back(request, campaign)
    return _text(request, campaign, form, {"title": "Instructions", "held": campaign.instructions})


@of_people()
def consent(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Change the consent text."""
    held, names = campaign.consent_text, ("text", "text_licence", "timing_licence")
    initial = {name: getattr(held, name, "") for name in names}
    form = ConsentForm(
        _posted(request), initial=default_texts.consent(campaign.study) if "usual" in request.GET else initial
    )
    if _is_to_save(request, form) and _saved(
        form, lambda: services.change_consent(campaign=campaign, now=timezone.now(), **form.cleaned_data)
    ):
        return _back(request, campaign)
    return _text(request, campaign, form, {"title": "Consent", "held": held, "licences": LICENCES})


@of_people()
def goal(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Set what a campaign is to find out; judges do not see it."""
    if not goals.may_have_goal(campaign):
        raise Http404("Only campaigns in which people compare pairs can have a goal.")
    is_fixed = campaign.goal_looks.exists()
    form = GoalForm(campaign, goals.find_goal(campaign), _posted(request), is_fixed=is_fixed)
    if request.method == "POST" and form.is_valid():
        terms = form.terms
        save = (lambda: goals.set_goal(campaign=campaign, terms=terms)) if terms else (
            lambda: goals.remove_goal(campaign=campaign)
        )  # fmt: skip
        if _saved(form, save):
            return _back(request, campaign)
    context = {"campaign": campaign, "form": form, "is_fixed": is_fixed, "section": SECTION}
    return render(request, "annotation/campaigns/goal.html", context, status=422 if form.errors else 200)


@of_people()
def asked(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Edit the questions in a table. Changed questions become new versions."""
    rows, focus, problems = campaign_forms.rows_of(questions.questions_of(campaign)), "", []
    is_draft = campaign.state == CampaignState.DRAFT
    if request.method == "POST" and is_draft:
        do = request.POST.get("do", "")
        rows = campaign_forms.read_rows(request.POST, request.POST.getlist("row"))
        if do == "usual":
            rows = campaign_forms.rows_of(questions.default_questions(campaign, timezone.now()))
        rows, focus = campaign_forms.edit_rows(rows, do, pairwise=item_type(campaign).compares)
        terms = campaign_forms.questions_of_rows(rows)
        problems = questions.problems_of(campaign, terms) if do in {"save", "show"} else []
        if do == "save" and not problems:
            try:
                questions.change_questions(campaign=campaign, terms=terms, now=timezone.now())
            except CampaignProblem as error:
                problems = [str(error)]
            else:
                return _back(request, campaign)
    context = {
        "campaign": campaign,
        "rows": rows,
        "focus": focus,
        "problems": problems,
        "asked": campaign_forms.questions_of_rows(rows),
        "compares": item_type(campaign).compares,
        "is_draft": is_draft,
        "section": SECTION,
    }
    template = "annotation/campaigns/_questions.html" if request.htmx else "annotation/campaigns/questions.html"  # type: ignore[attr-defined]
    return render(request, template, context, status=422 if problems else 200)


@of_people()
def expert_items(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show the items of an expert campaign's source, most difficult first; POST picks and drops those of the page."""
    if campaign.source is None:
        raise Http404("Only campaigns that ask another one's items again pick them.")
    kept = design.read_design(campaign.design)
    page = Paginator(candidates.hardest_items(campaign.source), HARDEST).get_page(request.GET.get("page"))
    if request.method == "POST":
        shown = {each.item for each in page}
        chosen = {int(pk) for pk in request.POST.getlist("item") if pk.isascii() and pk.isdigit()} & shown
        picked = tuple(sorted((set(kept.picked) - shown) | chosen))
        changed = replace(kept, picked=picked, rule=design.PICKED if picked else design.LEAST)
        try:
            services.change_terms(campaign=campaign, terms={}, design=changed, now=timezone.now())
        except CampaignProblem as error:
            messages.error(request, str(error))
        else:
            message = "Saved. %(n)s item is selected." if len(picked) == 1 else "Saved. %(n)s items are selected."
            messages.success(request, message % {"n": len(picked)})
        return redirect(request.get_full_path())
    items = Item.objects.filter(pk__in=[each.item for each in page]).select_related(
        "topic", *Response.label_needs("response", "pair__a", "pair__b")
    )
    by_key = {item.pk: item for item in items}
    context = {
        "campaign": campaign,
        "page": page,
        "rows": [(each, by_key[each.item], _responses(by_key[each.item]), each.item in kept.picked) for each in page],
        "picked": len(kept.picked),
        "is_draft": campaign.state == CampaignState.DRAFT,
        "section": SECTION,
    }
    return render(request, "annotation/campaigns/expert_items.html", context)


def _posted(request: HttpRequest) -> Any:
    return request.POST if request.method == "POST" else None


def _is_to_save(request: HttpRequest, form: forms.Form) -> bool:
    """Return whether a form is valid and submitted to be saved, not only for a preview."""
    return request.method == "POST" and "preview" not in request.POST and form.is_valid()


def _saved(form: forms.Form, save: Callable[[], object]) -> bool:
    """Save a form; add the problems to the form if it is refused."""
    try:
        save()
    except CampaignProblem as error:
        put(form, error)
        return False
    return True


def _back(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    messages.success(request, "Saved.")
    target = redirect("campaign_setup", campaign.study.slug, campaign.pk)
    return HttpResponseClientRedirect(target.url) if request.htmx else target  # type: ignore[attr-defined]


def _text(request: HttpRequest, campaign: Campaign, form: forms.Form, context: dict[str, Any]) -> HttpResponse:
    is_wrong = form.is_bound and "preview" not in request.POST and bool(form.errors)
    common = {
        "campaign": campaign,
        "form": form,
        "preview": form["text"].value(),
        "shows_errors": is_wrong,
        "is_draft": campaign.state == CampaignState.DRAFT,
        "section": SECTION,
    }
    return render(request, "annotation/campaigns/text.html", common | context, status=422 if is_wrong else 200)


def _responses(item: Item) -> list[Response]:
    if item.pair is not None:
        return [item.pair.a, item.pair.b]
    return [item.response] if item.response is not None else []
