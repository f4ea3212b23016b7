"""What the page of a questionnaire sends while it is open: JSON, for the judge whose session it is.

An answer is acknowledged after its transaction has committed, never before: the page may forget then that it sent it.

These come every few seconds from everybody who judges, so they ask the database for no more than they must: whoever
holds a questionnaire came by a link for it and agreed when they claimed it, and has not left since.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST

from crowdrag.studies.access import participant_page
from crowdrag.studies.models import Participant

from ..domain import assignments
from ..domain.assignments import problems
from ..enums import AssignmentState
from ..forms import judging as forms
from ..models import Assignment, CheckAnswer, Judgment
from .judging import own, show

BAD, FORBIDDEN, CONFLICT, INCOMPLETE, BUSY = 400, 403, 409, 422, 503


def _stores(store: Callable[[HttpRequest, Assignment], dict[str, Any]]) -> Callable[..., HttpResponseBase]:
    """Make a page of what stores something about a judge's own questionnaire and returns what is said of it."""

    @participant_page
    @require_POST
    @wraps(store)
    def page(request: HttpRequest, participant: Participant, campaign: int, assignment: str) -> HttpResponse:
        held = _theirs(participant, campaign, assignment)
        return _respond(lambda: store(request, held), held)

    return page


@_stores
def answer(request: HttpRequest, held: Assignment) -> dict[str, Any]:
    """Store one answer, and say so."""
    sent = forms.answer(request)
    stored = assignments.answer(
        assignment=held,
        item=sent.item,
        dimension=sent.dimension,
        value=sent.value,
        justification=sent.justification,
        revision=sent.revision,
        now=timezone.now(),
    )
    return _saved(stored)


@_stores
def check(request: HttpRequest, held: Assignment) -> dict[str, Any]:
    """Store the answer to an attention check, and say so."""
    sent = forms.check(request)
    stored = assignments.check(
        assignment=held, check=sent.check, value=sent.value, revision=sent.revision, now=timezone.now()
    )
    return _saved(stored)


@_stores
def time(request: HttpRequest, held: Assignment) -> dict[str, Any]:
    """Store how long each item was looked at so far in one visit."""
    sent = forms.times(request)
    now = assignments.time(assignment=held, visit=sent.visit, times=sent.times, now=timezone.now())
    return {"lease_until": now.lease_until, "late": now.state != AssignmentState.ASSIGNED}


@participant_page
@require_POST
def submit(request: HttpRequest, participant: Participant, campaign: int, assignment: str) -> HttpResponse:
    """Hand a questionnaire in, if it is complete; a form is answered with pages, JSON with JSON."""
    held = own(participant, campaign, assignment)

    def hand_in() -> dict[str, Any]:
        assignments.submit(assignment=held, comment=forms.comment(request), now=timezone.now())
        return {"next": _address("judging_done", held)}

    if request.content_type == "application/json":
        return _respond(hand_in, held)
    try:
        return HttpResponse(status=302, headers={"Location": hand_in()["next"]})
    except problems.Incomplete as problem:
        return show(request, held, missing=problem.missing, comment=forms.comment(request))
    except problems.AssignmentProblem:
        return HttpResponse(status=302, headers={"Location": _address("judging_questionnaire", held)})


def _theirs(participant: Participant, campaign: int, external_id: str) -> Assignment:
    """As `own`, without what only pages show."""
    held = assignments.theirs(participant=participant, campaign=campaign, external_id=external_id)
    if held is None:
        raise Http404
    return held


def _saved(stored: Judgment | CheckAnswer) -> dict[str, Any]:
    held = stored.assignment
    said = {
        "saved": True,
        "revision": stored.revision,
        "lease_until": held.lease_until,
        "left": assignments.left(held),
    }
    return said | ({"late": True} if held.state != AssignmentState.ASSIGNED else {})


def _respond(act: Callable[[], dict[str, Any]], held: Assignment) -> JsonResponse:
    """Return an answer as JSON; what was refused with what to do, a database that is away as something to try again."""
    if held.participant.withdrawn_at:
        return _left(held)
    try:
        return JsonResponse(act())
    except problems.OtherAnswer as problem:
        current = problem.current
        facts = {
            "problem": "other",
            "value": current.value,
            "justification": getattr(current, "justification", ""),
            "revision": current.revision,
        }
        return JsonResponse(facts, status=CONFLICT)
    except problems.Incomplete as problem:
        return JsonResponse({"problem": "incomplete", "missing": problem.missing}, status=INCOMPLETE)
    except problems.LeftStudy:
        return _left(held)
    except (problems.BadAnswer, forms.BadBodyError) as problem:
        return JsonResponse({"problem": "bad", "message": str(problem)}, status=BAD)
    except problems.AssignmentProblem:
        return JsonResponse({"problem": "closed", "next": _address("judging_questionnaire", held)}, status=CONFLICT)
    except (OperationalError, InterfaceError):
        return JsonResponse({"problem": "busy"}, status=BUSY, headers={"Retry-After": "1"})


def _left(held: Assignment) -> JsonResponse:
    own_page = reverse("work", args=[held.questionnaire.campaign.study.slug])
    return JsonResponse({"problem": "withdrawn", "next": own_page}, status=FORBIDDEN)


def _address(name: str, held: Assignment) -> str:
    campaign = held.questionnaire.campaign
    return reverse(name, args=[campaign.study.slug, campaign.pk, held.external_id])
