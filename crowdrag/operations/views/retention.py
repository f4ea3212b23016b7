"""Retention and erasure: what would be removed is shown first; then it is removed, and that is noted."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from crowdrag.studies.access import operator_page

from ..domain import erasure, retention
from ..forms import ConfirmForm, ErasureForm, RemovalForm
from .frame import dashboard, framed


@dashboard
def rules(_request: HttpRequest, now: datetime) -> tuple[str, Mapping[str, Any]]:
    """Show what is kept no longer than said, and what each study promised."""
    return "retention", {
        "found": retention.look(now=now),
        "promises": retention.promises(),
        "removals": retention.removals(),
        "form": ErasureForm(),
        "until": now.isoformat(),
    }


@operator_page
@require_POST
def remove(request: HttpRequest) -> HttpResponse:
    """Remove what a rule found when it was looked at."""
    form = RemovalForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Look at what would be removed first."))
        return redirect("operations_retention")
    given: Any = {"name": form.cleaned_data["rule"], "until": form.cleaned_data["until"], "by": request.user}
    try:
        done = retention.remove(**given, now=timezone.now())
    except retention.UnknownRuleError:
        messages.error(request, _("There is no such rule."))
    else:
        messages.success(request, _("Removed: %d rows.") % sum(done.rows.values()))
    return redirect("operations_retention")


@operator_page
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def erase(request: HttpRequest) -> HttpResponse:
    """Show what erasing somebody's data would do; POST with the pseudonym once more does it."""
    given = request.POST if request.method == "POST" else request.GET
    form = ConfirmForm(given) if request.method == "POST" else ErasureForm(given or None)
    named = {name: given.get(name, "").strip() for name in ("study", "pseudonym")}
    person = erasure.find(**named)
    if person is None:
        if any(named.values()):
            form.add_error("pseudonym", _("Nobody in this study has this pseudonym."))
        return framed(request, "erase", {"form": form}, status=422 if any(named.values()) else 200)
    if request.method == "POST" and form.is_valid() and not person.erased_at:
        erasure.erase(participant=person, by=request.user, now=timezone.now())  # type: ignore[arg-type]
        messages.success(request, _("Erased. A tombstone with the pseudonym stays."))
        return redirect("operations_retention")
    context: dict[str, Any] = {"form": form, "person": person, "confirm": _confirm(form, named)}
    try:
        context["effect"] = None if person.erased_at else erasure.rehearse(participant=person, now=timezone.now())
    except erasure.BusyError:
        context["is_busy"] = True
    return framed(request, "erase", context, status=422 if request.method == "POST" else 200)


def _confirm(form: Any, named: Mapping[str, str]) -> ConfirmForm:
    return form if isinstance(form, ConfirmForm) else ConfirmForm(initial=dict(named))
