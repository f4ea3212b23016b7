"""Storage of responses with their statements and citations."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction

from analysis.text import statements
from crowdrag.studies.enums import ParticipantKind
from crowdrag.studies.models import Participant, Study

from ..enums import LONGEST_TEXT, Origin
from ..models import Citation, Response, RetrievedPassage, Statement, Style, Topic, WritingTask
from . import versions
from .imports import bulk
from .imports.problems import Problems

# A citation by rank, or by passage ID.
Cited = int | str
Part = tuple[str, tuple[Cited, ...]]

#: The count of citations that are left out because the question does not have the passage.
UNMATCHED = "citations_that_match_no_passage"

ORIGINS = {
    ParticipantKind.CROWD: Origin.HUMAN,
    ParticipantKind.EXPERT: Origin.HUMAN,
    ParticipantKind.MODEL: Origin.MODEL,
    ParticipantKind.SYSTEM: Origin.SYSTEM,
}


@dataclass(frozen=True, slots=True)
class ResponseInput:
    """A response to store: a text with citation markers, or parts with citations (then `text` is None)."""

    external_id: str
    topic: str
    style: str
    kind: ParticipantKind
    participant: str
    text: str | None = None
    parts: tuple[Part, ...] = ()
    submitted_at: datetime | None = None
    task: WritingTask | None = None
    file: str = ""
    line: int = 0


@dataclass
class _Shelf:
    """The rows of a study to which its responses refer."""

    topics: dict[str, Topic]
    styles: dict[str, Style]
    people: dict[bulk.Person, Participant]
    ranks: dict[int, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    passages: dict[int, dict[str, int]] = field(default_factory=lambda: defaultdict(dict))


@transaction.atomic
def submit(
    *,
    study: Study,
    topic: Topic,
    style: Style,
    participant: Participant,
    external_id: str,
    text: str,
    task: WritingTask | None = None,
    now: datetime,
) -> Response:
    """Store one response, split into statements with citations."""
    ranks = dict(RetrievedPassage.objects.filter(topic=topic).values_list("rank", "id"))
    parsed = statements.parse(text, passages=len(ranks))
    response = _row(study, topic, style, participant, external_id, parsed, submitted_at=now, task=task, now=now)
    response.save(force_insert=True)
    _store_statements([(response, parsed)], {topic.pk: ranks})
    return response


@transaction.atomic
def store(*, study: Study, responses: Sequence[ResponseInput], problems: Problems, now: datetime) -> dict[str, int]:
    """Store responses and count the new rows. Skip responses that are already stored with the same content.

    Raises
    ------
    BadInput
        If a response refers to something that does not exist, or is already in the study with another text.
    """
    bulk.lock_imports(study)
    shelf = _shelf(study, responses, now)
    existing = _existing(study, [response.external_id for response in responses])
    new: list[tuple[Response, statements.ParsedResponse]] = []
    unchanged = 0
    for response in responses:
        if not _refers_to_what_is_there(response, shelf, problems):
            continue
        topic = shelf.topics[response.topic]
        parsed = _parsed(response, shelf.passages[topic.pk])
        if (known := existing.get(response.external_id)) is not None:
            unchanged += _is_the_same(response, parsed.text, known, problems)
            continue
        participant = shelf.people[response.kind, response.participant]
        row = _row(
            study,
            topic,
            shelf.styles[response.style],
            participant,
            response.external_id,
            parsed,
            submitted_at=response.submitted_at,
            task=response.task,
            now=now,
        )
        new.append((row, parsed))
        if len(parsed.text) > LONGEST_TEXT:
            message = f"the text has {len(parsed.text)} characters"
            expected = f"at most {LONGEST_TEXT} characters"
            problems.add(file=response.file, line=response.line, field="text", expected=expected, message=message)
    problems.refuse_any()
    Response.objects.bulk_create([row for row, _ in new], batch_size=bulk.BATCH)
    _store_statements(new, shelf.ranks)
    dropped = sum(parsed.dropped for _, parsed in new)
    return {"responses": len(new), "responses_unchanged": unchanged, UNMATCHED: dropped}


def _shelf(study: Study, responses: Sequence[ResponseInput], now: datetime) -> _Shelf:
    topics = {}
    for batch in bulk.batches({response.topic for response in responses}):
        known_topics = Topic.objects.filter(study=study, external_id__in=batch).order_by("version", "id")
        topics.update({topic.external_id: topic for topic in known_topics})
    shelf = _Shelf(
        topics=topics,
        styles=versions.ensure_styles(study=study, names=[response.style for response in responses], now=now),
        people=bulk.ensure_participants(
            study=study, people=[(response.kind, response.participant) for response in responses], now=now
        ),
    )
    for pks in bulk.batches([topic.pk for topic in topics.values()]):
        retrieved = RetrievedPassage.objects.filter(topic__in=pks).order_by("id")
        for topic_id, rank, pk, external_id in retrieved.values_list("topic_id", "rank", "id", "passage__external_id"):
            shelf.ranks[topic_id][rank] = pk
            shelf.passages[topic_id][external_id] = rank
    return shelf


def _existing(study: Study, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    existing: dict[str, dict[str, Any]] = {}
    fields = (
        "external_id",
        "text",
        "topic__external_id",
        "style__name",
        "participant__kind",
        "participant__external_id",
    )
    for batch in bulk.batches(ids):
        rows = Response.objects.filter(study=study, external_id__in=batch).order_by("id")
        existing |= {row["external_id"]: row for row in rows.values(*fields, "erased_at")}
    return existing


def _refers_to_what_is_there(response: ResponseInput, shelf: _Shelf, problems: Problems) -> bool:
    fine = True
    if response.topic not in shelf.topics:
        message = f"there is no topic {response.topic} in this study or this import"
        problems.set_aside(
            file=response.file, line=response.line, field="topic", expected="a topic of the study", message=message
        )
        fine = False
    if response.style not in shelf.styles:
        expected = "one of " + ", ".join(sorted({*shelf.styles, *versions.DEFAULT_STYLES}))
        message = f"there is no style {response.style} in this study"
        problems.set_aside(file=response.file, line=response.line, field="style", expected=expected, message=message)
        fine = False
    return fine


def _is_the_same(response: ResponseInput, text: str, known: Mapping[str, Any], problems: Problems) -> bool:
    if known["erased_at"] is not None:
        return True  # Erased on request: an import must not restore it.
    pairs = {
        "text": (text, known["text"]),
        "topic": (response.topic, known["topic__external_id"]),
        "style": (response.style, known["style__name"]),
        "participant": (
            (response.kind, response.participant),
            (known["participant__kind"], known["participant__external_id"]),
        ),
    }
    different = [name for name, (here, stored) in pairs.items() if here != stored]
    for name in different:
        message = f"response {response.external_id} is in the study already, with another {name}"
        expected = "the same again, or another id: a revision is another response"
        problems.add(file=response.file, line=response.line, field=name, expected=expected, message=message)
    return not different


def _parsed(response: ResponseInput, passages: Mapping[str, int]) -> statements.ParsedResponse:
    if response.text is not None:
        return statements.parse(response.text, passages=len(passages))
    parts = [(text, [_rank(cited, passages) for cited in citations]) for text, citations in response.parts]
    return statements.compose(parts, passages=len(passages))


def _rank(cited: Cited, passages: Mapping[str, int]) -> int:
    """Return the rank of the cited passage, or -1 (never a valid rank) if the topic does not have this passage."""
    return cited if isinstance(cited, int) else passages.get(cited, -1)


def _row(
    study: Study,
    topic: Topic,
    style: Style,
    participant: Participant,
    external_id: str,
    parsed: statements.ParsedResponse,
    *,
    submitted_at: datetime | None,
    task: WritingTask | None,
    now: datetime,
) -> Response:
    return Response(
        study=study,
        external_id=external_id,
        topic=topic,
        style=style,
        participant=participant,
        origin=ORIGINS[ParticipantKind(participant.kind)],
        task=task,
        text=parsed.text,
        words=parsed.words,
        dropped_citations=parsed.dropped,
        submitted_at=submitted_at,
        created_at=now,
    )


def _store_statements(
    stored: Iterable[tuple[Response, statements.ParsedResponse]], ranks: Mapping[int, Mapping[int, int]]
) -> None:
    """Store the statements of responses that are already saved; `ranks` maps topic to rank to retrieved passage."""
    spans = [(response, n, span) for response, parsed in stored for n, span in enumerate(parsed.statements)]
    rows = Statement.objects.bulk_create(
        [
            Statement(response=response, position=n, start=span.start, end=span.end, closing=span.closing)
            for response, n, span in spans
        ],
        batch_size=bulk.BATCH,
    )
    Citation.objects.bulk_create(
        [
            Citation(statement=row, retrieved_id=ranks[response.topic_id][rank])
            for row, (response, _, span) in zip(rows, spans, strict=True)
            for rank in span.citations
        ],
        batch_size=bulk.BATCH,
    )
