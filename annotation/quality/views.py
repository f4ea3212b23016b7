"""Pages of checks, known labels and training for researchers, and of training for judges."""

from typing import Any, Final

from django import forms
from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from crowdrag.studies.access import audited, consented_page, study_page
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Participant, Study

from ..campaign_types import shown_items
from ..campaign_types.registry import item_type
from ..campaign_types.shown_items import SIDES, ShownItem, Side
from ..enums import CampaignState, Judges
from ..judging import activity, questionnaire_content
from ..models import Campaign, Item, TrainingItem
from . import attention_checks, known_labels, practice, training
from .forms import AttentionForm, LabelsForm, PairForm, ResponseForm, StatementForm, values
from .known_labels import LabelWithReason
from .problems import ChecksProblem, Unanswered
from .training import Feedback

POOLS = {"experts": Judges.EXPERT, "crowd": Judges.CROWD}
# The form that names an item, by the number of responses that it shows.
_FORMS: Final[dict[int, type[forms.Form]]] = {2: PairForm, 1: ResponseForm, 0: StatementForm}


@study_page(Role.EDITOR)
def checks(request: HttpRequest, study: Study, campaign_id: int) -> HttpResponse:
    """Show checks, gold and training items; POST changes the texts of checks and the numbers per questionnaire."""
    campaign = _campaign(study, campaign_id)
    form = AttentionForm(request.POST or None, initial=_initial(campaign))
    if request.method == "POST" and form.is_valid():
        fields = form.cleaned_data
        lines = {name: fields[name].splitlines() for name in ("instructed", "nonsense")}
        try:
            attention_checks.change_checks(campaign=campaign, **lines, checks=fields["checks"], gold=fields["gold"])
        except ChecksProblem as problem:
            form.add_error(None, str(problem))
        else:
            messages.success(request, "Saved. Questionnaires are drawn again with these settings.")
            return redirect("campaign_checks", study.slug, campaign_id)
    return _show(request, campaign, form, status=422 if request.method == "POST" else 200)


@study_page(Role.EDITOR)
@require_POST
def add(request: HttpRequest, study: Study, campaign_id: int) -> HttpResponse:
    """Add an item with known labels: from a proposed pair, or from responses (two, or one in pointwise campaigns)."""
    campaign = _campaign(study, campaign_id)
    try:
        item = _proposed(campaign, request.POST) or _item_of_responses(request, campaign)
    except ChecksProblem as problem:
        messages.error(request, str(problem))
        item = None
    if item is None:
        return redirect("campaign_checks", study.slug, campaign_id)
    return redirect("campaign_checks_item", study.slug, campaign_id, item.pk)


@study_page(Role.EDITOR)
@audited(AuditedContent.RESPONSE)
def item_page(request: HttpRequest, study: Study, campaign_id: int, item_id: int) -> HttpResponse:
    """Show an item with its known labels; POST changes the labels and the use of the item."""
    item = get_object_or_404(
        Item.objects.select_related("campaign__study", *shown_items.TEXTS),
        pk=item_id,
        campaign=campaign_id,
        campaign__study=study,
    )
    known = {each.dimension_id: LabelWithReason(each.value, each.explanation) for each in item.known_labels.all()}
    form = LabelsForm(training.dimensions(item.campaign), known, request.POST or None)
    if request.method == "POST":
        try:
            done = _change(request, item, form)
        except ChecksProblem as problem:
            form.add_error(None, str(problem))
            done = False
        if done:
            return redirect("campaign_checks", study.slug, campaign_id)
    context = {
        "campaign": item.campaign,
        "item": item,
        "shown": shown_items.show_item(item),
        "form": form,
        "is_training": item.training.exists(),
        "is_draft": item.campaign.state == CampaignState.DRAFT,
        "section": "judging",
    }
    return render(request, "annotation/quality/item.html", context, status=422 if form.errors else 200)


def _change(request: HttpRequest, item: Item, form: LabelsForm) -> bool:
    do = request.POST.get("do", "gold")
    if do == "remove":
        known_labels.remove(item=item)
        messages.success(request, "Removed.")
        return True
    if not form.is_valid():
        return False
    known_labels.set_known_item(item=item, labels=form.known(), teaches=do == "training")
    if do == "training":
        messages.success(request, "Saved. New judges see this item before their first questionnaire.")
    else:
        messages.success(request, "Saved. Questionnaires are drawn with this item.")
    return True


