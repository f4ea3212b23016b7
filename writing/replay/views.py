"""The player's page, and the log that it loads."""

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import cache_control
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_GET

from crowdrag.studies.access import audit_subject, audited, study_page
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Study

from ..corpus import queries
from ..editor import codec
from ..models import Response, WritingLog
from ..review import signal_display
from . import playback


@study_page(Role.REVIEWER)
@audited(AuditedContent.LOG)
def replay(request: HttpRequest, study: Study, external_id: str) -> HttpResponse:
    """Show the player of one response's log."""
    responses = queries.with_statements(Response.objects.filter(study=study).with_people().select_related("task__log"))
    response = get_object_or_404(responses, external_id=external_id)
    log = _log(response)
    audit_subject(request, response.participant, response.pk)
    context = {
        "response": response,
        "retrieved": response.topic.retrieved.select_related("passage").order_by("rank", "id"),
        "signals": signal_display.signals_of_response(log, response),
        "section": "writing",
        **shown(response),
    }
    return render(request, "writing/replay/replay.html", context)


@gzip_page
@study_page(Role.REVIEWER)
@require_GET
@cache_control(private=True, no_cache=True)
@audited(AuditedContent.LOG)
def replay_log(request: HttpRequest, study: Study, external_id: str) -> HttpResponse:
    """Return the log as a JSON document for the player."""
    response = get_object_or_404(
        Response.objects.filter(study=study).select_related("participant", "task__log"), external_id=external_id
    )
    log = _log(response)
    audit_subject(request, response.participant, response.pk)
    passages = signal_display.passage_texts([response.topic_id])[response.topic_id]
    try:
        return JsonResponse(playback.document(log, passages), json_dumps_params={"separators": (",", ":")})
    except codec.BrokenLog as error:
        return JsonResponse({"problem": "broken", "message": str(error)}, status=409)


def shown(response: Response) -> dict[str, object]:
    """Return a response's statements and cited passages for a page."""
    spans = queries.citation_spans(response)
    cited: dict[int, int] = {}
    for rank in (rank for span in spans for rank in span.ranks):
        cited[rank] = cited.get(rank, 0) + 1
    return {"spans": spans, "cited": cited, "uncited": sum(not span.ranks for span in spans)}


def _log(response: Response) -> WritingLog:
    log: WritingLog | None = getattr(response.task, "log", None)
    if log is None:
        raise Http404("This response has no writing log.")
    return log
