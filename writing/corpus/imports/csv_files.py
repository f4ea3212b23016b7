"""Read questions, passages and systems' responses from a CSV or TSV file with user-assigned column roles.

Two layouts are supported. Wide: one row for each question, and one column of responses for each system, named after
the system. Long: one row for each response, with a column for the system and one for the text.
"""

import csv
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain, islice
from typing import Final

from django.db import models, transaction

from crowdrag.studies.enums import ParticipantKind
from crowdrag.studies.models import Study

from ...models import Topic
from .. import responses as corpus_responses
from ..responses import ResponseInput
from . import json_lines, response_files, topic_files
from .fields import MAX_ID, MAX_STYLE, AddressedIdentifier, Mismatch, Text
from .problems import Problems, quote_value
from .sources import Member
from .topic_files import PassageInput, TopicInput

DELIMITERS: Final = (",", "\t", ";")
MAX_COLUMNS: Final = 200
PREVIEW_ROWS: Final = 5


class ColumnRole(models.TextChoices):
    """The role of a column."""

    IGNORE = "ignore", "Ignore"
    QUESTION = "question", "Question"
    TOPIC = "topic", "Question ID"
    NARRATIVE = "narrative", "Description of the question"
    PASSAGE = "passage", "Passage"
    RESPONSES = "responses", "Responses of the system named in the header"
    TEXT = "text", "Response text"
    SYSTEM = "system", "System name"
    STYLE = "style", "Style"


#: Roles that at most one column can have.
SINGLE: Final = tuple(role for role in ColumnRole if role not in {"ignore", "passage", "responses"})
_GUESSES: Final = {
    ColumnRole.QUESTION: r"question|query|prompt|topic_?text|title",
    ColumnRole.TOPIC: r"topic|(topic|question|query)?_?id|qid|number",
    ColumnRole.NARRATIVE: r"narrative|description|background",
    ColumnRole.PASSAGE: r"(passage|context|source|document|evidence)s?[_ -]?\d*",
    ColumnRole.TEXT: r"response|answer|text|output|completion",
    ColumnRole.SYSTEM: r"system|model|run|run_?id|author",
    ColumnRole.STYLE: r"style|format",
}


class ColumnsError(ValueError):
    """The roles of the columns are inconsistent; the message is shown to users."""


@dataclass(frozen=True)
class CsvPreview:
    """The header and first rows of a file, and the likely role of each column by name."""

    columns: list[str]
    rows: list[list[str]]
    roles: dict[str, ColumnRole]


@dataclass(frozen=True)
class CsvContent:
    """The content of a file: topics (with passages, if any) and responses."""

    topics: list[TopicInput] = field(default_factory=list)
    responses: list[ResponseInput] = field(default_factory=list)


def guess_roles(columns: Sequence[str]) -> dict[str, ColumnRole]:
    """Guess each column's role by its name; if there is no system column, other columns contain responses."""
    roles = dict.fromkeys(columns, ColumnRole.IGNORE)
    for role, pattern in _GUESSES.items():
        for column in columns:
            is_free = roles[column] is ColumnRole.IGNORE and (role not in SINGLE or role not in roles.values())
            if is_free and re.fullmatch(pattern, column.strip().lower()):
                roles[column] = role
    if ColumnRole.SYSTEM not in roles.values():
        # Wide layout: each remaining column (and one called "answer") contains the responses of one system.
        left = {ColumnRole.IGNORE, ColumnRole.TEXT}
        roles = {column: ColumnRole.RESPONSES if role in left else role for column, role in roles.items()}
    return roles


def check_roles(roles: Mapping[str, str]) -> None:
    """Check that the roles determine what to import.

    Raises
    ------
    ColumnsError
    """
    given = list(roles.values())
    for role in SINGLE:
        if given.count(role) > 1:
            raise ColumnsError(f"Choose “{role.label}” for one column only.")
    if ColumnRole.QUESTION not in given and ColumnRole.TOPIC not in given:
        raise ColumnsError("Choose the column of the questions, or of their IDs.")
    if (ColumnRole.TEXT in given) != (ColumnRole.SYSTEM in given):
        raise ColumnsError("“Response text” needs “System name”, and the other way round.")
    if ColumnRole.QUESTION not in given and not {ColumnRole.TEXT, ColumnRole.RESPONSES} & set(given):
        raise ColumnsError("Choose the column of the questions or a column of responses.")


def preview(member: Member, problems: Problems) -> CsvPreview:
    """Return the first rows of a file.

    Raises
    ------
    BadInput
        If it is not a table with a header.
    """
    rows = _rows(member, problems)
    columns = _header(member, next(rows, (0, []))[1], problems)
    first = [_padded(cells, columns) for _line, cells in islice(rows, PREVIEW_ROWS)]
    problems.refuse_any()
    return CsvPreview(columns, first, guess_roles(columns))


