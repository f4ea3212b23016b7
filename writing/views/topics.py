"""A study's topics, and one with its passages and responses."""

from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from crowdrag.studies.access import audited, study_page
from crowdrag.studies.enums import AuditedContent, Role
from crowdrag.studies.models import Study

from ..models import Topic

PER_PAGE = 50


@study_page(Role.VIEWER)
def topics(request: HttpRequest, study: Study) -> HttpResponse:
    """List the topics, found by a word of the query or the id."""
    found = Topic.objects.filter(study=study).current().with_counts()
    if query := request.GET.get("q", "").strip():
        found = found.matching(query)
    page = Paginator(found.order_by("external_id", "id"), PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "writing/topics.html", {"page": page, "query": query, "section": "writing"})


@study_page(Role.VIEWER)
@audited(AuditedContent.PEOPLE)
def topic(request: HttpRequest, study: Study, external_id: str) -> HttpResponse:
    """Show a topic, its responses, and its passages in their order."""
    found = get_object_or_404(Topic.objects.filter(study=study).current(), external_id=external_id)
    responses = found.responses.with_people().order_by("style__name", "origin", "id")
    retrieved = found.retrieved.select_related("passage").annotate(cited=Count("citations")).order_by("rank", "id")
    context = {"topic": found, "responses": responses, "retrieved": retrieved, "section": "writing"}
    return render(request, "writing/topic.html", context)
