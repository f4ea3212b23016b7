"""A judge's pages: what comes next, the questionnaire, what became of it."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.gzip import gzip_page

from crowdrag.studies.access import consented_page, participant_page
from crowdrag.studies.entry import links
from crowdrag.studies.models import Participant
from writing.forms.survey import ReturnForm

from ..domain import assignments, listing, offering, reading
from ..domain.assignments import problems
from ..enums import AssignmentState
from ..models import Assignment, Campaign
from . import judging_wording

S = AssignmentState
# A campaign's way, by what the address says.
judging_page = consented_page("judging-{campaign}")


@judging_page
@never_cache
def start(request: HttpRequest, participant: Participant, campaign: int) -> HttpResponse:
    """Show what comes next; POST gives a questionnaire, or the one in hand again."""
    found = _campaign(participant, campaign)
    if request.method == "POST":
        return _claim(request, found, participant)
    overview = listing.overview(found, participant)
    context = {
        "offer": offering.offer(found),
        "overview": overview,
        "size": reading.size(found),
        "hourly": offering.hourly(found),
        "has_checks": offering.has_checks(found),
        "least_minutes": offering.least_minutes(found),
    }
    return _page(request, participant, found, "start", context)


@gzip_page  # nothing that the request says is in the answer, its token is masked anew each time: no use to BREACH
@judging_page
@never_cache
def questionnaire(request: HttpRequest, participant: Participant, campaign: int, assignment: str) -> HttpResponse:
    """Show a questionnaire to be answered, or lead to what became of it; POST takes up what went back."""
    found = own(participant, campaign, assignment)
    if request.method == "POST":
        return _resume(request, found)
    if found.state in listing.DONE:
        return _to("judging_done", found)
    if found.state == S.WITHDRAWN:
        return redirect("work", participant.study.slug)
    if found.state == S.RETURNED and "late" not in request.GET:
        context = {"assignment": found, "row": listing.row(found)}
        return _page(request, participant, found.questionnaire.campaign, "returned", context)
    return show(request, found)


@participant_page
@never_cache
def done(request: HttpRequest, participant: Participant, campaign: int, assignment: str) -> HttpResponse:
    """Say that all is there, what happens next, and when it is paid."""
    found = own(participant, campaign, assignment)
    if found.state not in listing.DONE:
        return _to("judging_questionnaire", found)
    place = found.questionnaire.campaign
    context = {
        "assignment": found,
        "row": listing.row(found),
        "overview": listing.overview(place, participant),
        "payer": links.paying_platform(participant),
    }
    return _page(request, participant, place, "done", context)


@participant_page
@never_cache
def give_back(request: HttpRequest, participant: Participant, campaign: int, assignment: str) -> HttpResponse:
    """Ask whether the questionnaire should go to somebody else; POST gives it back, with or without a reason."""
    found = own(participant, campaign, assignment)
    if request.method != "POST" and found.state not in {S.ASSIGNED, S.TIMED_OUT}:
        return _to("judging_questionnaire", found)
    form = ReturnForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            assignments.give_back(assignment=found, reason=form.cleaned_data["reason"], now=timezone.now())
        except problems.AssignmentProblem as problem:
            messages.warning(request, str(problem))
            return _to("judging_questionnaire", found)
        messages.success(request, _("You gave the questionnaire back. Your answers are kept."))
        return redirect("judging_start", participant.study.slug, campaign)
    context = {"assignment": found, "form": form}
    return _page(request, participant, found.questionnaire.campaign, "return", context)


def own(participant: Participant, campaign: int, external_id: str) -> Assignment:
    """Return somebody's assignment, by what the address says; nobody else's is found."""
    mine = Assignment.objects.filter(
        participant=participant, questionnaire__campaign=campaign, questionnaire__campaign__has_places=True
    )
    along = ("questionnaire__campaign__study", "participant")
    return get_object_or_404(mine.select_related(*along), external_id=external_id)


def show(
    request: HttpRequest, assignment: Assignment, *, missing: list[Any] | None = None, comment: str = ""
) -> HttpResponse:
    """Return the page of a questionnaire; with `missing` it says first what is still open."""
    page = reading.page(assignment)
    context = {
        "page": page,
        "project": page.campaign.study,
        "participant": assignment.participant,
        "study": None,
        "is_late": assignment.state != S.ASSIGNED,
        "refused": missing is not None,
        "comment": comment or assignment.comment,
        "title": offering.title(page.campaign),
        "wording": judging_wording.questionnaire(),
    }
    status = 200 if missing is None else 422
    return render(request, "annotation/judging/questionnaire.html", context, status=status)


def _claim(request: HttpRequest, campaign: Campaign, participant: Participant) -> HttpResponse:
    if not listing.is_trained(campaign, participant):
        return redirect("judging_training", participant.study.slug, campaign.pk)
    visit = listing.session(campaign, participant)
    try:
        held = assignments.claim(campaign=campaign, participant=participant, session=visit, now=timezone.now())
    except problems.TooLate as problem:
        messages.warning(request, str(problem))
        return _to("judging_questionnaire", problem.assignment)
    except problems.AssignmentProblem as problem:
        messages.warning(request, str(problem))
        return redirect("judging_start", participant.study.slug, campaign.pk)
    return _to("judging_questionnaire", held)


def _resume(request: HttpRequest, assignment: Assignment) -> HttpResponse:
    late = ""
    try:
        assignments.resume(assignment=assignment, now=timezone.now())
    except problems.TooLate as problem:
        messages.warning(request, str(problem))
        late = "?late=1"
    except problems.AssignmentProblem as problem:
        messages.warning(request, str(problem))
    response = _to("judging_questionnaire", assignment)
    response["Location"] += late
    return response


def _campaign(participant: Participant, pk: int) -> Campaign:
    theirs = Campaign.objects.filter(study=participant.study, has_places=True)
    return get_object_or_404(theirs.select_related("study", "instructions", "consent_text"), pk=pk)


def _to(name: str, assignment: Assignment) -> HttpResponseRedirect:
    campaign = assignment.questionnaire.campaign
    return redirect(name, campaign.study.slug, campaign.pk, assignment.external_id)


def _page(
    request: HttpRequest, participant: Participant, campaign: Campaign, name: str, context: dict[str, Any]
) -> HttpResponse:
    common = {
        "participant": participant,
        "taking_part": participant.study,
        "campaign": campaign,
        "title": offering.title(campaign),
    }
    return render(request, f"annotation/judging/{name}.html", common | context)
