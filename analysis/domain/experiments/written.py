"""A study's own responses as passages by author: whose responses a model prefers (docs/methods/self-preference.md)."""

from __future__ import annotations

from collections import defaultdict

from analysis.rag.self_preference.bank import HUMAN
from analysis.rag.shapes import Collection, Document, Query
from analysis.text.statements import without_markers
from crowdrag.studies.models import Study
from writing.enums import Origin
from writing.models import Response, Topic


def of_responses(study: Study, style: str = "") -> Collection:
    """The study's current topics with the responses to them, by whoever wrote them.

    A response counts that is included and not erased, and in the style where one is named; without its citation
    markers. People are one author, each model is one by the model that it is, whatever it was told, each system by its
    name. Nobody knows a true answer. A topic without two authors is left out and counted.
    """
    rows = Response.objects.filter(study=study, erased_at__isnull=True).included()
    rows = rows.filter(style__name=style) if style else rows
    documents: dict[str, list[Document]] = defaultdict(list)
    for row in rows.order_by("external_id").select_related("topic", "participant", "style"):
        if text := without_markers(row.text).strip():
            documents[row.topic.external_id].append(
                Document(row.external_id, text, author=_author(row), style=row.style.name)
            )
    topics = list(Topic.objects.filter(study=study).current().order_by("external_id", "pk"))
    queries = tuple(
        Query(topic.external_id, topic.query, (), tuple(documents[topic.external_id]))
        for topic in topics
        if len({each.author for each in documents[topic.external_id]}) > 1
    )
    alone = len(topics) - len(queries)
    return Collection(study.slug, queries, (("fewer than two authors", alone),) if alone else ())


def _author(row: Response) -> str:
    if row.origin == Origin.HUMAN:
        return HUMAN
    return str((row.participant.specification or {}).get("model") or row.participant.external_id)
