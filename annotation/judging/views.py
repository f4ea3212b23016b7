"""A judge's pages: start, questionnaire with its requests, outcome."""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from django.contrib import messages
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_POST

from crowdrag.assignments.problems import LeftStudy, WorkProblem
from crowdrag.studies.access import AtOnce, Row, consented_page, own_row_page, participant_page
from crowdrag.studies.entry import links
from crowdrag.studies.models import Participant
from writing.assignments.forms import ReturnForm

from ..enums import AssignmentState
from ..models import Assignment, Campaign, CheckAnswer, ItemConfidence, Judgment
from . import (
    activity,
    answers,
    cited_passages,
    claims,
    forms,
    leases,
    problem_reports,
    problems,
    queries,
    questionnaire_content,
    script_messages,
    submission,
)

S = AssignmentState
# The decorator of a campaign's pages: the campaign in the URL names the activity.
judging_page = consented_page("judging-{campaign_id}")


@judging_page
@never_cache
def start(request: HttpRequest, participant: Participant, campaign_id: int) -> HttpResponse:
    """Show what comes next; POST assigns a questionnaire or returns to the current one."""
    campaign_there = _campaign(participant, campaign_id)
    if request.method == "POST":
        return _claim(request, campaign_there, participant)
    overview = queries.judge_overview(campaign_there, participant)
    context = {
        "offer": activity.offer(campaign_there),
        "overview": overview,
        "size": activity.questionnaire_size(campaign_there),
        "hourly": activity.hourly_pay(campaign_there),
        "has_checks": activity.has_checks(campaign_there),
        "instructions": activity.instruction_sections(campaign_there.instructions.text)
        if campaign_there.instructions
        else None,
        "least_minutes": activity.least_minutes(campaign_there),
    }
    return _page(request, participant, campaign_there, "start", context)


@gzip_page  # safe from BREACH: the response repeats no request data, and its CSRF token is masked anew each time
@judging_page
@never_cache
def questionnaire(request: HttpRequest, participant: Participant, campaign_id: int, assignment_id: str) -> HttpResponse:
    """Show a questionnaire to answer, or redirect to its outcome; POST resumes one that was returned or timed out."""
    assignment = own(participant, campaign_id, assignment_id)
    if request.method == "POST":
        return _resume(request, assignment)
    if assignment.state in queries.DONE:
        return _to("judging_done", assignment)
    if assignment.state == S.WITHDRAWN:
        return redirect("participant_dashboard", participant.study.slug)
    if assignment.state == S.RETURNED and "late" not in request.GET:
        context = {"assignment": assignment, "row": queries.questionnaire_row(assignment)}
        return _page(request, participant, assignment.questionnaire.campaign, "returned", context)
    return show(request, assignment)


@participant_page
@never_cache
def done(request: HttpRequest, participant: Participant, campaign_id: int, assignment_id: str) -> HttpResponse:
    """Confirm the submission, and say what happens next and when it is paid."""
    assignment = own(participant, campaign_id, assignment_id)
    if assignment.state not in queries.DONE:
        return _to("judging_questionnaire", assignment)
    campaign = assignment.questionnaire.campaign
    context = {
        "assignment": assignment,
        "row": queries.questionnaire_row(assignment),
        "overview": queries.judge_overview(campaign, participant),
        "payer": links.paying_platform(participant),
    }
    return _page(request, participant, campaign, "done", context)


@participant_page
@never_cache
def give_back(request: HttpRequest, participant: Participant, campaign_id: int, assignment_id: str) -> HttpResponse:
    """Ask whether to return the questionnaire; POST returns it, with an optional reason."""
    assignment = own(participant, campaign_id, assignment_id)
    if request.method != "POST" and assignment.state not in {S.ASSIGNED, S.TIMED_OUT}:
        return _to("judging_questionnaire", assignment)
    form = ReturnForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            leases.give_back(assignment=assignment, reason=form.cleaned_data["reason"], now=timezone.now())
        except WorkProblem as problem:
            messages.warning(request, str(problem))
            return _to("judging_questionnaire", assignment)
        messages.success(request, _("You returned the questionnaire. Your answers are kept but not counted."))
        return redirect("judging_start", participant.study.slug, campaign_id)
    context = {"assignment": assignment, "form": form}
    return _page(request, participant, assignment.questionnaire.campaign, "return", context)


def own(participant: Participant, campaign_id: int, external_id: str) -> Assignment:
    """Return the participant's assignment in the URL; 404 if it is another participant's."""
    assignments = Assignment.objects.filter(
        participant=participant, questionnaire__campaign=campaign_id, questionnaire__campaign__has_slots=True
    )
    along = ("questionnaire__campaign__study", "questionnaire__campaign__instructions", "participant")
    return get_object_or_404(assignments.select_related(*along), external_id=external_id)


