"""The first page of results, and the button that makes new ones."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from crowdrag.studies.access import study_page
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study

from ..domain import analysing
from ..domain.pages import overview
from ..domain.results.settings import BadParameterError
from ..forms import AnalysisForm
from . import shared


@study_page(Role.VIEWER)
@require_safe
def results(request: HttpRequest, study: Study) -> HttpResponse:
    """Show key figures and agreement."""
    return _page(request, study)


@study_page(Role.EDITOR)
@require_POST
def analyse(request: HttpRequest, study: Study) -> HttpResponse:
    """Start an analysis, and go and see how it gets on."""
    form = AnalysisForm(request.POST)
    if not form.is_valid():
        return _page(request, study, refused=form)
    try:
        run = analysing.start(
            study=study,
            by=request.user,  # type: ignore[arg-type]
            seed=form.seed_given(),
            parameters=form.parameters(),
        )
    except BadParameterError as error:
        form.add_error(None, str(error))
        return _page(request, study, refused=form)
    except analysing.NothingToAnalyseError as error:
        messages.error(request, str(error))
        return redirect("results", slug=study.slug)
    return redirect("run", slug=study.slug, key=run.key)


def _page(request: HttpRequest, study: Study, refused: AnalysisForm | None = None) -> HttpResponse:
    """The first page of results; with the form that was refused, what was typed and why, where there is one."""
    state = shared.state_of(request, study, live=True)
    context = shared.context(request, state, "results") | overview.overview(study, state)
    if refused is not None:
        context["form"] = refused
        if state.run is None:  # the form stands beside results
            messages.error(request, " ".join(str(error) for errors in refused.errors.values() for error in errors))
    return render(request, "analysis/overview.html", context, status=200 if refused is None else 422)
