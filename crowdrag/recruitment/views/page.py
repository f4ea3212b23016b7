"""The pages of a way's recruitment by Prolific."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from crowdrag.studies import activities
from crowdrag.studies.access import audited, study_page
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Study

from ..domain import asking, drafts, orders, overview, running
from ..domain.eligibility import EligibilityError
from ..domain.orders import queueing
from ..domain.prolific.errors import PlatformError
from ..forms import DraftForm, PlacesForm
from ..models import PlatformOrder, PlatformStudy

PER_PAGE = 50
ORDERS_SHOWN = 100
STEPS = {"publish": running.PUBLISH, "pause": running.PAUSE, "start": running.START, "stop": running.STOP}


@study_page(Role.EDITOR)
def listing(request: HttpRequest, study: Study) -> HttpResponse:
    """List the ways of taking part, each with how it stands on the platform."""
    rows = [{"way": way, "found": queueing.current(study, way.name)} for way in activities.of_study(study)]
    return render(request, "recruitment/list.html", {"rows": rows, "section": "recruitment"})


@study_page(Role.EDITOR)
@never_cache
@audited(AuditedContent.VISIT)
def recruitment(request: HttpRequest, study: Study, purpose: str) -> HttpResponse:
    """Show how a way's newest study stands there and here; the part that asks the platform comes by itself."""
    way, found = _way(study, purpose), queueing.current(study, purpose)
    if "connection" in request.GET:
        context = {"connection": overview.connection(study, found), "study": study}
        return render(request, "recruitment/_connection.html", context)
    return _show(request, study, way, found)


@study_page(Role.EDITOR)
def new(request: HttpRequest, study: Study, purpose: str) -> HttpResponse:
    """Ask for the terms, and make the draft there."""
    way, proposed = _way(study, purpose), drafts.proposed(study, purpose)
    if proposed is None:
        raise Http404("This way is not set up.")
    form = DraftForm(study, request.POST or None, initial=DraftForm.initial_of(proposed, study))
    if request.method == "POST" and form.is_valid():
        try:
            made = drafts.prepare(
                study=study,
                purpose=purpose,
                terms=form.terms(),
                by=request.user,  # type: ignore[arg-type]
                now=timezone.now(),
            )
        except drafts.DraftError as error:
            form.add_error(None, str(error))
        else:
            return _send(request, made)
    context = {"form": form, "way": way, "section": "recruitment"}
    return render(request, "recruitment/new.html", context, status=422 if form.errors else 200)


@study_page(Role.EDITOR)
@require_POST
def send(request: HttpRequest, study: Study, purpose: str) -> HttpResponse:
    """Send again a draft that was not taken, or give it up."""
    found = _found(study, purpose)
    if "discard" not in request.POST:
        return _send(request, found)
    try:
        drafts.discard(platform_study=found, now=timezone.now())
    except drafts.DraftError as error:
        messages.error(request, str(error))
    return redirect("recruitment", study.slug, purpose)


@study_page(Role.EDITOR)
@require_POST
def ask(request: HttpRequest, study: Study, purpose: str) -> HttpResponse:
    """Ask the platform now how the study and all its submissions stand."""
    try:
        read = asking.ask(platform_study=_found(study, purpose), now=timezone.now())
    except PlatformError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("Prolific was asked: %(read)d submissions.") % {"read": read})
    return redirect("recruitment", study.slug, purpose)


@study_page(Role.OWNER)
@require_POST
def places(request: HttpRequest, study: Study, purpose: str) -> HttpResponse:
    """Order more places."""
    found, form = _found(study, purpose), PlacesForm(request.POST)
    if form.is_valid():
        to = form.cleaned_data["to"]
        try:
            orders.increase_places(
                study=study,
                purpose=purpose,
                to=to,
                key=f"places-{found.pk}-{to}",
                now=timezone.now(),
                by=request.user,  # type: ignore[arg-type]
            )
        except orders.OrderError as error:
            messages.error(request, str(error))
        else:
            messages.success(request, _("Ordered: %(to)d places in all.") % {"to": to})
    else:
        messages.error(request, _("Say how many places there are to be in all."))
    return redirect("recruitment", study.slug, purpose)


@study_page(Role.OWNER)
@require_POST
def step(request: HttpRequest, study: Study, purpose: str, step: str) -> HttpResponse:
    """Publish, pause, start or stop."""
    if step not in STEPS:
        raise Http404("There is no such step.")
    try:
        found = running.take(platform_study=_found(study, purpose), step=STEPS[step], now=timezone.now())
    except (PlatformError, running.StepError) as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("On Prolific the study is now: %(status)s.") % {"status": found.status_label})
    return redirect("recruitment", study.slug, purpose)


def _send(request: HttpRequest, found: PlatformStudy) -> HttpResponse:
    try:
        drafts.send(platform_study=found, base=request.build_absolute_uri("/"), now=timezone.now())
    except (PlatformError, EligibilityError) as error:
        messages.error(request, _("Prolific did not take the draft: %(why)s") % {"why": error})
    else:
        messages.success(request, _("The draft is on Prolific. Nobody sees it until you publish it."))
    return redirect("recruitment", found.study.slug, found.purpose)


def _show(request: HttpRequest, study: Study, way: activities.Activity, found: PlatformStudy | None) -> HttpResponse:
    context: dict[str, Any] = {
        "way": way,
        "found": found,
        "section": "recruitment",
        "can_begin": bool(way.offer(study)),
    }
    if found is not None:
        every = overview.rows(found)
        disagreeing = [row for row in every if row.disagrees]
        only = request.GET.get("only", "")
        page = Paginator(disagreeing if only == "disagrees" else every, PER_PAGE).get_page(request.GET.get("page"))
        ordered = PlatformOrder.objects.filter(platform_study=found).select_related("submission")
        context |= {
            "page": page,
            "only": only,
            "disagreeing": len(disagreeing),
            "is_cut": len(every) >= overview.COMPARED,
            "most": overview.COMPARED,
            "orders": list(ordered.order_by("-created_at", "-pk")[:ORDERS_SHOWN]),
            "steps": {name: value in running.steps(found) for name, value in STEPS.items()},
            "least_cost": found.reward * found.places,
            "earlier": PlatformStudy.objects.filter(study=study, purpose=way.name).exclude(pk=found.pk).count(),
            **overview.summary(found),
        }
    return render(request, "recruitment/page.html", context)


def _way(study: Study, purpose: str) -> activities.Activity:
    way = activities.get(study, purpose)
    if way is None:
        raise Http404("There is no such way of taking part.")
    return way


def _found(study: Study, purpose: str) -> PlatformStudy:
    found = queueing.current(study, purpose)
    if found is None:
        raise Http404("Nothing was made on the platform for this way.")
    return found
