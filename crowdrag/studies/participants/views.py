"""Pages for participants: dashboard, consent, withdrawal.

Also a researcher's block of a participant.
"""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from .. import activities
from ..access import forget_participant, participant_page, public, study_page
from ..entry import links
from ..entry.forms import KeyForm
from ..enums import Outcome, Role
from ..messages import services
from ..page_language import activate_browser_language, activate_study_language
from ..study.models import Study
from . import blocks, consents, participant_dashboard, withdrawal
from .forms import ConsentForm, WithdrawForm
from .models import Consent, Participant


@participant_page
@never_cache
def consent_page(request: HttpRequest, participant: Participant) -> HttpResponse:
    """Show what is recorded and under which licence it is released; save only what the participant agrees to."""
    activity = activities.get_for(participant, request.GET.get("way", "")) or activities.latest(participant)
    offer = activity.offer(participant.study) if activity else None
    if activity is None or offer is None or participant.withdrawn_at:
        return redirect("participant_dashboard", participant.study.slug)
    if "decline" in request.POST:
        return decline(request, participant)
    text = offer.consent_text
    consent = Consent.objects.filter(participant=participant, text=text, withdrawn_at__isnull=True).first()
    released = ("releases_text", "releases_log", "releases_timing")
    initial = {"agrees": True, **{name: getattr(consent, name) for name in released}} if consent else {}
    form = ConsentForm(text, request.POST or None, initial=initial, publishes=activity.publishes)
    if request.method == "POST" and form.is_valid():
        releases = {name: form.cleaned_data.get(name, False) for name in released}
        consents.give(participant=participant, text=text, now=timezone.now(), **releases)
        link = links.first_key(participant=participant, purpose=activity.name, now=timezone.now())
        return show_key(request, participant, link, activity) if link else redirect(activity.address(participant.study))
    context = {
        "taking_part": participant.study,
        "text": text,
        "form": form,
        "given": consent,
        "earlier": not consent and consents.is_given_to_any_version(participant=participant, text=text),
        "offer": offer,
        "start": activity.address(participant.study),
        "platform": links.paying_platform(participant),
        "has_agreed": consents.is_given_to_anything(participant),
    }
    return render(request, "studies/entry/consent.html", context, status=422 if form.errors else 200)


def decline(request: HttpRequest, participant: Participant) -> HttpResponse:
    """Show a goodbye page after consent was declined; nothing is recorded."""
    back = links.participant_completion_target(participant=participant, outcome=Outcome.NO_CONSENT)
    context = {
        "taking_part": participant.study,
        "way_back": back,
        "platform": links.paying_platform(participant),
        "has_agreed": consents.is_given_to_anything(participant),
    }
    return render(request, "studies/entry/declined.html", context)


def show_key(
    request: HttpRequest, participant: Participant, link: links.LinkWithKey, activity: activities.Activity
) -> HttpResponse:
    """Show a participant's personal link once: only its hash is stored."""
    context = {
        "taking_part": participant.study,
        "address": request.build_absolute_uri(reverse("join", args=[link.key])),
        "code": links.group_key(link.key),
        "start": activity.address(participant.study),
    }
    return render(request, "studies/participants/personal_link.html", context)


@participant_page
@never_cache
def dashboard(request: HttpRequest, participant: Participant) -> HttpResponse:
    """Show a participant's activities, work and earnings."""
    context = {
        "taking_part": participant.study,
        "participant": participant,
        "standing": participant_dashboard.build(participant),
        "participant_messages": services.list_of_participant(participant),
    }
    return render(request, "studies/participants/dashboard.html", context)


@participant_page
@require_POST
@never_cache
def renew_personal_link(request: HttpRequest, participant: Participant) -> HttpResponse:
    """Create a new personal link for a participant; the earlier ones stop working."""
    activity = activities.latest(participant)
    if activity is None:
        return redirect("participant_dashboard", participant.study.slug)
    link = links.renew(participant=participant, purpose=activity.name, now=timezone.now())
    return show_key(request, participant, link, activity)


@participant_page
@require_POST
def forget_browser(request: HttpRequest, participant: Participant) -> HttpResponse:
    """Remove the participant from this browser's session, for shared devices."""
    forget_participant(request, participant)
    request.session.cycle_key()
    messages.success(request, _("You are signed out of this browser. Use your personal link to come back."))
    return redirect("participant_return")


