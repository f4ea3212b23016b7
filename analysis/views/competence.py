"""Pages about those who judged."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from crowdrag.studies.access import audit_subject, audited, study_page
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Participant, Study

from ..domain.pages import competence
from . import shared


@study_page(Role.VIEWER)
@require_safe
@audited(AuditedContent.PEOPLE)
def participants(request: HttpRequest, study: Study) -> HttpResponse:
    """Show how far each participant can be trusted."""
    state = shared.state_of(request, study, live=True)
    found = competence.participants(
        study,
        state,
        text=request.GET.get("text", "").strip(),
        sort=request.GET.get("sort", "-mean"),
        page=request.GET.get("page"),
    )
    return render(request, "analysis/competence.html", shared.context(request, state, "competence") | found)


@study_page(Role.VIEWER)
@require_safe
@audited(AuditedContent.ANSWERS)
def participant(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """Show what one participant answered."""
    person = get_object_or_404(Participant, study=study, pk=pk)
    audit_subject(request, person)
    state = shared.state_of(request, study, live=True)
    context = shared.context(request, state, "competence") | {"person": person}
    return render(request, "analysis/participant.html", context | competence.participant(study, state, person))