def show(
    request: HttpRequest, assignment: Assignment, *, missing: list[Any] | None = None, comment: str = ""
) -> HttpResponse:
    """Return the page of a questionnaire; with `missing` it first lists the open questions."""
    page = questionnaire_content.load_page(assignment)
    context = {
        "page": page,
        "project": page.campaign.study,
        "participant": assignment.participant,
        "study": None,
        "is_late": assignment.state != S.ASSIGNED,
        "refused": missing is not None,
        "comment": comment or assignment.comment,
        "title": activity.title(page.campaign),
        "wording": script_messages.questionnaire(page.item_type.texts),
    }
    status = 200 if missing is None else 422
    return render(request, "annotation/judging/questionnaire.html", context, status=status)


def _claim(request: HttpRequest, campaign: Campaign, participant: Participant) -> HttpResponse:
    if not queries.is_trained(campaign, participant):
        return redirect("judging_training", participant.study.slug, campaign.pk)
    visit = queries.platform_session(campaign, participant)
    try:
        held = claims.claim(campaign=campaign, participant=participant, session=visit, now=timezone.now())
    except problems.TooLate as problem:
        messages.warning(request, str(problem))
        return _to("judging_questionnaire", problem.assignment)
    except WorkProblem as problem:
        messages.warning(request, str(problem))
        return redirect("judging_start", participant.study.slug, campaign.pk)
    return _to("judging_questionnaire", held)


def _resume(request: HttpRequest, assignment: Assignment) -> HttpResponse:
    late = ""
    try:
        claims.resume(assignment=assignment, now=timezone.now())
    except problems.TooLate as problem:
        messages.warning(request, str(problem))
        late = "?late=1"
    except WorkProblem as problem:
        messages.warning(request, str(problem))
    response = _to("judging_questionnaire", assignment)
    response["Location"] += late
    return response


def _campaign(participant: Participant, pk: int) -> Campaign:
    theirs = Campaign.objects.filter(study=participant.study, has_slots=True)
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
        "title": activity.title(campaign),
    }
    return render(request, f"annotation/judging/{name}.html", common | context)


@participant_page
@never_cache
def passages(
    request: HttpRequest, participant: Participant, campaign_id: int, assignment_id: str, item: int
) -> JsonResponse:
    """Return the passages that an item's responses cite, if the campaign shows them to judges."""
    texts = cited_passages.load(own(participant, campaign_id, assignment_id), item)
    if texts is None:
        raise Http404
    return JsonResponse({"passages": texts})


BAD, FORBIDDEN, CONFLICT, INCOMPLETE, BUSY = 400, 403, 409, 422, 503


def _stores(
    store: Callable[[HttpRequest, Assignment], dict[str, Any]], at_once: AtOnce | None = None
) -> Callable[..., HttpResponseBase]:
    """Turn a function that stores something and returns its result into a view of the judge's own questionnaire."""

    @own_row_page(leases.OWN_ASSIGNMENT, at_once)
    @require_POST
    @wraps(store)
    def page(request: HttpRequest, participant: Participant, row: Row) -> HttpResponse:
        held = leases.read_assignment(participant, row)
        return _respond(lambda: store(request, held), held)

    return page


def _answer_at_once(request: HttpRequest, visitor: dict[str, Any]) -> HttpResponse | None:
    """Store an answer in one statement. In all other cases, `answer` does it again or tells what is wrong."""
    try:
        sent = forms.answer(request)
        held = answers.answer_at_once(
            visitor=visitor,
            item=sent.item,
            dimension=sent.dimension,
            value=sent.value,
            justification=sent.justification,
            revision=sent.revision,
        )
        # What is wrong with times is told in the study's language, which is not known here.
        if held is None or _store_times_along(request, held, sent):
            return None
        return JsonResponse(_acknowledgement(held, sent.revision))
    except (forms.BadBodyError, OperationalError, InterfaceError):
        return None


@partial(_stores, at_once=_answer_at_once)
def answer(request: HttpRequest, held: Assignment) -> dict[str, Any]:
    """Store an answer."""
    sent = forms.answer(request)
    stored = answers.answer(
        assignment=held,
        item=sent.item,
        dimension=sent.dimension,
        value=sent.value,
        justification=sent.justification,
        revision=sent.revision,
        now=timezone.now(),
    )
    return _saved(stored) | _store_times_along(request, held, sent)


def _store_times_along(request: HttpRequest, held: Assignment, sent: forms.AnswerData) -> dict[str, Any]:
    """Store viewing times that came with an answer. Times that cannot be stored do not undo the answer: say so."""
    if not sent.has_times:
        return {}
    try:
        along = forms.times(request)
        answers.record_times(assignment=held, visit=along.visit, times=along.times, now=timezone.now())
    except (problems.BadAnswer, forms.BadBodyError) as problem:
        return {"times": {"problem": "bad", "message": str(problem)}}
    except WorkProblem:
        return {"times": {"problem": "closed"}}
    return {}


