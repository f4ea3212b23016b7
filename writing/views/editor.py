"""The page on which a response is written."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.gzip import gzip_page

from crowdrag.studies.access import consented_page
from crowdrag.studies.models import Participant

from ..domain import editing
from . import wording


@gzip_page  # nothing that the request says is in the answer, its token is masked anew each time: no use to BREACH
@never_cache
@consented_page("writing")
def editor(request: HttpRequest, participant: Participant, task: str) -> HttpResponse:
    """Show the editor, or lead to the step that is due."""
    try:
        desk = editing.desk(participant=participant, task=task)
    except editing.NotDueError:
        return redirect("writing_task", participant.study.slug, task)
    context = {
        "desk": desk,
        "task": desk.task,
        "study": None,
        "project": participant.study,
        "wording": wording.editor(),
    }
    return render(request, "writing/editor.html", context)
