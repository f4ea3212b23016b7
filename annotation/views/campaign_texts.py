"""What judges are told and asked in a campaign: instructions, consent, questions; and the items that experts get."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django_htmx.http import HttpResponseClientRedirect

from writing.forms.plan import LICENCES
from writing.models import Response

from ..domain import campaigns
from ..domain.campaigns import choosing, design, questions, texts
from ..enums import CampaignKind, CampaignState
from ..forms import questions as table
from ..forms.campaigns import ConsentForm, InstructionsForm
from ..models import Campaign, Item
from .campaign_drafts import SECTION, of_people, put

HARDEST = 50


@of_people()
def instructions(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Change what judges are told."""
    text = campaign.instructions.text if campaign.instructions else ""
    usual = {"text": campaigns.usual_instructions(campaign)}
    form = InstructionsForm(_sent(request), initial=usual if "usual" in request.GET else {"text": text})
    if _is_sent(request, form) and _saved(
        form, lambda: campaigns.change_instructions(campaign=campaign, now=timezone.now(), **form.cleaned_data)
    ):
        return _back(request, campaign)
    return _text(request, campaign, form, {"title": _("Instructions"), "held": campaign.instructions})


@of_people()
def consent(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Change what judges are asked to agree to."""
    held, names = campaign.consent_text, ("text", "text_licence", "timing_licence")
    initial = {name: getattr(held, name, "") for name in names}
    form = ConsentForm(_sent(request), initial=texts.consent(campaign.study) if "usual" in request.GET else initial)
    if _is_sent(request, form) and _saved(
        form, lambda: campaigns.change_consent(campaign=campaign, now=timezone.now(), **form.cleaned_data)
    ):
        return _back(request, campaign)
    return _text(request, campaign, form, {"title": _("Consent"), "held": held, "licences": LICENCES})


@of_people()
def asked(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Change the questions in a table; each that differs becomes a new version."""
    rows, focus, problems = table.rows_of(questions.of(campaign)), "", []
    is_draft = campaign.state == CampaignState.DRAFT
    if request.method == "POST" and is_draft:
        do = request.POST.get("do", "")
        rows = table.read(request.POST, request.POST.getlist("row"))
        if do == "usual":
            rows = table.rows_of(questions.usual(campaign, timezone.now()))
        rows, focus = table.changed(rows, do, pairwise=campaign.kind != CampaignKind.POINTWISE)
        wanted = table.asked(rows)
        problems = questions.problems_of(campaign, wanted) if do in {"save", "show"} else []
        if do == "save" and not problems:
            try:
                questions.change(campaign=campaign, asked=wanted, now=timezone.now())
            except campaigns.CampaignProblem as error:
                problems = [str(error)]
            else:
                return _back(request, campaign)
    context = {
        "campaign": campaign,
        "rows": rows,
        "focus": focus,
        "problems": problems,
        "asked": table.asked(rows),
        "is_draft": is_draft,
        "section": SECTION,
    }
    template = "annotation/campaigns/_questions.html" if request.htmx else "annotation/campaigns/questions.html"  # type: ignore[attr-defined]
    return render(request, template, context, status=422 if problems else 200)


@of_people()
def items(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Show the items of an expert campaign's source, the hardest first; POST picks and drops those of the page."""
    if campaign.source is None:
        raise Http404("Only campaigns that ask another one's items again pick them.")
    kept = design.read(campaign.design)
    page = Paginator(choosing.hard_first(campaign.source), HARDEST).get_page(request.GET.get("page"))
    if request.method == "POST":
        shown = {each.item for each in page}
        chosen = {int(pk) for pk in request.POST.getlist("item") if pk.isascii() and pk.isdigit()} & shown
        picked = tuple(sorted((set(kept.picked) - shown) | chosen))
        wanted = replace(kept, picked=picked, rule=design.PICKED if picked else design.LEAST)
        try:
            campaigns.change(campaign=campaign, terms=campaigns.terms_of(campaign), design=wanted, now=timezone.now())
        except campaigns.CampaignProblem as error:
            messages.error(request, str(error))
        else:
            said = ngettext("Saved. %(n)s item is picked.", "Saved. %(n)s items are picked.", len(picked))
            messages.success(request, said % {"n": len(picked)})
        return redirect(request.get_full_path())
    found = Item.objects.filter(pk__in=[each.item for each in page]).select_related(
        "topic", *Response.label_needs("response", "pair__a", "pair__b")
    )
    by_key = {item.pk: item for item in found}
    context = {
        "campaign": campaign,
        "page": page,
        "rows": [(each, by_key[each.item], _responses(by_key[each.item]), each.item in kept.picked) for each in page],
        "picked": len(kept.picked),
        "is_draft": campaign.state == CampaignState.DRAFT,
        "section": SECTION,
    }
    return render(request, "annotation/campaigns/items.html", context)


def _sent(request: HttpRequest) -> Any:
    return request.POST if request.method == "POST" else None


def _is_sent(request: HttpRequest, form: forms.Form) -> bool:
    """Say whether a form is to be saved: it was sent, not just to be looked at, and is in order."""
    return request.method == "POST" and "preview" not in request.POST and form.is_valid()


def _saved(form: forms.Form, save: Callable[[], object]) -> bool:
    """Save what a form says; put what is wrong into the form."""
    try:
        save()
    except campaigns.CampaignProblem as error:
        put(form, error)
        return False
    return True


def _back(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    messages.success(request, _("Saved."))
    target = redirect("campaign_edit", campaign.study.slug, campaign.pk)
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
