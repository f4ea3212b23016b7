"""The runs of a study."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from crowdrag.studies.access import study_page
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study

from .. import kinds
from ..domain import progress
from ..enums import RunState
from ..models import Run

PER_PAGE = 25


@study_page(Role.VIEWER)
def runs(request: HttpRequest, study: Study) -> HttpResponse:
    """List the runs, newest first, of one kind or state if asked."""
    kind, state = request.GET.get("kind", ""), request.GET.get("state", "")
    found = Run.objects.filter(study=study)
    known = list(found.order_by("kind").values_list("kind", flat=True).distinct())
    if kind in known:
        found = found.filter(kind=kind)
    if state in RunState.values:
        found = found.filter(state=state)
    ordered = found.with_unit_counts().select_related("created_by").newest_first()
    page = Paginator(ordered, PER_PAGE).get_page(request.GET.get("page"))
    listed = list(page)
    shown = progress.of_listed(listed)
    rows = [{"run": run, "title": kinds.title(run.kind), "progress": shown[run.pk]} for run in listed]
    context = {
        "page": page,
        "rows": rows,
        "kinds": [(name, kinds.title(name)) for name in known],
        "states": RunState.choices,
        "kind": kind,
        "state": state,
    }
    return render(request, "runs/list.html", context)
