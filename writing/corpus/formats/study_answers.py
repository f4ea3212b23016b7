"""Answers of files as topics with passages and responses of a study.

One import may read several files: the answers of several systems, and the topics and passages that they refer to. The
passages of a topic are those of all its answers, each once, in the order of the files.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from django.db import transaction

from analysis.text import statements
from crowdrag.studies.enums import ParticipantKind
from crowdrag.studies.models import Study

from ...models import RetrievedPassage, Topic
from .. import responses
from ..imports import bulk, csv_files, json_lines, response_files, topic_files
from ..imports.fields import MAX_ID, AddressedIdentifier, Field, Identifier, Mismatch, Text
from ..imports.importers import NOT_ADDED, Stored
from ..imports.problems import Effect, Problems
from ..imports.sources import Member, is_hidden
from ..imports.topic_files import MAX_PASSAGES, PassageInput, TopicInput
from ..responses import ResponseInput
from . import conversion, huggingface
from .format_registry import FORMATS, Format, UnknownFormatError, get, of_content, recognise
from .values import Content, Document, Report, Request

#: Files of an export or a data set beside the answers.
IGNORED: Final = huggingface.METADATA_FILES | {"manifest.json"}
_IGNORED_SUFFIXES: Final = (".md", ".lock")
#: The names of a topic's other texts, which become its narrative.
_NARRATIVES: Final = ("problem_statement", "background", "narrative", "description")


@dataclass(frozen=True)
class ReadOptions:
    """How answers are read.

    Attributes
    ----------
    format
        The name of the answers' format; recognised if empty.
    system
        The name of the system of answers that name none; by default the file's name.
    columns
        The column of each role of a Hugging Face data set.
    from_one
        Whether markers in texts count from 1 where the format does not say.
    """

    format: str = ""
    system: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    style: str = response_files.DEFAULT_STYLE
    from_one: bool = False


@dataclass(frozen=True)
class Answer:
    """A response to store. Markers of its text count `passages` from `first_marker`, if it has passages of its own."""

    response: ResponseInput
    passages: tuple[str, ...] = ()
    first_marker: int = 0


@dataclass
class Answers:
    """The content of the files: topics, responses, the format of each file, and the faults of single rows."""

    problems: Problems
    topics: list[TopicInput] = field(default_factory=list)
    responses: list[Answer] = field(default_factory=list)
    formats: dict[str, str] = field(default_factory=dict)


def parse_columns(text: str) -> dict[str, str]:
    """Return the column of each role from `query=question, answer=output`.

    Raises
    ------
    ValueError
        If a part has no `=`, or a role does not exist.
    """
    columns = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        role, equals, column = (piece.strip() for piece in part.partition("="))
        if not equals or not column or role not in huggingface.ROLES:
            roles = ", ".join(huggingface.ROLES)
            msg = f"“{part}” is not a role and its column. Roles: {roles}. Example: query=question"
            raise ValueError(msg)
        columns[role] = column
    return columns


def read(
    members: Sequence[Member],
    problems: Problems,
    *,
    options: ReadOptions,
    report: json_lines.Report = json_lines.no_report,
) -> Answers:
    """Read answers with their topics and passages without the database.

    Raises
    ------
    BadInput
        If a file cannot be read, or none holds answers.
    """
    collected = _Collected(Answers(problems), options)
    for member in members:
        if not is_ignored(member.name):
            collected.add(member, report)
    problems.refuse_any()
    if not collected.reports:
        faults = sum(problems.rows(Effect.SET_ASIDE).values())
        message = f"none of {faults} rows can be used" if faults else "there are no answers in the files"
        if faults and problems.faults:
            message += f"; the first: {problems.faults[0][0]}"
        names = ", ".join(each.name for each in of_content(Content.REPORTS))
        problems.add(file=", ".join(m.name for m in members[:5]), expected=f"answers ({names})", message=message)
        problems.refuse_any()
    return collected.finish()


def is_ignored(name: str) -> bool:
    """Return whether a file of an archive or folder holds no data: a manifest, a description, a system's file."""
    base = name.rpartition("/")[2]
    return is_hidden(name) or base in IGNORED or base.lower().endswith(_IGNORED_SUFFIXES)


