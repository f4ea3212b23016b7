"""The button that has BERTScores computed."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from crowdrag.studies.access import study_page
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study

from ..domain.results.settings import BadParameterError
from ..domain.similarity import scoring


@study_page(Role.EDITOR)
@require_POST
def start(request: HttpRequest, study: Study) -> HttpResponse:
    """Start a run that computes what is missing, and go and see how it gets on."""
    try:
        run = scoring.start(study=study, model=request.POST.get("model", ""), by=request.user)  # type: ignore[arg-type]
    except (BadParameterError, scoring.NothingToCompareError) as error:
        messages.error(request, str(error))
        return redirect("reference_metrics", slug=study.slug)
    return redirect("run", slug=study.slug, key=run.key)
