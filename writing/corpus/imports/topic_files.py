"""Topics with their ranked passages."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction

from crowdrag.studies.models import Study

from ...models import Passage, RetrievedPassage, Topic
from . import bulk, json_lines
from .fields import AddressedIdentifier, Identifier, ListOf, Number, Object, Optional, Text
from .problems import Problems
from .sources import Member

MAX_PASSAGES = 1000
PASSAGE_ID = Identifier(300)

OWN = {
    "topic": AddressedIdentifier(),
    "query": Text(),
    "narrative": Optional(Text(blank=True)),
    "passages": ListOf(
        Object(
            {
                "id": PASSAGE_ID,
                "text": Text(),
                "title": Optional(Text(blank=True)),
                "url": Optional(Text(blank=True)),
                "score": Optional(Number()),
            }
        ),
        least=1,
        most=MAX_PASSAGES,
    ),
}
PUBLISHED = {
    "topic": AddressedIdentifier(),
    "query": Text(),
    "references_ids": ListOf(PASSAGE_ID, most=MAX_PASSAGES),
    "references_texts": ListOf(Text(), most=MAX_PASSAGES),
}


@dataclass(frozen=True, slots=True)
class PassageInput:
    """A passage to import."""

    external_id: str
    text: str
    title: str = ""
    url: str = ""
    score: float | None = None

    @property
    def content(self) -> tuple[str, str, str]:
        """The content that determines the version: everything except the score, which belongs to the retrieval."""
        return self.text, self.title, self.url


@dataclass(frozen=True, slots=True)
class TopicInput:
    """A topic to import, with its passages in rank order."""

    external_id: str
    query: str
    passages: tuple[PassageInput, ...]
    narrative: str = ""
    file: str = ""
    line: int = 0

    @property
    def content(self) -> tuple[Any, ...]:
        """The content that determines the version: query, narrative and ranked list."""
        return self.query, self.narrative, tuple((p.external_id, p.content, p.score) for p in self.passages)


def read(member: Member, problems: Problems, *, report: json_lines.Report = json_lines.no_report) -> list[TopicInput]:
    """Read topics from JSON lines: in CrowdRAG's format or that of the published corpus (`study1_retrieval`)."""
    topics = []
    for row in json_lines.records(member, _shape, problems, limits=json_lines.KEPT, report=report):
        passages = published_passages(row, problems) if "references_ids" in row.data else _passages_of_row(row)
        if passages is None:
            continue
        data = row.data
        topics.append(
            TopicInput(data["topic"], data["query"], tuple(passages), data.get("narrative") or "", row.file, row.line)
        )
    return without_duplicates(topics, problems)


def without_duplicates(topics: Iterable[TopicInput], problems: Problems) -> list[TopicInput]:
    """Drop duplicate topics, and topics that repeat a passage or contradict its earlier text; report each."""
    kept: dict[str, TopicInput] = {}
    contents: dict[str, tuple[tuple[str, str, str], int]] = {}
    for topic in topics:
        wrong: list[tuple[str, str, str]] = []
        if (first := kept.get(topic.external_id)) is not None:
            message = f"topic {topic.external_id} is on line {first.line} already"
            wrong.append(("topic", "each topic once", message))
        seen: set[str] = set()
        for rank, passage in enumerate(topic.passages):
            where = f"passages[{rank}]"
            if passage.external_id in seen:
                message = f"passage {passage.external_id} is in this topic's list already"
                wrong.append((where, "each passage once", message))
            seen.add(passage.external_id)
            content, line = contents.get(passage.external_id, (passage.content, topic.line))
            if content != passage.content:
                message = f"passage {passage.external_id} has another text than on line {line}"
                wrong.append((where, "one text per passage", message))
        for field, expected, message in wrong:
            problems.set_aside(file=topic.file, line=topic.line, field=field, expected=expected, message=message)
        if not wrong:
            kept[topic.external_id] = topic
            contents.update({passage.external_id: (passage.content, topic.line) for passage in topic.passages})
    return list(kept.values())