@participant_page
@never_cache
def withdraw(request: HttpRequest, participant: Participant) -> HttpResponse:
    """Explain the choices of withdrawal, and carry out the chosen one."""
    form = WithdrawForm(request.POST or None, can_keep=_can_keep(participant))
    if request.method == "POST" and form.is_valid():
        return _withdraw(request, participant, form.cleaned_data["choice"])
    return _show_withdrawal(request, participant, form)


@public
@never_cache
def withdraw_by_key(request: HttpRequest) -> HttpResponse:
    """Withdraw by personal link alone, without a session or an account."""
    activate_browser_language(request)
    key_form = KeyForm(request.POST or None)
    if request.method != "POST" or not key_form.is_valid():
        return _ask_for_key(request, key_form)
    link = links.find_personal(key_form.cleaned_data["key"])
    if link is None or link.participant is None:
        key_form.add_error(
            "key", _("This link or code does not work. Check that it is complete. A newer one may have replaced it.")
        )
        return _ask_for_key(request, key_form)
    activate_study_language(link.study)
    is_answered = "choice" in request.POST or "is_sure" in request.POST
    form = WithdrawForm(request.POST if is_answered else None, can_keep=_can_keep(link.participant))
    if form.is_valid():
        return _withdraw(request, link.participant, form.cleaned_data["choice"])
    return _show_withdrawal(request, link.participant, form, key_form.cleaned_data["key"])


def _can_keep(participant: Participant) -> bool:
    """Return whether withdrawing without erasure is a choice: not twice, and not for who never agreed."""
    return participant.withdrawn_at is None and consents.is_given_to_anything(participant)


def _ask_for_key(request: HttpRequest, form: KeyForm) -> HttpResponse:
    status = 422 if form.errors else 200
    return render(request, "studies/participants/withdraw_begin.html", {"form": form}, status=status)


def _show_withdrawal(request: HttpRequest, participant: Participant, form: WithdrawForm, key: str = "") -> HttpResponse:
    context = {"taking_part": participant.study, "participant": participant, "form": form, "key": key}
    has_agreed = consents.is_given_to_anything(participant)
    context |= {"has_agreed": has_agreed, "can_keep": has_agreed and participant.withdrawn_at is None}
    context |= {"owed": activities.owed(participant), "payer": links.paying_platform(participant)}
    context |= {"awaited": activities.pending(participant), "erasure": activities.erasure_notes(participant)}
    return render(request, "studies/participants/withdraw.html", context, status=422 if form.errors else 200)


def _withdraw(request: HttpRequest, participant: Participant, choice: str) -> HttpResponse:
    # Read before the arrivals are deleted.
    back = links.participant_completion_target(participant=participant, outcome=Outcome.WITHDRAWN)
    payer = links.paying_platform(participant)
    awaited, erasure = activities.pending(participant), activities.erasure_notes(participant)
    now = timezone.now()
    if choice == "erase":
        withdrawal.request_erasure(participant=participant, now=now)
        forget_participant(request, participant)
    else:
        withdrawal.withdraw(participant=participant, now=now)
    context = {
        "taking_part": participant.study,
        "participant": participant,
        "is_erased": choice == "erase",
        "way_back": back,
        "owed": activities.owed(participant),
        "payer": payer,
        "awaited": awaited,
        "erasure": erasure,
    }
    return render(request, "studies/participants/withdrawn.html", context)


@study_page(Role.REVIEWER)
@require_POST
def block_participant(request: HttpRequest, study: Study, participant: int) -> HttpResponse:
    """Block a participant from new work; with `lift`, lift the block."""
    person = get_object_or_404(Participant, study=study, pk=participant)
    by, now = request.user, timezone.now()
    if "lift" in request.POST:
        blocks.unblock(participant=person, by=by, now=now)  # type: ignore[arg-type]
        messages.success(request, "The participant is unblocked.")
    else:
        try:
            blocks.block(participant=person, reason=request.POST.get("reason", "")[:500], by=by, now=now)  # type: ignore[arg-type]
            messages.success(
                request, "The participant is blocked from further work. They can finish the work they have."
            )
        except blocks.NoReasonError:
            messages.error(request, "Give a reason for the block. The participant can read it.")
    back = request.POST.get("back", "")
    if not url_has_allowed_host_and_scheme(back, allowed_hosts=None):
        back = reverse("study", args=[study.slug])
    return redirect(back)
