"""The answers of a study in a format of RAG evaluation: a file for each system, the topics, and the passages."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, cast

from django.db.models import Prefetch, QuerySet

from analysis.text import statements
from crowdrag.jobs.kinds import Work
from writing.corpus import queries as corpus_queries
from writing.corpus.formats import conversion, format_registry
from writing.corpus.formats.format_registry import Format
from writing.corpus.formats.values import Citation, Document, Part, Report, Request, Sentence, contents
from writing.corpus.models import ResponseQuerySet
from writing.models import Passage, Response, RetrievedPassage, Topic

from ..crowdrag25 import inclusion
from ..crowdrag25.inclusion import ExclusionCounts
from .writer import Package

SCHEMA_VERSION = 1
#: The formats of topics and passages beside the answers.
TOPICS, PASSAGES = "autojudge-requests", "autojudge-documents"
_SAFE = re.compile(r"[^A-Za-z0-9._-]+")


def write(package: Package, work: Work, *, format_: Format) -> dict[str, Any]:
    """Write the answers that count and that people agreed to release; return the content of the manifest."""
    study = work.run.study
    left_out = ExclusionCounts()
    topics = inclusion.topics(study, ExclusionCounts())
    responses = inclusion.responses(study, left_out)
    total, done = responses.count(), 0
    lost: Counter[str] = Counter()
    systems: dict[str, str] = {}
    for number, (system, of_system) in enumerate(_by_system(responses), 1):
        path = f"answers/{_file_name(system, number)}{format_.suffix}"
        reports = [_report(response, system) for response in of_system]
        shown = reports if Part.SENTENCES in format_.holds else _as_texts(reports, of_system, format_)
        systems[path] = system
        lost.update(conversion.losses(reports, format_, format_))
        package.file(path, format_.write(contents(shown)), len(reports))
        done += len(reports)
        work.report(done, total, f"{done:,} of {total:,} answers")
    _write_topics(package, topics)
    _write_passages(package, topics)
    for part, count in lost.items():
        left_out.add(f"{part}: the format has no place for them", count)
    return {
        "format": format_.name,
        "schema_version": SCHEMA_VERSION,
        "source": format_.source,
        "systems": systems,
        "left_out": left_out.as_json(),
    }


def _by_system(responses: "QuerySet[Response]") -> Iterator[tuple[str, list[Response]]]:
    """Yield each system with its responses. Responses in another style than its first are a system of their own."""
    passages = RetrievedPassage.objects.select_related("passage").order_by("rank", "id")
    rows = corpus_queries.with_statements(
        cast("ResponseQuerySet", responses.select_related("topic", "style", "participant", "study"))
    ).prefetch_related(Prefetch("topic__retrieved", passages))
    groups: dict[tuple[str, str, str], list[Response]] = {}
    for response in rows.order_by("participant__kind", "participant__external_id", "style__name", "topic_id", "id"):
        person = response.participant
        groups.setdefault((person.kind, person.external_id, response.style.name), []).append(response)
    styles = Counter(key[:2] for key in groups)
    names: Counter[str] = Counter()
    for (kind, external_id, style), group in groups.items():
        name = external_id if styles[kind, external_id] == 1 else f"{external_id}-{style}"
        names[name] += 1
        yield (name if names[name] == 1 else f"{name}-{kind}"), group


def _file_name(system: str, number: int) -> str:
    """Return a name for a file that every system can store; it is unique by its number if it had to be changed."""
    safe = _SAFE.sub("_", system)[:100].strip(".") or "system"
    return safe if safe == system else f"{safe}-{number}"


def _report(response: Response, system: str) -> Report:
    retrieved = list(response.topic.retrieved.all())
    names = {each.pk: each.passage.external_id for each in retrieved}
    sentences = tuple(
        Sentence(
            statements.readable(response.text[each.start : each.end], each.closing),
            tuple(Citation(names[citation.retrieved_id]) for citation in each.citations.all()),
        )
        for each in response.statements.all()
    )
    return Report(
        topic=response.topic.external_id,
        run=system,
        sentences=sentences,
        query=response.topic.query,
        team=response.study.slug,
        references=tuple(names.values()),
        documents=tuple(_document(each.passage) for each in retrieved),
    )


def _as_texts(reports: list[Report], responses: list[Response], format_: Format) -> list[Report]:
    """Return reports with the texts of their responses, without markers if the format has no citations."""
    texts = [response.text for response in responses]
    if Part.CITATIONS not in format_.holds:
        texts = list(map(statements.without_markers, texts))
    return [replace(report, sentences=None, text=text) for report, text in zip(reports, texts, strict=True)]


def _document(passage: Passage) -> Document:
    return Document(passage.external_id, passage.text, passage.title or None, passage.url or None)


def _write_topics(package: Package, topics: "QuerySet[Topic]") -> None:
    requests = [
        Request(topic.external_id, topic.query, {"problem_statement": topic.narrative} if topic.narrative else {})
        for topic in topics
    ]
    writer = format_registry.get(TOPICS)
    package.file(f"topics{writer.suffix}", writer.write(contents(requests)), len(requests))


def _write_passages(package: Package, topics: "QuerySet[Topic]") -> None:
    passages = Passage.objects.filter(retrieved__topic__in=topics.values("id")).distinct().order_by("external_id", "id")
    documents = [_document(passage) for passage in passages]
    writer = format_registry.get(PASSAGES)
    package.file(f"passages{writer.suffix}", writer.write(contents(documents)), len(documents))