@_stores
def check(request: HttpRequest, held: Assignment) -> dict[str, Any]:
    """Store the answer to an attention check."""
    sent = forms.check(request)
    stored = answers.answer_check(
        assignment=held, check=sent.check, value=sent.value, revision=sent.revision, now=timezone.now()
    )
    return _saved(stored)


@_stores
def confidence(request: HttpRequest, held: Assignment) -> dict[str, Any]:
    """Store whether the participant is unsure about an item."""
    sent = forms.confidence(request)
    stored = answers.state_confidence(
        assignment=held, item=sent.item, is_unsure=sent.is_unsure, revision=sent.revision, now=timezone.now()
    )
    return _saved(stored)


@_stores
def problem(request: HttpRequest, held: Assignment) -> dict[str, Any]:
    """Send a problem with an item to the researchers."""
    sent = forms.problem(request)
    problem_reports.report(assignment=held, item=sent.item, text=sent.text, now=timezone.now())
    return {"sent": True}


def _time_at_once(request: HttpRequest, visitor: dict[str, Any]) -> HttpResponse | None:
    """Store viewing times as `_answer_at_once` stores an answer."""
    try:
        sent = forms.times(request)
        held = answers.record_times_at_once(visitor=visitor, visit=sent.visit, times=sent.times)
    except (forms.BadBodyError, OperationalError, InterfaceError):
        return None
    return None if held is None else JsonResponse(_lease(held))


@partial(_stores, at_once=_time_at_once)
def time(request: HttpRequest, held: Assignment) -> dict[str, Any]:
    """Store the viewing times of items so far in one visit."""
    sent = forms.times(request)
    return _lease(answers.record_times(assignment=held, visit=sent.visit, times=sent.times, now=timezone.now()))


@participant_page
@require_POST
def submit(request: HttpRequest, participant: Participant, campaign_id: int, assignment_id: str) -> HttpResponse:
    """Submit a complete questionnaire. Forms get pages as response, JSON gets JSON."""
    held = own(participant, campaign_id, assignment_id)

    def hand_in() -> dict[str, Any]:
        submission.submit(assignment=held, comment=forms.comment(request), now=timezone.now())
        return {"next": _address("judging_done", held)}

    if request.content_type == "application/json":
        return _respond(hand_in, held)
    try:
        return HttpResponse(status=302, headers={"Location": hand_in()["next"]})
    except problems.Incomplete as problem:
        return show(request, held, missing=problem.missing, comment=forms.comment(request))
    except WorkProblem:
        return HttpResponse(status=302, headers={"Location": _address("judging_questionnaire", held)})


def _lease(held: Assignment) -> dict[str, Any]:
    return {"lease_until": held.lease_until, "late": held.state != AssignmentState.ASSIGNED}


def _saved(stored: Judgment | CheckAnswer | ItemConfidence) -> dict[str, Any]:
    return _acknowledgement(stored.assignment, stored.revision)


def _acknowledgement(held: Assignment, revision: int) -> dict[str, Any]:
    content = {"saved": True, "revision": revision, "lease_until": held.lease_until}
    return content | ({"late": True} if held.state != AssignmentState.ASSIGNED else {})


def _respond(act: Callable[[], dict[str, Any]], held: Assignment) -> JsonResponse:
    """Return a result as JSON; refusals say what to do, and an unavailable database says to try again."""
    if held.participant.withdrawn_at:
        return _left(held)
    try:
        return JsonResponse(act())
    except problems.OtherAnswer as problem:
        current = problem.current
        facts = {
            "problem": "other",
            "value": int(current.is_unsure) if isinstance(current, ItemConfidence) else current.value,
            "justification": getattr(current, "justification", ""),
            "revision": current.revision,
        }
        return JsonResponse(facts, status=CONFLICT)
    except problems.Incomplete as problem:
        return JsonResponse({"problem": "incomplete", "missing": problem.missing}, status=INCOMPLETE)
    except LeftStudy:
        return _left(held)
    except (problems.BadAnswer, forms.BadBodyError) as problem:
        return JsonResponse({"problem": "bad", "message": str(problem)}, status=BAD)
    except WorkProblem:
        return JsonResponse({"problem": "closed", "next": _address("judging_questionnaire", held)}, status=CONFLICT)
    except (OperationalError, InterfaceError):
        return JsonResponse({"problem": "busy"}, status=BUSY, headers={"Retry-After": "1"})


def _left(held: Assignment) -> JsonResponse:
    own_page = reverse("participant_dashboard", args=[held.questionnaire.campaign.study.slug])
    return JsonResponse({"problem": "withdrawn", "next": own_page}, status=FORBIDDEN)


def _address(name: str, held: Assignment) -> str:
    campaign = held.questionnaire.campaign
    return reverse(name, args=[campaign.study.slug, campaign.pk, held.external_id])
