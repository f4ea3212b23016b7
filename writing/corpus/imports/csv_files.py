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

from django.db import transaction

from analysis.text import statements
from crowdrag.studies.enums import ParticipantKind
from crowdrag.studies.models import Study

from ...models import Topic
from .. import responses as corpus_responses
from ..responses import ResponseInput
from . import file_formats, json_lines, response_files, topic_files
from .csv_columns import ColumnRole, ColumnsError, check_roles, guess_roles, is_unnamed, looks_like_data
from .fields import MAX_ID, MAX_STYLE, AddressedIdentifier, Mismatch, Text
from .problems import Problems, quote_value
from .sources import Member
from .topic_files import PassageInput, TopicInput

DELIMITERS: Final = (",", "\t", ";")
MAX_COLUMNS: Final = 200
PREVIEW_ROWS: Final = 5
#: The roles of columns are guessed from this many rows.
GUESSED_ROWS: Final = 50


@dataclass(frozen=True)
class CsvPreview:
    """The header and first rows of a file, the likely role of each column, and what to know about the file."""

    columns: list[str]
    rows: list[list[str]]
    roles: dict[str, ColumnRole]
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class CsvContent:
    """The content of a file: topics (with passages, if any) and responses; and counts of what was left out."""

    topics: list[TopicInput] = field(default_factory=list)
    responses: list[ResponseInput] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)
    encoding: str = file_formats.UTF_8


@dataclass(frozen=True)
class CellRules:
    """How cells are read: the style of responses without one, whether citation markers count from 1, and whether each
    line of a passage's cell is a passage."""

    style: str = response_files.DEFAULT_STYLE
    from_one: bool = False
    passage_lines: bool = False


def preview(member: Member, problems: Problems) -> CsvPreview:
    """Return the first rows of a file.

    Raises
    ------
    BadInput
        If it is not a table with a header.
    """
    encoding = file_formats.check_table(member, problems)
    rows = read_rows(member, problems, encoding=encoding)
    columns = read_header(member, next(rows, (0, []))[1], problems)
    first = [_padded(cells, columns) for _line, cells in islice(rows, GUESSED_ROWS)]
    problems.refuse_any()
    return CsvPreview(columns, first[:PREVIEW_ROWS], guess_roles(columns, first), _notes(columns, encoding))


def _notes(columns: Sequence[str], encoding: str) -> list[str]:
    notes = []
    if encoding != file_formats.UTF_8:
        notes.append(f"This file is not in UTF-8. It is read as {encoding}. Check that the letters below are right.")
    if looks_like_data(columns):
        notes.append("The first line looks like data. Add a line of column names, then choose the file again.")
    if unnamed := [column for column in columns if is_unnamed(column)]:
        names = ", ".join(unnamed)
        notes.append(f"No name in the header: {names}. To import answers from there, enter the name of the system.")
    return notes


def read(
    member: Member,
    problems: Problems,
    *,
    roles: Mapping[str, str] | None = None,
    rules: CellRules = CellRules(),
    limit: int | None = None,
    report: json_lines.Report = json_lines.no_report,
) -> CsvContent:
    """Read a file, or its first rows, with these column roles; by default, with the roles that the names suggest.

    Problems are: a row with neither question nor ID, an ID with two questions, and two different responses of one
    system to the same question in the same style. Empty responses and repeated rows are skipped and counted.
    """
    encoding = file_formats.check_table(member, problems)
    rows = read_rows(member, problems, encoding=encoding, report=report)
    columns = read_header(member, next(rows, (0, []))[1], problems)
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
    empty = repeated = 0
    for line, cells in islice(rows, limit):
        if len(cells) > len(columns):
            message = f"has {len(cells)} cells"
            problems.add(file=member.name, line=line, expected=f"at most {len(columns)}", message=message)
            continue
        if not _are_texts(cells, member, line, columns, problems):
            continue
        row = _Row(dict(zip(columns, _padded(cells, columns), strict=True)), chosen, member.name, line, rules)
        if (topic := row.topic(problems)) is None:
            continue
        _add_topic(topics, topic, problems)
        empty += row.empty_responses
        repeated += _add_responses(responses, list(row.responses(topic.external_id, problems)), problems)
    problems.refuse_any()
    read_topics = list(topics.values()) if ColumnRole.QUESTION in chosen.values() else []
    left_out = {"empty_cells": empty, "duplicate_rows": repeated}
    return CsvContent(
        topic_files.without_duplicates(read_topics, problems), list(responses.values()), left_out, encoding
    )  # fmt: skip


def _add_responses(responses: dict[str, ResponseInput], row: list[ResponseInput], problems: Problems) -> bool:
    """Add a row's responses to earlier ones; return whether the row only repeats them."""
    first = [responses.setdefault(response.external_id, response) for response in row]
    others = [(old, new) for old, new in zip(first, row, strict=True) if old is not new and old.text != new.text]
    if others:
        systems = ", ".join(new.participant for _old, new in others)
        answers = "an answer" if len(others) == 1 else "answers"
        old, new = others[0]
        message = f"Line {old.line} already has {answers} by {systems} to this query"
        problems.add(file=new.file, line=new.line, field="response", message=message)
    return bool(row) and not others and all(old is not new for old, new in zip(first, row, strict=True))


