"""Coming in by a link, and coming back with a personal key."""

import secrets
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from .. import ways
from ..access import present, public, remember
from ..domain import consenting, devices, entering, links, platforms
from ..enums import EntryKind, Outcome
from ..forms import KeyForm
from ..models import Consent, EntryLink, Participant


@dataclass(frozen=True)
class Caller:
    """Who stands at the door, as far as the request says."""

    link: EntryLink
    named: platforms.Named | None
    person: Participant | None

    @property
    def came_before(self) -> bool:
        """Whether they were let in by this link already."""
        return bool(self.person and self.link.arrivals.filter(participant=self.person).exists())

    @property
    def comes_back(self) -> bool:
        """Whether this is the own key of somebody who has agreed: a device that does not know them yet, no visitor."""
        if self.link.kind != EntryKind.PERSONAL or self.person is None:
            return False
        return Consent.objects.filter(participant=self.person, withdrawn_at__isnull=True).exists()


@public
@never_cache
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Say what is offered; let in whoever then asks for it. Opening the link alone changes nothing."""
    link = links.find(token)
    if link is None:
        return _problem(request, "unknown", 404)
    try:
        caller = _caller(request, link)
    except platforms.PlatformParametersError as error:
        return _problem(request, "platform", 400, link, reason=str(error))
    way = ways.get(link.study, link.purpose)
    offer = way.offer(link.study) if way else None
    if caller.person and caller.person.erased_at:
        return _problem(request, "gone", 410, link)
    takes_people = entering.is_open(link, timezone.now()) and offer is not None and offer.is_open
    comes_back = caller.comes_back
    if not takes_people and not caller.came_before and not comes_back:
        return _problem(request, "closed", 410, link)
    if way and not caller.came_before and not comes_back and way.is_full():
        return _problem(request, "full", 410, link)
    usable = devices.allowed(link)
    if devices.of(request.headers) not in usable:
        return _problem(request, "device", 403, link)
    if request.method == "POST":
        return _enter(request, caller)
    context = {
        "link": link,
        "usable": usable,
        "way_back": links.ending(link, Outcome.BAD_DEVICE),
        "offer": offer,
        "taking_part": link.study,
        "came_before": caller.came_before,
        "comes_back": comes_back,
        "visit": entering.visit(secrets.token_hex(16)) if link.kind == EntryKind.OPEN else "",
        "hourly": round(offer.pay * 60 / offer.minutes) if offer and offer.minutes else None,
    }
    return render(request, "studies/participant/join.html", context)


@public
@never_cache
def begin(request: HttpRequest) -> HttpResponse:
    """Ask for the personal link, of whoever comes back without it."""
    form = KeyForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        link = links.find_personal(form.cleaned_data["key"])
        if link is not None:
            return _enter(request, Caller(link, None, link.participant))
        form.add_error("key", _("Nobody has this link or code. Is all of it there? It may also have been replaced."))
    return render(request, "studies/participant/begin.html", {"form": form}, status=422 if form.errors else 200)


def _caller(request: HttpRequest, link: EntryLink) -> Caller:
    named = platforms.read(link.parameters, request.GET.dict()) if link.kind == EntryKind.PLATFORM else None
    person = entering.known(link=link, named=named)
    if link.kind == EntryKind.OPEN:
        person = present(request, link.study)
    return Caller(link, named, person)


def _enter(request: HttpRequest, caller: Caller) -> HttpResponse:
    link = caller.link
    try:
        participant = entering.enter(
            link=link,
            named=caller.named,
            signed_visit=request.POST.get("visit", ""),
            resumed=caller.person,
            now=timezone.now(),
        )
    except entering.ClosedError:
        return _problem(request, "closed", 410, link)
    except entering.GoneError:
        return _problem(request, "gone", 410, link)
    except entering.VisitError:
        return _problem(request, "late", 409, link)
    # Whoever knew the session's key before learns nothing by it from now on.
    request.session.cycle_key()
    remember(request, participant)
    way = ways.get(link.study, link.purpose)
    offer = way.offer(link.study) if way else None
    if participant.withdrawn_at or offer is None or consenting.holds(participant=participant, text=offer.consent_text):
        return redirect("work", link.study.slug)
    return redirect(f"{reverse('work_consent', args=[link.study.slug])}?way={link.purpose}")


def _problem(
    request: HttpRequest, problem: str, status: int, link: EntryLink | None = None, reason: str = ""
) -> HttpResponse:
    context: dict[str, Any] = {"problem": problem, "reason": reason, "link": link}
    context["taking_part"] = link and link.study
    if link and problem == "device":
        context |= {"usable": devices.allowed(link), "way_back": links.ending(link, Outcome.BAD_DEVICE)}
    return render(request, "studies/participant/no_entry.html", context, status=status)
