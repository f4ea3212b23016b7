"""Pages for joining by a link, returning by a personal key, and managing links."""

import secrets
from dataclasses import dataclass
from typing import Any

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
from ..access import audited, current_participant, public, remember_participant, study_page
from ..enums import AuditedContent, EntryKind, Outcome, Role
from ..messages import services
from ..page_language import activate_browser_language, activate_study_language
from ..participants import consents
from ..participants.models import Consent, Participant
from ..study.models import Study
from . import enrolment, link_forms, links
from .forms import KeyForm, LinkForm
from .models import EntryLink


@dataclass(frozen=True)
class Visitor:
    """The visitor of a link, as far as the request identifies them."""

    link: EntryLink
    named: links.PlatformVisit | None
    person: Participant | None

    @property
    def came_before(self) -> bool:
        """Whether the visitor has already entered by this link."""
        return bool(self.person and self.link.arrivals.filter(participant=self.person).exists())

    @property
    def has_left(self) -> bool:
        """Whether the visitor withdrew from the study."""
        return bool(self.person and self.person.withdrawn_at)

    @property
    def comes_back(self) -> bool:
        """Whether the visitor is a consenting participant who returns with their personal key on a new device."""
        return self.link.kind == EntryKind.PERSONAL and self.has_consented

    @property
    def has_agreed(self) -> bool:
        """Whether the visitor has ever agreed to take part in anything of the study."""
        return self.person is not None and consents.is_given_to_anything(self.person)

    @property
    def has_consented(self) -> bool:
        """Whether the visitor agreed to take part, and has not withdrawn that."""
        if self.person is None:
            return False
        return Consent.objects.filter(participant=self.person, withdrawn_at__isnull=True).exists()