def _show(request: HttpRequest, campaign: Campaign, form: AttentionForm, *, status: int) -> HttpResponse:
    items = list(known_labels.gold_items(campaign).prefetch_related("known_labels"))
    per_questionnaire = int(campaign.design.get("gold", 0) or 0)
    checks_asked = int(campaign.design.get("checks", 0) or 0)
    taught = TrainingItem.objects.filter(campaign=campaign).select_related(
        "item__topic", "item__pair__a", "item__pair__b"
    )
    needed = attention_checks.fails_needed(campaign)
    context = {
        "campaign": campaign,
        "form": form,
        "gold": items,
        "training": taught.order_by("position"),
        "apart": known_labels.questionnaires_between_repeats(len(items), per_questionnaire),
        "per_questionnaire": per_questionnaire,
        "told": attention_checks.notice(campaign, checks_asked),
        "needed": needed,
        "too_few": 0 < checks_asked < needed,
        "proposals": [(name, known_labels.proposals(campaign, pool, listed=12)) for name, pool in POOLS.items()]
        if campaign.state == CampaignState.DRAFT
        else [],
        "own": _FORMS[item_type(campaign).responses](),
        "is_draft": campaign.state == CampaignState.DRAFT,
        "now": timezone.now(),
        "section": "judging",
    }
    return render(request, "annotation/quality/checks.html", context, status=status)


def _initial(campaign: Campaign) -> dict[str, Any]:
    texts = attention_checks.texts_of(campaign)
    return {
        "checks": campaign.design.get("checks", 0),
        "gold": campaign.design.get("gold", 0),
        "instructed": "\n".join(texts.instructed),
        "nonsense": "\n".join(texts.nonsense),
    }


def _proposed(campaign: Campaign, data: Any) -> Item | None:
    """Return the item of a proposed pair, with its agreed labels; None if no pair was chosen."""
    pool = POOLS.get(data.get("pool", ""))
    if pool is None:
        return None
    key = data.get("pair", "")
    for each in known_labels.proposals(campaign, pool):
        if str(each.pair.pk) == key:
            item = known_labels.add_pair(campaign=campaign, left=each.pair.a, right=each.pair.b)
            known_labels.set_labels(
                item=item, known={name: LabelWithReason(value) for name, value in each.labels.items()}
            )
            return item
    raise Http404("This pair is not among those that were agreed on.")


def _item_of_responses(request: HttpRequest, campaign: Campaign) -> Item | None:
    """Return the item of the entered responses; None, with a message, if there are none."""
    form = _FORMS[item_type(campaign).responses](request.POST)
    if not form.is_valid():
        messages.error(request, "Enter the IDs of the responses.")
        return None
    entered = form.cleaned_data
    responses = [entered[name].strip() for name in ("left", "right", "response") if name in entered]
    return known_labels.add_known_item(
        campaign=campaign, responses=responses, statement=entered.get("statement"), passage=entered.get("passage", "")
    )


def _campaign(study: Study, campaign_id: int) -> Campaign:
    """Return a campaign of people: a draft without slots, or one that was opened here."""
    of_people = Campaign.objects.filter(study=study).exclude(judges=Judges.MODEL)
    campaigns = of_people.filter(Q(state=CampaignState.DRAFT) | Q(has_slots=True))
    return get_object_or_404(campaigns.select_related("study"), pk=campaign_id)


@consented_page("judging-{campaign_id}")
@never_cache
def train(request: HttpRequest, participant: Participant, campaign_id: int) -> HttpResponse:
    """Show the next training item, or the feedback on the answered one; POST stores the answers."""
    campaign_there = get_object_or_404(Campaign.objects.filter(study=participant.study, has_slots=True), pk=campaign_id)
    if practice.applies(campaign_there):
        return _practise(request, participant, campaign_there)
    if request.method == "POST":
        return _answered(request, participant, campaign_there)
    seen = request.GET.get("item", "")
    if seen.isascii() and seen.isdigit() and len(seen) < 19:
        taught = get_object_or_404(_items(campaign_there), pk=int(seen))
        if training.feedback(training_item=taught, participant=participant):
            return _page(request, participant, campaign_there, taught)
    following = training.next_item(campaign=campaign_there, participant=participant)
    if following is None:
        messages.info(request, _("You have finished the practice. The questionnaire comes next."))
        return redirect("judging_start", participant.study.slug, campaign_id)
    return _page(request, participant, campaign_there, get_object_or_404(_items(campaign_there), pk=following.pk))


