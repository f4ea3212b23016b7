"""Training: a judge answers an item, is told what was expected and why, and goes on."""

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from crowdrag.studies.access import consented_page
from crowdrag.studies.models import Participant

from ..domain import reading
from ..domain.checks import training as learning
from ..domain.checks.problems import ChecksProblem, Unanswered
from ..forms.training import values
from ..models import Campaign, TrainingItem


@consented_page("judging-{campaign}")
@never_cache
def training(request: HttpRequest, participant: Participant, campaign: int) -> HttpResponse:
    """Show the next training item, or what was expected of the one that was answered; POST answers one."""
    found = get_object_or_404(Campaign.objects.filter(study=participant.study, has_places=True), pk=campaign)
    if request.method == "POST":
        return _answered(request, participant, found)
    seen = request.GET.get("item", "")
    if seen.isascii() and seen.isdigit() and len(seen) < 19:
        taught = get_object_or_404(_items(found), pk=int(seen))
        if learning.feedback(training_item=taught, participant=participant):
            return _page(request, participant, found, taught)
    following = learning.next_item(campaign=found, participant=participant)
    if following is None:
        messages.info(request, _("You are through with the examples. The questionnaire comes next."))
        return redirect("judging_start", participant.study.slug, campaign)
    return _page(request, participant, found, get_object_or_404(_items(found), pk=following.pk))


def _answered(request: HttpRequest, participant: Participant, found: Campaign) -> HttpResponse:
    sent = request.POST.get("item", "")
    if not (sent.isascii() and sent.isdigit() and len(sent) < 19):
        return redirect("judging_training", participant.study.slug, found.pk)
    taught = get_object_or_404(_items(found), pk=int(sent))
    given = values(learning.dimensions(found), request.POST.dict())
    try:
        learning.answer(training_item=taught, participant=participant, values=given, now=timezone.now())
    except ChecksProblem as problem:
        missing = problem.dimensions if isinstance(problem, Unanswered) else []
        return _page(request, participant, found, taught, given=given, problem=str(problem), missing=missing)
    address = redirect("judging_training", participant.study.slug, found.pk)
    address["Location"] += f"?item={taught.pk}"
    return address


def _page(
    request: HttpRequest,
    participant: Participant,
    campaign: Campaign,
    taught: TrainingItem,
    *,
    given: dict[int, int] | None = None,
    problem: str = "",
    missing: list[int] | None = None,
) -> HttpResponse:
    feedback = learning.feedback(training_item=taught, participant=participant)
    standing = learning.standing(campaign=campaign, participant=participant)
    asked = reading.questions(campaign)
    context = {
        "taking_part": participant.study,
        "participant": participant,
        "campaign": campaign,
        "training_item": taught,
        "shown": reading.shown(taught.item),
        "questions": [(each, (given or {}).get(each.pk), each.pk in (missing or ())) for each in asked],
        "feedback": feedback,
        "right": sum(each.is_right for each in feedback),
        "known": sum(each.is_known for each in feedback),
        "standing": standing,
        "problem": problem,
    }
    return render(request, "annotation/judging/training.html", context, status=422 if problem else 200)


def _items(campaign: Campaign) -> QuerySet[TrainingItem]:
    along = [f"item__{name}" for name in reading.TEXTS]
    return TrainingItem.objects.filter(campaign=campaign).select_related("campaign", *along)