@transaction.atomic
def store(*, study: Study, topics: Sequence[TopicInput], now: datetime) -> dict[str, int]:
    """Store topics and count the new rows. Equal topics are skipped; changed topics and passages get new versions."""
    bulk.lock_imports(study)
    existing = _existing(study, [topic.external_id for topic in topics])
    new = [topic for topic in topics if existing.get(topic.external_id, (0, None))[1] != topic.content]
    passages, passage_count = _ensure_passages(study, new)
    rows = Topic.objects.bulk_create(
        [
            Topic(
                study=study,
                external_id=topic.external_id,
                version=existing.get(topic.external_id, (0, None))[0] + 1,
                query=topic.query,
                narrative=topic.narrative,
                created_at=now,
            )
            for topic in new
        ],
        batch_size=bulk.BATCH,
    )
    RetrievedPassage.objects.bulk_create(
        [
            RetrievedPassage(topic=row, passage_id=passages[passage.external_id], rank=rank, score=passage.score)
            for row, topic in zip(rows, new, strict=True)
            for rank, passage in enumerate(topic.passages)
        ],
        batch_size=bulk.BATCH,
    )
    return {"topics": len(new), "topics_unchanged": len(topics) - len(new), "passages": passage_count}


def _shape(record: dict[str, Any]) -> json_lines.Shape:
    return PUBLISHED if "references_ids" in record or "references_texts" in record else OWN


def _passages_of_row(row: json_lines.Row) -> list[PassageInput]:
    return [
        PassageInput(p["id"], p["text"], p["title"] or "", p["url"] or "", p["score"]) for p in row.data["passages"]
    ]


def published_passages(row: json_lines.Row, problems: Problems) -> list[PassageInput] | None:
    """Return the passages of a record in the published corpus's format, or None if they are invalid."""
    ids, texts = row.data["references_ids"], row.data["references_texts"]
    if len(ids) != len(texts):
        expected = f"{len(ids)} texts, one for each of references_ids"
        problems.set_aside(
            file=row.file, line=row.line, field="references_texts", expected=expected, message=f"has {len(texts)}"
        )
        return None
    return [PassageInput(id_, text) for id_, text in zip(ids, texts, strict=True)]


def _existing(study: Study, ids: Sequence[str]) -> dict[str, tuple[int, tuple[Any, ...]]]:
    """Return version and content of each topic's latest version."""
    topics = {}
    for batch in bulk.batches(ids):
        for topic in Topic.objects.filter(study=study, external_id__in=batch).order_by("version", "id"):
            topics[topic.external_id] = topic
    lists: dict[int, list[tuple[str, tuple[str, str, str], float | None]]] = defaultdict(list)
    for pks in bulk.batches([topic.pk for topic in topics.values()], 500):
        retrieved = RetrievedPassage.objects.filter(topic__in=pks).order_by("topic", "rank", "id")
        fields = ("topic_id", "passage__external_id", "passage__text", "passage__title", "passage__url", "score")
        for topic_id, external_id, text, title, url, score in retrieved.values_list(*fields):
            lists[topic_id].append((external_id, (text, title, url), score))
    return {
        topic.external_id: (topic.version, (topic.query, topic.narrative, tuple(lists[topic.pk])))
        for topic in topics.values()
    }


def _ensure_passages(study: Study, topics: Sequence[TopicInput]) -> tuple[dict[str, int], int]:
    """Return the key of each passage in the imported version, and the number of new passages."""
    needed = {passage.external_id: passage for topic in topics for passage in topic.passages}
    known: dict[str, int] = {}
    latest: dict[str, int] = {}
    for batch in bulk.batches(needed, 2000):
        rows = Passage.objects.filter(study=study, external_id__in=batch).order_by("version", "id")
        for row in rows:
            latest[row.external_id] = row.version
            # If an earlier text is imported again, use its old version.
            if (row.text, row.title, row.url) == needed[row.external_id].content:
                known[row.external_id] = row.pk
    missing = [
        Passage(
            study=study,
            external_id=passage.external_id,
            version=latest.get(passage.external_id, 0) + 1,
            text=passage.text,
            title=passage.title,
            url=passage.url,
        )
        for passage in needed.values()
        if passage.external_id not in known
    ]
    for created in Passage.objects.bulk_create(missing, batch_size=bulk.BATCH):
        known[created.external_id] = created.pk
    return known, len(missing)
