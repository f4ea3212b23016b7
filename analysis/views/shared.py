"""What every page of results begins with: which run it shows, and how that stands."""

import uuid
from typing import Any

from django.db.models import Q
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext_lazy as _

from crowdrag.jobs.enums import RunState
from crowdrag.jobs.models import Run
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study

from ..domain import analysing
from ..domain.experiments.experiment import PREFIX
from ..domain.planning import working
from ..domain.tables import UPDATE
from ..forms import AnalysisForm

#: The pages of results by the name of their URL, in the order in which they are offered.
PAGES = (
    ("results", _("Agreement")),
    ("competence", _("Competence")),
    ("grades", _("Grades")),
    ("leaderboard", _("Leaderboard")),
    ("writing_results", _("Writing")),
    ("pairs", _("Pairs and votes")),
    ("order_results", _("Order and dimensions")),
    ("reference_metrics", _("Metrics")),
    ("model_judge_results", _("Models as judges")),
    ("report", _("Report")),
    ("analyses", _("Analyses")),
)
#: Of these, the pages that show nothing without judgments.
OF_JUDGMENTS = ("competence", "grades", "leaderboard", "pairs", "order_results", "reference_metrics")


def state_of(request: HttpRequest, study: Study, *, live: bool = False) -> analysing.State:
    """Return the state of the run asked for (`?run=key`), else of the latest analysis that is done.

    `live`: of its latest update, on pages whose tables updates make.
    """
    try:
        return analysing.state(study, key=_key(request), live=live)
    except Run.DoesNotExist:
        raise Http404("There is no finished analysis of this key in this study.") from None


def context(request: HttpRequest, state: analysing.State, page: str) -> dict[str, Any]:
    """Return what the frame of a page of results shows."""
    return {
        "state": state,
        "run": state.run,
        "asked_for": _key(request) is not None,
        "result_page": page,
        "result_pages": PAGES,
        "not_judged": state.run is not None and state.run.summary.get("judgments") == 0,
        "needs_judgments": page in OF_JUDGMENTS,
        "section": "results",
        "form": AnalysisForm(),
        "may_analyse": request.study_role >= Role.EDITOR,  # type: ignore[attr-defined]
    }


def done_run(request: HttpRequest, study: Study) -> tuple[Run, bool]:
    """Return the run whose table or chart is asked for, and whether it was named: then the answer never changes."""
    runs = Run.objects.filter(study=study, state=RunState.DONE)
    if (key := _key(request)) is not None:
        of_kind = Q(kind__in=(analysing.KIND, working.KIND, UPDATE)) | Q(kind__startswith=PREFIX)
        return get_object_or_404(runs.select_related("study"), of_kind, key=key), True
    latest = runs.filter(kind=analysing.KIND).newest_first().first()
    if latest is None:
        raise Http404("This study has no finished analysis yet.")
    return latest, False


def _key(request: HttpRequest) -> uuid.UUID | None:
    given = request.GET.get("run")
    try:
        return uuid.UUID(given) if given else None
    except ValueError:
        raise Http404("This is not the key of a run.") from None