def read(
    member: Member,
    problems: Problems,
    *,
    roles: Mapping[str, str] | None = None,
    style: str = response_files.DEFAULT_STYLE,
    report: json_lines.Report = json_lines.no_report,
) -> CsvContent:
    """Read a file with these column roles; by default, with the roles that the names suggest.

    Problems are: a row with neither question nor ID, a question with two IDs, an ID with two questions, and two
    responses of one system to the same question in the same style. Empty responses are skipped.
    """
    rows = _rows(member, problems, report=report)
    columns = _header(member, next(rows, (0, []))[1], problems)
    problems.refuse_any()
    chosen = dict(roles or guess_roles(columns))
    for column in chosen:
        if column not in columns:
            problems.add(
                file=member.name, line=1, field=column, expected="a column of the header", message="is missing"
            )
    try:
        check_roles(chosen)
    except ColumnsError as error:
        problems.add(file=member.name, line=1, message=str(error))
    problems.refuse_any()
    topics: dict[str, TopicInput] = {}
    responses: dict[str, ResponseInput] = {}
    for line, cells in rows:
        if len(cells) > len(columns):
            message = f"has {len(cells)} cells"
            problems.add(file=member.name, line=line, expected=f"at most {len(columns)}", message=message)
            continue
        if not _are_texts(cells, member, line, columns, problems):
            continue
        row = _Row(dict(zip(columns, _padded(cells, columns), strict=True)), chosen, member.name, line)
        if (topic := row.topic(problems)) is None:
            continue
        _add_topic(topics, topic, problems)
        for response in row.responses(topic.external_id, style, problems):
            first = responses.setdefault(response.external_id, response)
            if first is not response:
                message = f"{response.participant} answers this question on line {first.line} already"
                problems.add(file=member.name, line=line, field="response", message=message)
    problems.refuse_any()
    found = list(topics.values()) if ColumnRole.QUESTION in chosen.values() else []
    return CsvContent(topic_files.without_duplicates(found, problems), list(responses.values()))


@transaction.atomic
def store(*, study: Study, content: CsvContent, now: datetime) -> dict[str, int]:
    """Store topics and responses.

    A question that is already in the study keeps its ID, and also its passages unless the file has others.

    Raises
    ------
    BadInput
        If the question of a response is neither in the file nor in the study.
    """
    current = Topic.objects.filter(study=study).current().order_by("pk")
    ids = {query: external_id for external_id, query in current.values_list("external_id", "query")}
    generated_ids = {
        topic.external_id: topic.query for topic in content.topics if topic.external_id == topic_id(topic.query)
    }
    renamed = {generated: ids[query] for generated, query in generated_ids.items() if query in ids}
    topics = [replace(topic, external_id=renamed.get(topic.external_id, topic.external_id)) for topic in content.topics]
    known = set(ids.values())
    fresh = [topic for topic in topics if topic.passages or topic.external_id not in known]
    responses = [replace(response, topic=renamed.get(response.topic, response.topic)) for response in content.responses]
    counts = topic_files.store(study=study, topics=fresh, now=now)
    counts["topics_unchanged"] += len(topics) - len(fresh)
    return counts | corpus_responses.store(study=study, responses=responses, problems=Problems(), now=now)


def topic_id(question: str) -> str:
    """Return an ID for a question that has none: its first words, and part of its digest."""
    words = re.findall(r"[a-z0-9]+", question.lower())[:6]
    return "-".join([*words, hashlib.sha256(question.encode()).hexdigest()[:8]])


def passage_id(text: str) -> str:
    """Return an ID for a passage that has none."""
    return f"passage-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


