"""One response with the passages that it cites."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from crowdrag.studies.access import audit_subject, audited, study_page
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Study

from ..domain import reading
from ..domain.generation import listing
from ..models import Response


@study_page(Role.VIEWER)
@audited(AuditedContent.RESPONSE)
def response(request: HttpRequest, study: Study, external_id: str) -> HttpResponse:
    """Show a response, its statements and citations, and the passages beside it."""
    responses = reading.with_statements(Response.objects.filter(study=study).with_people().select_related("task__log"))
    found = get_object_or_404(responses, external_id=external_id)
    audit_subject(request, found.participant, found.pk)
    spans = reading.cited(found)
    cited = {rank for span in spans for rank in span.ranks}
    retrieved = found.topic.retrieved.select_related("passage").order_by("rank", "id")
    context = {
        "response": found,
        "spans": spans,
        "cited": cited,
        "retrieved": retrieved,
        "log": reading.log_facts(found),
        "may_replay": request.study_role >= Role.REVIEWER,  # type: ignore[attr-defined]
        "model": listing.origins(found),
        "section": "writing",
    }
    return render(request, "writing/response.html", context)