@dataclass(frozen=True)
class _Row:
    """A report with its file and line."""

    file: str
    line: int
    report: Report


class _Collected:
    """The values of several files, put together."""

    def __init__(self, answers: Answers, options: ReadOptions) -> None:
        self._answers, self._options = answers, options
        self.problems = answers.problems
        self.reports: list[_Row] = []
        self._requests: dict[str, Request] = {}
        self._documents: dict[str, Document] = {}

    def add(self, member: Member, report: json_lines.Report) -> None:
        """Read a file of answers, topics or passages."""
        try:
            format_, contents = conversion.read(
                member, self.problems, format_=self._forced(member), columns=self._columns(member)
            )
        except UnknownFormatError as error:
            self.problems.add(file=member.name, expected="a known format", message=str(error))
            return
        report(1, 1, member.name)
        self._answers.formats[member.name] = format_.name
        if format_.content == Content.REPORTS:
            name = self._options.system or member.stem
            for row in contents.rows:
                value = row.value if row.value.run else replace(row.value, run=name)
                self.reports.append(_Row(member.name, row.line, value))
        elif format_.content == Content.TOPICS:
            self._requests |= {request.topic: request for request in contents.values}
        elif format_.content == Content.PASSAGES:
            for document in contents.values:
                self._documents.setdefault(document.id, document)
        else:
            message = f"holds {format_.content} ({format_.name}). crowdrag convert reads it."
            self.problems.add(file=member.name, expected="answers, topics or passages", message=message)

    def _recognised(self, member: Member) -> Format | None:
        try:
            return recognise(member)
        except UnknownFormatError:
            return None

    def _forced(self, member: Member) -> Format | None:
        """Return the chosen format, unless the file clearly holds topics or passages."""
        if not self._options.format:
            return None
        other = self._recognised(member)
        return other if other and other.content in (Content.TOPICS, Content.PASSAGES) else get(self._options.format)

    def _columns(self, member: Member) -> Mapping[str, str] | None:
        if not self._options.columns:
            return None
        other = self._recognised(member)
        return None if other and other.content == Content.TOPICS else self._options.columns

    def finish(self) -> Answers:
        """Return topics and responses."""
        rows = [row for row in map(self._checked, self.reports) if row is not None]
        lists: dict[str, dict[str, PassageInput]] = {}
        for row in rows:
            passages = lists.setdefault(row.report.topic, {})
            for document in self._documents_of(row.report):
                self._add_passage(passages, document, row)
        self._answers.topics = self._topics(rows, lists)
        answers: dict[str, Answer] = {}
        for row in rows:
            answer = self._answer(row)
            first = answers.setdefault(answer.response.external_id, answer)
            if first is not answer:
                what = f"the answer of {row.report.run} to topic {row.report.topic}"
                message = f"{what} is in {first.response.file}, line {first.response.line} already"
                self._set_aside(row, Mismatch("each answer once", message, "topic"))
        self._answers.responses = list(answers.values())
        return self._answers

    def _checked(self, row: _Row) -> _Row | None:
        """Return a row whose names a study can store; a topic without an ID gets one from its query."""
        report = row.report
        if not report.topic and not report.query.strip():
            self._set_aside(row, Mismatch("a topic's ID or its query", "has neither", "topic"))
            return None
        report = replace(report, topic=report.topic or csv_files.topic_id(report.query))
        checks: tuple[tuple[str, Field, Any], ...] = (
            ("topic", AddressedIdentifier(), report.topic),
            ("system", Identifier(MAX_ID), report.run.strip()),
            ("text", Text(), report.text if report.sentences is None else " ".join(s.text for s in report.sentences)),
        )
        for name, check, value in checks:
            try:
                check.clean(value)
            except Mismatch as mismatch:
                self._set_aside(row, Mismatch(mismatch.expected, mismatch.message, name))
                return None
        return replace(row, report=replace(report, run=report.run.strip()))

    def _documents_of(self, report: Report) -> list[Document]:
        """Return the passages of a report: its own, then those that it refers to and that another file has."""
        documents = [replace(each, id=each.id or csv_files.passage_id(each.text)) for each in report.documents or ()]
        names = {each.id for each in documents}
        referred = [*(report.references or ())]
        referred += [c.passage for sentence in report.sentences or () for c in sentence.citations or ()]
        others = [self._documents[name] for name in dict.fromkeys(referred) if name in self._documents]
        return [*documents, *(each for each in others if each.id not in names)]

    def _add_passage(self, passages: dict[str, PassageInput], document: Document, row: _Row) -> None:
        passage = PassageInput(document.id, document.text, document.title or "", document.url or "")
        try:
            Text().clean(passage.text)
        except Mismatch as mismatch:
            self._incomplete(row, "passages", mismatch.expected, f"passage {passage.external_id} {mismatch.message}")
            return
        if len(passages) >= MAX_PASSAGES and passage.external_id not in passages:
            expected = f"at most {MAX_PASSAGES} passages a topic"
            self._incomplete(row, "passages", expected, f"passage {passage.external_id} is left out")
            return
        first = passages.setdefault(passage.external_id, passage)
        if first.text != passage.text:
            message = f"passage {passage.external_id} has another text than before; the first one is used"
            self._incomplete(row, "passages", "one text per passage", message)

    def _topics(self, rows: Iterable[_Row], lists: Mapping[str, Mapping[str, PassageInput]]) -> list[TopicInput]:
        """Return the topics whose query is in a file; the study must have the others."""
        topics: dict[str, TopicInput] = {}
        for row in rows:
            topic = row.report.topic
            request = self._requests.get(topic)
            query = request.query if request else row.report.query
            if topic in topics or not query.strip():
                continue
            narrative = _narrative(request) if request else ""
            topics[topic] = TopicInput(topic, query, tuple(lists[topic].values()), narrative, row.file, row.line)
        return list(topics.values())

    def _answer(self, row: _Row) -> Answer:
        report, style = row.report, self._options.style
        sentences = report.sentences or ()
        response = ResponseInput(
            external_id=response_files.response_id(ParticipantKind.SYSTEM, report.run, report.topic, style),
            topic=report.topic,
            style=style,
            kind=ParticipantKind.SYSTEM,
            participant=report.run,
            text=report.text if report.sentences is None else None,
            parts=tuple((each.text, tuple(c.passage for c in each.citations or ())) for each in sentences),
            file=row.file,
            line=row.line,
        )
        passages = tuple(each.id or csv_files.passage_id(each.text) for each in report.documents or ())
        return Answer(response, passages, report.first_marker or int(self._options.from_one))

    def _set_aside(self, row: _Row, mismatch: Mismatch) -> None:
        self.problems.set_aside(
            file=row.file, line=row.line, field=mismatch.path, expected=mismatch.expected, message=mismatch.message
        )

    def _incomplete(self, row: _Row, field_: str, expected: str, message: str) -> None:
        self.problems.incomplete(file=row.file, line=row.line, field=field_, expected=expected, message=message)


