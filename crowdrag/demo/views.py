"""The action that copies sample data into an empty study."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from crowdrag.studies.access import study_page
from crowdrag.studies.enums import Role
from crowdrag.studies.models import Study

from . import sample


@study_page(Role.EDITOR)
@require_POST
def copy_sample(request: HttpRequest, study: Study) -> HttpResponse:
    """Copy the sample data into the study."""
    try:
        run = sample.start(study=study, by=request.user)  # type: ignore[arg-type] # study_page requires sign-in
    except sample.StudyNotEmptyError as error:
        messages.error(request, str(error))
        return redirect("study", slug=study.slug)
    return redirect("run", study.slug, run.key)
