"""Pages of recruitment by Prolific: an activity's study there, its submissions and actions; its webhook."""

from typing import Any
from uuid import uuid4

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from crowdrag.studies import activities
from crowdrag.studies.access import audit_subject, audited, public, study_page
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Study

from . import overview, platform_actions, platform_studies, polling, webhooks
from .enums import ActionKind
from .forms import ApproveForm, BonusForm, DraftForm, PlacesForm, RejectForm, ScreenOutForm
from .models import PlatformAction, PlatformStudy, Submission
from .platform_filters import EligibilityError
from .prolific.errors import PlatformError

PER_PAGE = 50
ACTIONS_SHOWN = 100
STEPS = {
    "publish": platform_studies.PUBLISH,
    "pause": platform_studies.PAUSE,
    "start": platform_studies.START,
    "stop": platform_studies.STOP,
}


@study_page(Role.EDITOR)
def recruitment_list(request: HttpRequest, study: Study) -> HttpResponse:
    """List the activities, each with its state on the platform."""
    rows = [
        {"activity": activity, "found": platform_actions.current_platform_study(study, activity.name)}
        for activity in activities.of_study(study)
    ]
    return render(request, "recruitment/list.html", {"rows": rows, "section": "recruitment"})


@study_page(Role.EDITOR)
@never_cache
@audited(AuditedContent.VISIT)
def recruitment_page(request: HttpRequest, study: Study, purpose: str) -> HttpResponse:
    """Show the state of an activity's newest study there and here; the platform is asked separately."""
    activity, platform_study = _get_activity(study, purpose), platform_actions.current_platform_study(study, purpose)
    if "connection" in request.GET:
        context = {"connection": overview.connection(study, platform_study), "study": study}
        return render(request, "recruitment/_connection.html", context)
    return _show(request, study, activity, platform_study)


@study_page(Role.EDITOR)
def new_draft(request: HttpRequest, study: Study, purpose: str) -> HttpResponse:
    """Ask for the terms, and create the draft there."""
    activity, proposed = _get_activity(study, purpose), platform_studies.proposed_terms(study, purpose)
    if proposed is None:
        raise Http404("This way is not set up.")
    form = DraftForm(study, request.POST or None, initial=DraftForm.initial_of(proposed, study))
    if request.method == "POST" and form.is_valid():
        try:
            platform_study = platform_studies.prepare_draft(
                study=study,
                purpose=purpose,
                terms=form.terms(),
                by=request.user,  # type: ignore[arg-type]
                now=timezone.now(),
            )
        except platform_studies.DraftError as error:
            form.add_error(None, str(error))
        else:
            return _send_draft(request, platform_study)
    context = {"form": form, "activity": activity, "section": "recruitment"}
    return render(request, "recruitment/new.html", context, status=422 if form.errors else 200)


@study_page(Role.EDITOR)
@require_POST
def resend_draft(request: HttpRequest, study: Study, purpose: str) -> HttpResponse:
    """Send a draft again that was not accepted, or give it up."""
    platform_study = _newest_platform_study(study, purpose)
    if "discard" not in request.POST:
        return _send_draft(request, platform_study)
    try:
        platform_studies.discard_draft(platform_study=platform_study, now=timezone.now())
    except platform_studies.DraftError as error:
        messages.error(request, str(error))
    return redirect("recruitment", study.slug, purpose)


@study_page(Role.EDITOR)
@require_POST
def refresh(request: HttpRequest, study: Study, purpose: str) -> HttpResponse:
    """Fetch the state of the study and all its submissions now."""
    try:
        read = polling.refresh_now(platform_study=_newest_platform_study(study, purpose), now=timezone.now())
    except PlatformError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"Refreshed from Prolific: {read} submissions.")
    return redirect("recruitment", study.slug, purpose)