def _narrative(request: Request) -> str:
    texts = [request.extra.get(name) for name in _NARRATIVES]
    return "\n\n".join(text for text in texts if isinstance(text, str) and text.strip() and text != request.query)


@transaction.atomic
def store(*, study: Study, answers: Answers, now: datetime) -> Stored:
    """Store topics and responses; equal rows stay as they are. A topic of the study keeps its query and its passages.

    Raises
    ------
    BadInput
        If a response is already in the study with another text.
    """
    problems = answers.problems.copied()
    topics, renamed = csv_files.with_known_ids(study, answers.topics)
    known = Topic.objects.filter(study=study, external_id__in=[topic.external_id for topic in topics]).current()
    known_ids = set(known.values_list("external_id", flat=True))
    fresh = [topic for topic in topics if topic.external_id not in known_ids]
    counts = topic_files.store(study=study, topics=fresh, now=now)
    counts["topics_unchanged"] += len(topics) - len(fresh)
    counts |= {NOT_ADDED: _missing_passages(study, topics, known_ids)}
    inputs, dropped = _as_stored(study, [_renamed(answer, renamed) for answer in answers.responses])
    counts |= responses.store(study=study, responses=inputs, problems=problems, now=now)
    counts[responses.UNMATCHED] += dropped if counts["responses"] else 0
    faults = {"set_aside": problems.rows(Effect.SET_ASIDE), "incomplete": problems.rows(Effect.INCOMPLETE)}
    return Stored({"made": counts, **faults, "formats": answers.formats}, problems.faults_as_rows())