@transaction.atomic
def store(*, study: Study, content: CsvContent, now: datetime) -> dict[str, int]:
    """Store topics and responses.

    A question that is already in the study keeps its ID, and also its passages unless the file has others.

    Raises
    ------
    BadInput
        If the question of a response is neither in the file nor in the study.
    """
    topics, renamed = with_known_ids(study, content.topics)
    known = set(Topic.objects.filter(study=study).current().values_list("external_id", flat=True))
    fresh = [topic for topic in topics if topic.passages or topic.external_id not in known]
    responses = [replace(response, topic=renamed.get(response.topic, response.topic)) for response in content.responses]
    counts = topic_files.store(study=study, topics=fresh, now=now)
    counts["topics_unchanged"] += len(topics) - len(fresh)
    counts |= corpus_responses.store(study=study, responses=responses, problems=Problems(), now=now)
    return counts | content.left_out


def with_known_ids(study: Study, topics: Sequence[TopicInput]) -> tuple[list[TopicInput], dict[str, str]]:
    """Return topics with the IDs that their queries have in the study, and these IDs by the generated ones.

    Only topics whose ID was generated from their query are renamed.
    """
    current = Topic.objects.filter(study=study).current().order_by("pk")
    ids = {query: external_id for external_id, query in current.values_list("external_id", "query")}
    generated = {topic.external_id: topic.query for topic in topics if topic.external_id == topic_id(topic.query)}
    renamed = {external_id: ids[query] for external_id, query in generated.items() if query in ids}
    return [replace(topic, external_id=renamed.get(topic.external_id, topic.external_id)) for topic in topics], renamed


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
    rules: CellRules

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
            problems.add(file=self.file, line=self.line, expected="a query", message="has neither query nor topic ID")
            return None
        if self._refused("topic ID", external_id, problems):
            return None
        cells = [text for _column, text in self.many(ColumnRole.PASSAGE)]
        if self.rules.passage_lines:
            cells = [line.strip() for cell in cells for line in cell.splitlines() if line.strip()]
        texts = dict.fromkeys(cells)
        passages = tuple(PassageInput(passage_id(text), text) for text in texts)
        narrative = self.one(ColumnRole.NARRATIVE)
        return TopicInput(external_id, question, passages, narrative, self.file, self.line)

    @property
    def empty_responses(self) -> int:
        """The number of empty cells where a response could be."""
        of_text = {ColumnRole.RESPONSES, ColumnRole.TEXT}
        return sum(not self.cells[column].strip() for column, role in self.roles.items() if role in of_text)

    def responses(self, topic: str, problems: Problems) -> Iterator[ResponseInput]:
        """Yield the responses of this row."""
        style = self.one(ColumnRole.STYLE) or self.rules.style
        pairs = self.many(ColumnRole.RESPONSES)
        if text := self.one(ColumnRole.TEXT):
            pairs.append((self.one(ColumnRole.SYSTEM), text))
        for system, text in pairs:
            if not system:
                problems.add(file=self.file, line=self.line, expected="the name of a system", message="has none")
            elif not self._refused("system", system, problems) and not self._refused("style", style, problems):
                kind = ParticipantKind.SYSTEM
                external_id = response_files.response_id(kind, system, topic, style)
                text = self._text(text, problems)
                yield ResponseInput(external_id, topic, style, kind, system, text, file=self.file, line=self.line)

    def _text(self, text: str, problems: Problems) -> str:
        """Return a response with markers that count from 0."""
        if not self.rules.from_one:
            return text
        try:
            return statements.count_markers_from_zero(text)
        except ValueError:
            expected, message = "citation markers that count from 1", "the answer cites [0]"
            problems.add(file=self.file, line=self.line, field="response", expected=expected, message=message)
            return text

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
        message = f"topic {topic.external_id} has another query on line {first.line}"
        problems.add(file=topic.file, line=topic.line, field="question", expected="one text per ID", message=message)
        return
    passages = dict.fromkeys((*first.passages, *topic.passages))
    topics[topic.external_id] = replace(first, passages=tuple(passages), narrative=first.narrative or topic.narrative)


def read_rows(
    member: Member,
    problems: Problems,
    *,
    encoding: str = file_formats.UTF_8,
    report: json_lines.Report = json_lines.no_report,
) -> Iterator[tuple[int, list[str]]]:
    """Yield the non-blank rows of a file with the numbers of their first lines."""
    texts = (text for _number, text in json_lines.texts(
        member, problems, limits=json_lines.KEPT, report=report, blank=True, encoding=encoding
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


def read_header(member: Member, cells: Sequence[str], problems: Problems) -> list[str]:
    """Return the column names; a column without a name is named by its number."""
    names = [cell.strip() or f"Column {number}" for number, cell in enumerate(cells, 1)]
    problems.refuse_any()
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
