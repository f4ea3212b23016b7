"""Pages of topics and responses."""

from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from crowdrag.studies.access import audit_subject, audited, study_page
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Study
from crowdrag.ui import remembered_filters

from ..llm_writers import queries as llm_writers_queries
from ..models import Response, Topic
from . import queries as corpus_queries
from .forms import ResponseFilterForm

PER_PAGE = 50
RESPONSE_FILTERS = ("q", "system", "style", "origin", "status", "sort")


@study_page(Role.VIEWER)
def topics(request: HttpRequest, study: Study) -> HttpResponse:
    """List the topics; search by query or ID."""
    topics_shown = Topic.objects.filter(study=study).current().with_counts()
    if query := request.GET.get("q", "").strip():
        topics_shown = topics_shown.matching(query)
    page = Paginator(topics_shown.order_by("external_id", "id"), PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "writing/corpus/topics.html", {"page": page, "query": query, "section": "topics"})


@study_page(Role.VIEWER)
@audited(AuditedContent.PEOPLE)
def topic(request: HttpRequest, study: Study, external_id: str) -> HttpResponse:
    """Show a topic, its responses, and its passages by rank."""
    topic_shown = get_object_or_404(Topic.objects.filter(study=study).current(), external_id=external_id)
    responses = topic_shown.responses.with_people().order_by("style__name", "origin", "id")
    retrieved = (
        topic_shown.retrieved.select_related("passage").annotate(cited=Count("citations")).order_by("rank", "id")
    )
    context = {"topic": topic_shown, "responses": responses, "retrieved": retrieved, "section": "topics"}
    return render(request, "writing/corpus/topic.html", context)


@study_page(Role.VIEWER)
@audited(AuditedContent.PEOPLE)
def responses(request: HttpRequest, study: Study) -> HttpResponse:
    """List the responses with the member's last filters."""
    if (earlier := remembered_filters.restore(request, f"responses-{study.pk}", RESPONSE_FILTERS)) is not None:
        return earlier
    form = ResponseFilterForm(study, request.GET)
    listed = corpus_queries.list_responses(study, form.filters, request.GET.get("sort", ""))
    page = Paginator(listed, PER_PAGE).get_page(request.GET.get("page"))
    rows = list(page.object_list)
    versions = corpus_queries.response_versions(rows)
    context = {
        "page": page,
        "rows": [(row, corpus_queries.status(row), versions[row.pk]) for row in rows],
        "has_versions": any(version > 1 for version in versions.values()),
        "form": form,
        "is_filtered": form.filters != corpus_queries.ResponseFilter(),
        "may_import": request.study_role >= Role.EDITOR,  # type: ignore[attr-defined]
        "section": "responses",
    }
    return render(request, "writing/corpus/responses.html", context)


@study_page(Role.VIEWER)
@audited(AuditedContent.RESPONSE)
def response(request: HttpRequest, study: Study, external_id: str) -> HttpResponse:
    """Show a response with its statements and citations next to the passages."""
    responses = corpus_queries.with_statements(
        Response.objects.filter(study=study).with_people().select_related("task__log")
    )
    response_shown = get_object_or_404(responses, external_id=external_id)
    audit_subject(request, response_shown.participant, response_shown.pk)
    spans = corpus_queries.citation_spans(response_shown)
    cited = {rank for span in spans for rank in span.ranks}
    retrieved = response_shown.topic.retrieved.select_related("passage").order_by("rank", "id")
    context = {
        "response": response_shown,
        "spans": spans,
        "cited": cited,
        "retrieved": retrieved,
        "log": corpus_queries.log_facts(response_shown),
        "may_replay": request.study_role >= Role.REVIEWER,  # type: ignore[attr-defined]
        "model": llm_writers_queries.provenance(response_shown),
        "section": "responses",
    }
    return render(request, "writing/corpus/response.html", context)