def _renamed(answer: Answer, ids: Mapping[str, str]) -> Answer:
    """Return an answer to a topic that has another ID in the study."""
    response = answer.response
    if (topic := ids.get(response.topic, response.topic)) == response.topic:
        return answer
    external_id = response_files.response_id(response.kind, response.participant, topic, response.style)
    return replace(answer, response=replace(response, topic=topic, external_id=external_id))


def _as_stored(study: Study, answers: Sequence[Answer]) -> tuple[list[ResponseInput], int]:
    """Return the responses with markers that count the study's passages, and how many citations match no passage."""
    topics = Topic.objects.filter(study=study).current()
    ranks: dict[str, dict[str, int]] = defaultdict(dict)
    for names in bulk.batches({answer.response.topic for answer in answers if answer.passages}):
        rows = RetrievedPassage.objects.filter(topic__in=topics.filter(external_id__in=names))
        for topic, passage, rank in rows.values_list("topic__external_id", "passage__external_id", "rank"):
            ranks[topic][passage] = rank
    stored, dropped = [], 0
    for answer in answers:
        text = answer.response.text
        if text is not None:
            text, lost = with_ranks(text, answer.passages, answer.first_marker, ranks[answer.response.topic])
            dropped += lost
        stored.append(replace(answer.response, text=text))
    return stored, dropped


def with_ranks(text: str, passages: Sequence[str], first: int, ranks: Mapping[str, int]) -> tuple[str, int]:
    """Return a text whose markers count the passages of its topic, and how many citations match none of them.

    Parameters
    ----------
    text
        The text; its markers count `passages` from `first`. Without passages they count the topic's.
    passages
        IDs of the answer's own passages.
    first
        0 or 1.
    ranks
        The rank of each passage of the topic, from 0.
    """
    if not passages:
        return (statements.shift_markers(text, -first) if first else text), 0
    parsed = statements.parse(text, passages=len(passages) + first)
    pieces: list[str] = []
    position, dropped = 0, parsed.dropped
    for span in parsed.statements:
        if span.marker_start == span.marker_end:
            continue
        cited = [ranks[passages[n - first]] for n in span.citations if n >= first and passages[n - first] in ranks]
        dropped += len(span.citations) - len(cited)
        marker = f"[{', '.join(map(str, dict.fromkeys(cited)))}]" if cited else ""
        pieces += [text[position : span.marker_start], marker]
        position = span.marker_end
    return "".join([*pieces, text[position:]]), dropped


def _missing_passages(study: Study, topics: Sequence[TopicInput], known: set[str]) -> int:
    """Count passages that topics of the study do not have. They are not added: other responses refer to the topic."""
    rows = RetrievedPassage.objects.filter(
        topic__in=Topic.objects.filter(study=study, external_id__in=known).current()
    ).values_list("topic__external_id", "passage__external_id")
    stored = set(rows)
    return sum(
        (topic.external_id, passage.external_id) not in stored
        for topic in topics
        if topic.external_id in known
        for passage in topic.passages
    )


def choices() -> list[tuple[str, str]]:
    """Return the formats of answers with their titles, for forms and commands."""
    return [(each.name, each.title) for each in FORMATS if each.content == Content.REPORTS]