@public
@never_cache
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Show the offer; POST enrols the visitor. Opening the link alone changes nothing."""
    link = links.find(token)
    if link is None:
        activate_browser_language(request)
        return _refuse(request, "unknown", 404)
    activate_study_language(link.study)
    try:
        caller = _visitor(request, link)
    except links.PlatformParametersError as error:
        return _refuse(request, "platform", 400, link, reason=str(error))
    activity = activities.get(link.study, link.purpose)
    offer = activity.offer(link.study) if activity else None
    if caller.person and caller.person.erased_at:
        return _refuse(request, "gone", 410, link)
    takes_people = enrolment.is_open(link, timezone.now()) and offer is not None and offer.is_open
    comes_back = caller.comes_back
    if not takes_people and not caller.came_before and not comes_back:
        return _refuse(request, "closed", 410, link)
    if activity and not caller.came_before and not comes_back and activity.is_full():
        return _refuse(request, "full", 410, link, has_agreed=caller.has_agreed)
    usable = enrolment.allowed_devices(link)
    if enrolment.device_of(request.headers) not in usable:
        return _refuse(request, "device", 403, link, has_agreed=caller.has_agreed)
    if request.method == "POST":
        return _enrol(request, caller)
    context = {
        "link": link,
        "usable": usable,
        "way_back": links.completion_target(link, Outcome.BAD_DEVICE),
        "offer": offer,
        "taking_part": link.study,
        "came_before": caller.came_before,
        "has_agreed": caller.has_agreed,
        "comes_back": comes_back,
        "has_consented": caller.has_consented,
        "has_left": caller.has_left,
        "visit": enrolment.sign_visit(secrets.token_hex(16)) if link.kind == EntryKind.OPEN else "",
        "hourly": round(offer.pay * 60 / offer.minutes) if offer and offer.minutes else None,
    }
    return render(request, "studies/entry/join.html", context)


@public
@never_cache
def enter_key(request: HttpRequest) -> HttpResponse:
    """Ask returning participants for their personal link."""
    activate_browser_language(request)
    form = KeyForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        link = links.find_personal(form.cleaned_data["key"])
        if link is not None:
            activate_study_language(link.study)
            return _enrol(request, Visitor(link, None, link.participant))
        form.add_error(
            "key",
            _(
                "This link or code does not work. Check that it is complete. It also stops working if you created a "
                "newer one, or if your data was erased."
            ),
        )
    return render(request, "studies/entry/return.html", {"form": form}, status=422 if form.errors else 200)


def _visitor(request: HttpRequest, link: EntryLink) -> Visitor:
    named = links.read_visit(link.parameters, request.GET.dict()) if link.kind == EntryKind.PLATFORM else None
    person = enrolment.find_known(link=link, named=named)
    if link.kind == EntryKind.OPEN:
        person = current_participant(request, link.study)
    return Visitor(link, named, person)


def _enrol(request: HttpRequest, caller: Visitor) -> HttpResponse:
    link = caller.link
    try:
        participant = enrolment.enrol(
            link=link,
            named=caller.named,
            signed_visit=request.POST.get("visit", ""),
            resumed=caller.person,
            now=timezone.now(),
        )
    except enrolment.ClosedError:
        return _refuse(request, "closed", 410, link)
    except enrolment.ErasedError:
        return _refuse(request, "gone", 410, link)
    except enrolment.VisitError:
        return _refuse(request, "late", 409, link)
    # A new session key, so that the old one is useless to anybody who knew it (session fixation).
    request.session.cycle_key()
    remember_participant(request, participant)
    activity = activities.get(link.study, link.purpose)
    offer = activity.offer(link.study) if activity else None
    if participant.withdrawn_at or offer is None or consents.is_given(participant=participant, text=offer.consent_text):
        return redirect("participant_dashboard", link.study.slug)
    return redirect(f"{reverse('participant_consent', args=[link.study.slug])}?way={link.purpose}")


def _refuse(
    request: HttpRequest, problem: str, status: int, link: EntryLink | None = None, **more: Any
) -> HttpResponse:
    context: dict[str, Any] = {"problem": problem, "link": link} | more
    context["taking_part"] = link and link.study
    if link and problem == "device":
        context |= {
            "usable": enrolment.allowed_devices(link),
            "way_back": links.completion_target(link, Outcome.BAD_DEVICE),
        }
    return render(request, "studies/entry/no_entry.html", context, status=status)


@study_page(Role.EDITOR)
@never_cache
@audited(AuditedContent.PEOPLE)
def entry_links(request: HttpRequest, study: Study) -> HttpResponse:
    """List the links of a study, and create new ones."""
    form = link_forms.read_form(study, request.POST) if request.method == "POST" else None
    if form is None:
        return _show_links(request, study)
    if not form.is_valid():
        return _show_links(request, study, form)
    if new_links := link_forms.create(form, study=study, by=request.user, now=timezone.now()):  # type: ignore[arg-type]
        return _show_links(request, study, new_links=new_links)
    messages.success(request, "Link created.")
    return redirect("entry_links", study.slug)


@study_page(Role.EDITOR)
@require_POST
@never_cache
@audited(AuditedContent.PEOPLE)
def renew_link(request: HttpRequest, study: Study, link_id: int) -> HttpResponse:
    """Replace a lost personal link by a new one, and show it."""
    link = get_object_or_404(EntryLink, pk=link_id, study=study, kind=EntryKind.PERSONAL)
    assert link.participant is not None, "a check of the table"
    new_link = links.renew(participant=link.participant, purpose=link.purpose, now=timezone.now(), by=request.user)  # type: ignore[arg-type]
    return _show_links(request, study, new_links=[new_link])


@study_page(Role.EDITOR)
@require_POST
def close_link(request: HttpRequest, study: Study, link_id: int) -> HttpResponse:
    """Close a link to new participants."""
    link = get_object_or_404(EntryLink, pk=link_id, study=study)
    links.close(link=link, now=timezone.now())
    messages.success(request, "The link is closed to new people.")
    back = request.POST.get("back", "")
    is_here = url_has_allowed_host_and_scheme(back, allowed_hosts=None)
    return redirect(back if is_here else reverse("entry_links", args=[study.slug]))


def _show_links(
    request: HttpRequest,
    study: Study,
    refused: LinkForm | None = None,
    new_links: list[links.LinkWithKey] | None = None,
) -> HttpResponse:
    absolute = request.build_absolute_uri
    context = link_forms.link_lists(study, absolute=absolute, now=timezone.now()) | {
        "made": link_forms.with_addresses(new_links or [], absolute),
        "forms": link_forms.make_forms(study, refused=refused),
        "refused": refused.prefix if refused else "",
        "ways": activities.of_study(study),
        "waiting": services.count_unanswered(study),
        "section": "participants",
    }
    return render(request, "studies/entry/people.html", context, status=422 if refused else 200)
