"""Reports of analyses, and analyses beside each other."""

import uuid

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_POST, require_safe

from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.studies.access import study_page
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study

from ..domain import analysing
from ..domain.pages import reports as page
from ..domain.reports import building, comparing, exporting, packing
from . import shared


@study_page(Role.VIEWER)
@require_safe
def report(request: HttpRequest, study: Study) -> HttpResponse:
    """Show a report."""
    state = shared.state_of(request, study)
    context = shared.context(request, state, "report")
    if state.run is not None:
        context |= page.report(state.run)
    return render(request, "analysis/report.html", context)


@study_page(Role.VIEWER)
@require_safe
def report_file(request: HttpRequest, study: Study, name: str) -> HttpResponse:
    """Send a report as one file, or what belongs to it."""
    run, _is_named = shared.done_run(request, study)
    if name not in exporting.WRITERS:
        raise Http404("A report has no such file.")
    write, media_type = exporting.WRITERS[name]
    response = HttpResponse(write(building.report(run)), content_type=media_type)
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-{str(run.key)[:8]}-{name}"'
    patch_cache_control(response, private=True, no_cache=True)
    return response


@study_page(Role.VIEWER)
@require_POST
def pack(request: HttpRequest, study: Study) -> HttpResponse:
    """Start packing everything of a report, and go and see how it gets on."""
    run, _is_named = shared.done_run(request, study)
    made = packing.start(run=run, by=request.user)  # type: ignore[arg-type]
    return redirect("run", slug=study.slug, key=made.key)


@study_page(Role.VIEWER)
@require_safe
def analyses(request: HttpRequest, study: Study) -> HttpResponse:
    """List the finished analyses."""
    state = shared.state_of(request, study)
    found = page.analyses(study, page=request.GET.get("page"))
    return render(request, "analysis/analyses.html", shared.context(request, state, "analyses") | found)


@study_page(Role.VIEWER)
@require_safe
def compare(request: HttpRequest, study: Study) -> HttpResponse:
    """Show what differs between two analyses."""
    state = shared.state_of(request, study)
    old, new = (_asked(request, study, name) for name in ("a", "b"))
    context = shared.context(request, state, "analyses") | {"old": old, "new": new}
    if old and new:
        context["comparison"] = comparing.compare(old, new)
    context["choices"] = page.choices(study)
    return render(request, "analysis/compare.html", context)


def _asked(request: HttpRequest, study: Study, name: str) -> Run | None:
    """The analysis asked for under this name, if one is."""
    given = request.GET.get(name)
    if not given:
        return None
    try:
        key = uuid.UUID(given)
    except ValueError:
        raise Http404("This is not the key of a run.") from None
    runs = Run.objects.filter(study=study, kind=analysing.KIND, state=RunState.DONE).select_related("study")
    return get_object_or_404(runs, key=key)