def _answered(request: HttpRequest, participant: Participant, campaign: Campaign) -> HttpResponse:
    sent = request.POST.get("item", "")
    if not (sent.isascii() and sent.isdigit() and len(sent) < 19):
        return redirect("judging_training", participant.study.slug, campaign.pk)
    taught = get_object_or_404(_items(campaign), pk=int(sent))
    answers = values(training.dimensions(campaign), request.POST.dict())
    try:
        training.answer(training_item=taught, participant=participant, values=answers, now=timezone.now())
    except ChecksProblem as problem:
        missing = problem.dimensions if isinstance(problem, Unanswered) else []
        return _page(request, participant, campaign, taught, answers=answers, problem=str(problem), missing=missing)
    address = redirect("judging_training", participant.study.slug, campaign.pk)
    address["Location"] += f"?item={taught.pk}"
    return address


def _page(
    request: HttpRequest,
    participant: Participant,
    campaign: Campaign,
    taught: TrainingItem,
    *,
    answers: dict[int, int] | None = None,
    problem: str = "",
    missing: list[int] | None = None,
) -> HttpResponse:
    context = {
        "training_item": taught,
        "texts_language": participant.study.language,
        "shown": shown_items.show_item(taught.item),
        "standing": training.training_progress(campaign=campaign, participant=participant),
    }
    feedback = training.feedback(training_item=taught, participant=participant)
    return _example(request, participant, campaign, context, feedback, answers, problem, missing)


def _practise(request: HttpRequest, participant: Participant, campaign: Campaign) -> HttpResponse:
    """Show the practice pair, or the feedback on it; POST stores the answers."""
    answers: dict[int, int] = {}
    problem, missing = "", []
    if request.method == "POST":
        answers = values(training.dimensions(campaign), request.POST.dict())
        try:
            practice.answer(campaign=campaign, participant=participant, values=answers, now=timezone.now())
            return redirect("judging_training", participant.study.slug, campaign.pk)
        except ChecksProblem as error:
            problem, missing = str(error), error.dimensions if isinstance(error, Unanswered) else []
    feedback = practice.feedback(campaign=campaign, participant=participant)
    context = {
        "shown": _shown(practice.pair()),
        "standing": training.TrainingProgress(done=int(bool(feedback)), of=1),
        "is_practice": True,
    }
    return _example(request, participant, campaign, context, feedback, answers, problem, missing)


def _shown(pair: practice.PracticePair) -> ShownItem:
    sides = tuple(Side(name, text) for name, text in zip(SIDES, (pair.a, pair.b), strict=True))
    return ShownItem(item=0, query=pair.query, narrative="", sides=sides)


def _example(
    request: HttpRequest,
    participant: Participant,
    campaign: Campaign,
    context: dict[str, Any],
    feedback: list[Feedback],
    answers: dict[int, int] | None,
    problem: str,
    missing: list[int] | None,
) -> HttpResponse:
    questions = questionnaire_content.practice_questions(campaign, answers or {})
    common = {
        "taking_part": participant.study,
        "participant": participant,
        "campaign": campaign,
        "title": activity.title(campaign),
        "questions": questions,
        "missing": [each for each in questions if each.pk in (missing or ())],
        "feedback": feedback,
        "right": sum(each.is_right for each in feedback),
        "known": sum(each.is_known for each in feedback),
        "problem": problem,
    }
    return render(request, "annotation/judging/training.html", common | context, status=422 if problem else 200)


def _items(campaign: Campaign) -> QuerySet[TrainingItem]:
    along = [f"item__{name}" for name in shown_items.TEXTS]
    return TrainingItem.objects.filter(campaign=campaign).select_related("campaign", *along)