@dataclass(frozen=True)
class _Row:
    """A row of the file, with the role of each column."""

    cells: Mapping[str, str]
    roles: Mapping[str, str]
    file: str
    line: int

    def one(self, role: ColumnRole) -> str:
        """Return the stripped cell of a role; empty if no column has the role."""
        return next((self.cells[column].strip() for column, each in self.roles.items() if each == role), "")

    def many(self, role: ColumnRole) -> list[tuple[str, str]]:
        """Return the non-empty cells of a role with their columns."""
        cells = ((column, self.cells[column].strip()) for column, each in self.roles.items() if each == role)
        return [(column, cell) for column, cell in cells if cell]

    def topic(self, problems: Problems) -> TopicInput | None:
        """Return this row's question with its passages; None if it has none."""
        question = self.one(ColumnRole.QUESTION)
        external_id = self.one(ColumnRole.TOPIC) or (topic_id(question) if question else "")
        if not external_id:
            problems.add(file=self.file, line=self.line, expected="a question", message="has neither question nor ID")
            return None
        if self._refused("question ID", external_id, problems):
            return None
        texts = dict.fromkeys(text for _column, text in self.many(ColumnRole.PASSAGE))
        passages = tuple(PassageInput(passage_id(text), text) for text in texts)
        narrative = self.one(ColumnRole.NARRATIVE)
        return TopicInput(external_id, question, passages, narrative, self.file, self.line)

    def responses(self, topic: str, default_style: str, problems: Problems) -> Iterator[ResponseInput]:
        """Yield the responses of this row."""
        style = self.one(ColumnRole.STYLE) or default_style
        pairs = self.many(ColumnRole.RESPONSES)
        if text := self.one(ColumnRole.TEXT):
            pairs.append((self.one(ColumnRole.SYSTEM), text))
        for system, text in pairs:
            if not system:
                problems.add(file=self.file, line=self.line, expected="the name of a system", message="has none")
            elif not self._refused("system", system, problems) and not self._refused("style", style, problems):
                kind = ParticipantKind.SYSTEM
                external_id = response_files.response_id(kind, system, topic, style)
                yield ResponseInput(external_id, topic, style, kind, system, text, file=self.file, line=self.line)

    def _refused(self, name: str, value: str, problems: Problems) -> bool:
        try:
            AddressedIdentifier(MAX_STYLE if name == "style" else MAX_ID).clean(value)
        except Mismatch as wrong:
            problems.add(file=self.file, line=self.line, field=name, expected=wrong.expected, message=wrong.message)
            return True
        return False


def _are_texts(cells: Sequence[str], member: Member, line: int, columns: Sequence[str], problems: Problems) -> bool:
    """Return whether the database can store every cell; report those that it cannot."""
    is_good = True
    for column, cell in zip(columns, cells, strict=False):
        try:
            Text(blank=True).clean(cell)
        except Mismatch as wrong:
            is_good = False
            problems.add(file=member.name, line=line, field=column, expected=wrong.expected, message=wrong.message)
    return is_good


def _add_topic(topics: dict[str, TopicInput], topic: TopicInput, problems: Problems) -> None:
    """Add a row's topic to earlier ones. Rows of one topic must agree, but each may add passages."""
    first = topics.get(topic.external_id)
    if first is None:
        topics[topic.external_id] = topic
        return
    if topic.query and topic.query != first.query:
        message = f"question {topic.external_id} has another text on line {first.line}"
        problems.add(file=topic.file, line=topic.line, field="question", expected="one text an ID", message=message)
        return
    passages = dict.fromkeys((*first.passages, *topic.passages))
    topics[topic.external_id] = replace(first, passages=tuple(passages), narrative=first.narrative or topic.narrative)


def _rows(
    member: Member, problems: Problems, *, report: json_lines.Report = json_lines.no_report
) -> Iterator[tuple[int, list[str]]]:
    """Yield the non-blank rows of a file with the numbers of their first lines."""
    texts = (text for _number, text in json_lines.texts(
        member, problems, limits=json_lines.KEPT, report=report, blank=True
    ))  # fmt: skip
    header = next(texts, "")
    delimiter = max(DELIMITERS, key=header.count)
    csv.field_size_limit(json_lines.KEPT.line)
    reader = csv.reader(chain([header], texts), delimiter=delimiter, strict=True)
    begin = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield begin, cells
            begin = reader.line_num + 1
    except csv.Error as error:
        problems.add(file=member.name, line=begin, expected="CSV or TSV with quoted cells", message=str(error))


def _header(member: Member, cells: Sequence[str], problems: Problems) -> list[str]:
    """Return the column names; a column without a name is named by its number."""
    names = [cell.strip() or f"Column {number}" for number, cell in enumerate(cells, 1)]
    if not names:
        problems.add(file=member.name, line=1, expected="a header and rows", message="the file is empty")
    elif len(names) > MAX_COLUMNS:
        message = f"has {len(names)} columns"
        problems.add(file=member.name, line=1, expected=f"at most {MAX_COLUMNS} columns", message=message)
    for name in sorted({name for name in names if names.count(name) > 1}):
        message = f"two columns are called {quote_value(name)}"
        problems.add(file=member.name, line=1, expected="a name for each column", message=message)
    problems.refuse_any()
    return names


def _padded(cells: Sequence[str], columns: Sequence[str]) -> list[str]:
    return [*cells[: len(columns)], *[""] * (len(columns) - len(cells))]