@study_page(Role.OWNER)
@require_POST
def open_places(request: HttpRequest, study: Study, purpose: str) -> HttpResponse:
    """Request more places."""
    platform_study, form = _newest_platform_study(study, purpose), PlacesForm(request.POST)
    if form.is_valid():
        to = form.cleaned_data["to"]
        try:
            platform_actions.increase_places(
                study=study,
                purpose=purpose,
                to=to,
                key=f"places-{platform_study.pk}-{to}",
                now=timezone.now(),
                by=request.user,  # type: ignore[arg-type]
            )
        except platform_actions.ActionError as error:
            messages.error(request, str(error))
        else:
            messages.success(request, f"Requested: {to} places in total.")
    else:
        messages.error(request, "Enter the total number of places.")
    return redirect("recruitment", study.slug, purpose)


@study_page(Role.OWNER)
@require_POST
def take_step(request: HttpRequest, study: Study, purpose: str, step: str) -> HttpResponse:
    """Publish, pause, start or stop."""
    if step not in STEPS:
        raise Http404("There is no such step.")
    try:
        platform_study = platform_studies.take_step(
            platform_study=_newest_platform_study(study, purpose), step=STEPS[step], now=timezone.now()
        )
    except (PlatformError, platform_studies.StepError) as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"New status of the study on Prolific: {platform_study.status_label}.")
    return redirect("recruitment", study.slug, purpose)


def _send_draft(request: HttpRequest, platform_study: PlatformStudy) -> HttpResponse:
    try:
        platform_studies.send_draft(
            platform_study=platform_study, base=request.build_absolute_uri("/"), now=timezone.now()
        )
    except (PlatformError, EligibilityError) as error:
        messages.error(request, f"Prolific did not accept the draft: {error}")
    else:
        messages.success(request, "The draft is on Prolific. Nobody sees it until you publish it.")
    return redirect("recruitment", platform_study.study.slug, platform_study.purpose)


def _show(
    request: HttpRequest, study: Study, activity: activities.Activity, platform_study: PlatformStudy | None
) -> HttpResponse:
    context: dict[str, Any] = {
        "activity": activity,
        "found": platform_study,
        "section": "recruitment",
        "can_begin": bool(activity.offer(study)),
    }
    if platform_study is not None:
        every = overview.rows(platform_study)
        disagreeing = [row for row in every if row.disagrees]
        only = request.GET.get("only", "")
        page = Paginator(disagreeing if only == "disagrees" else every, PER_PAGE).get_page(request.GET.get("page"))
        requested = PlatformAction.objects.filter(platform_study=platform_study).select_related("submission")
        context |= {
            "page": page,
            "only": only,
            "disagreeing": len(disagreeing),
            "is_cut": len(every) >= overview.MOST_COMPARED,
            "most": overview.MOST_COMPARED,
            "actions": list(requested.order_by("-created_at", "-pk")[:ACTIONS_SHOWN]),
            "steps": {name: value in platform_studies.possible_steps(platform_study) for name, value in STEPS.items()},
            "least_cost": platform_study.reward * platform_study.places,
            "earlier": PlatformStudy.objects.filter(study=study, purpose=activity.name)
            .exclude(pk=platform_study.pk)
            .count(),
            **overview.summary(platform_study),
        }
    return render(request, "recruitment/platform_study.html", context)


def _get_activity(study: Study, purpose: str) -> activities.Activity:
    activity = activities.get(study, purpose)
    if activity is None:
        raise Http404("There is no such way of taking part.")
    return activity


def _newest_platform_study(study: Study, purpose: str) -> PlatformStudy:
    platform_study = platform_actions.current_platform_study(study, purpose)
    if platform_study is None:
        raise Http404("Nothing was made on the platform for this way.")
    return platform_study


@study_page(Role.EDITOR)
@audited(AuditedContent.VISIT)
def submission_page(request: HttpRequest, study: Study, purpose: str, session: str) -> HttpResponse:
    """Show a submission; on POST, request an action."""
    rows = Submission.objects.select_related("platform_study__study", "platform_study__link", "participant")
    submission = get_object_or_404(
        rows, external_id=session, platform_study__study=study, platform_study__purpose=purpose
    )
    audit_subject(request, submission.participant, submission.pk)
    kind = request.POST.get("kind", "")
    forms_here = _forms(request, study, kind)
    if request.method == "POST" and kind in forms_here and forms_here[kind].is_valid():
        try:
            platform_actions.check_possible(submission, ActionKind(kind))
            _request_decision(request, submission, kind, forms_here[kind].cleaned_data)
        except platform_actions.ActionError as error:
            messages.error(request, str(error))
        else:
            messages.success(request, "Saved. It is sent to Prolific in a moment.")
        return redirect("recruitment_submission", study.slug, purpose, session)
    context = {
        "row": overview.row(submission),
        "found": submission,
        "forms": forms_here,
        "actions": PlatformAction.objects.filter(submission=submission).order_by("-created_at", "-pk"),
        "possible": platform_actions.possible_actions(submission),
        "screens_out": submission.platform_study.screen_out_reward,
        "section": "recruitment",
    }
    return render(request, "recruitment/submission.html", context, status=422 if request.method == "POST" else 200)


def _forms(request: HttpRequest, study: Study, kind: str) -> dict[str, forms.Form]:
    def posted(name: str) -> Any:
        return request.POST if request.method == "POST" and kind == name else None

    return {
        ActionKind.APPROVE.value: ApproveForm(posted(ActionKind.APPROVE), auto_id="approve_%s"),
        ActionKind.REJECT.value: RejectForm(posted(ActionKind.REJECT)),
        ActionKind.BONUS.value: BonusForm(study, posted(ActionKind.BONUS), initial={"once": uuid4()}),
        ActionKind.SCREEN_OUT.value: ScreenOutForm(posted(ActionKind.SCREEN_OUT), auto_id="screen_out_%s"),
    }


def _request_decision(request: HttpRequest, submission: Submission, kind: str, data: dict[str, Any]) -> None:
    name = f"visit-{submission.external_id}"
    about: dict[str, Any] = {
        "study": submission.platform_study.study,
        "purpose": submission.platform_study.purpose,
        "session": submission.external_id,
        "now": timezone.now(),
        "by": request.user,
    }
    if kind == ActionKind.APPROVE:
        platform_actions.approve(key=f"{name}-approve-by-hand", **about)
    elif kind == ActionKind.REJECT:
        platform_actions.reject(key=f"{name}-reject-{uuid4().hex[:8]}", **data, **about)
    elif kind == ActionKind.SCREEN_OUT:
        platform_actions.screen_out(key=f"{name}-screen-out", **about)
    else:
        # The number generated with the page: the same page sent twice pays once.
        platform_actions.grant_bonus(
            key=f"{name}-bonus-{data['once']}", amount=data["amount"], reason=data["reason"], **about
        )


@study_page(Role.OWNER)
@require_POST
def retry_action(request: HttpRequest, study: Study, purpose: str, action: int) -> HttpResponse:
    """Send a failed action again."""
    try:
        platform_actions.retry(action=_get_action(study, purpose, action), now=timezone.now())
    except platform_actions.ActionError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "It is sent again in a moment.")
    return redirect("recruitment", study.slug, purpose)


@study_page(Role.OWNER)
@require_POST
def drop_action(request: HttpRequest, study: Study, purpose: str, action: int) -> HttpResponse:
    """Give up an action."""
    try:
        platform_actions.drop(action=_get_action(study, purpose, action), now=timezone.now())
    except platform_actions.ActionError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, "The action is discarded. Nothing is sent to Prolific.")
    return redirect("recruitment", study.slug, purpose)


def _get_action(study: Study, purpose: str, key: int) -> PlatformAction:
    return get_object_or_404(PlatformAction, pk=key, platform_study__study=study, platform_study__purpose=purpose)


@csrf_exempt
@public
@never_cache
@require_POST
def prolific_webhook(request: HttpRequest) -> HttpResponse:
    """Receive an event. Duplicates are accepted once; senders other than the platform learn nothing."""
    try:
        # One byte more than the maximum: enough to see that it is too large, whatever its declared length.
        body = request.read(webhooks.LARGEST_BODY + 1)
        is_new = webhooks.receive(body=body, headers=webhooks.WebhookHeaders.of(request.headers), now=timezone.now())
    except webhooks.WebhookError as error:
        return HttpResponse(status=error.status)
    return JsonResponse({"stored": is_new}, status=200)
