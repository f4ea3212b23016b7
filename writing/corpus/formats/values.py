"""What the formats of RAG evaluation hold, as plain values.

A field that a file may leave out is None if it is absent. `extra` and `metadata` keep fields without a place of their
own, under the names of the format that they came from, so that a file can be written again as it was.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, NamedTuple

Json = Any
Fields = Mapping[str, Json]


class Content(StrEnum):
    """What a file holds."""

    REPORTS = "answers"
    TOPICS = "topics"
    PASSAGES = "passages"
    RUN = "ranked passages"
    QRELS = "relevance judgments"
    NUGGETS = "nuggets"
    LEADERBOARD = "leaderboard"


class Part(StrEnum):
    """A part of a value that some formats cannot hold."""

    TOPIC_ID = "IDs of topics"
    RUN = "names of systems"
    TEAM = "names of teams"
    QUERY = "texts of queries"
    SENTENCES = "borders of sentences"
    CITATIONS = "citations"
    CONFIDENCES = "confidences of citations"
    REFERENCES = "lists of references"
    PASSAGES = "texts of passages"
    PASSAGE_IDS = "IDs of passages"
    TITLES = "titles and addresses of passages"
    IMPORTANCE = "importance of nuggets"
    ASSIGNMENTS = "assignments of nuggets to answers"
    QUESTIONS = "nuggets as questions with answers"
    PROVENANCE = "passages of nuggets"
    ITERATIONS = "iterations of judgments"
    PER_TOPIC = "values of single topics"
    EXTRA = "other fields"


@dataclass(frozen=True, slots=True)
class Citation:
    """A cited passage, by its ID, and how sure the system is of it."""

    passage: str
    confidence: float | None = None


@dataclass(frozen=True)
class Sentence:
    """A sentence of an answer with its citations; None if the file says nothing about them."""

    text: str
    citations: tuple[Citation, ...] | None = ()
    extra: Fields = field(default_factory=dict)


@dataclass(frozen=True)
class Document:
    """A passage or document. Its ID is empty if the format has none."""

    id: str
    text: str
    title: str | None = None
    url: str | None = None
    extra: Fields = field(default_factory=dict)


@dataclass(frozen=True)
class Report:
    """An answer of a system to a topic.

    Attributes
    ----------
    topic, run
        IDs of the topic and the system; empty if the format has none.
    sentences
        The sentences, or None if the answer is one `text`.
    text
        The text with citation markers such as `[2]`, or None if the answer is in `sentences`.
    first_marker
        The number of the first of `documents` in the markers of `text`: 0 or 1.
    query, team
        The query's text and the team's name; empty if unknown.
    references
        IDs of the passages that the system names, in its order.
    documents
        The passages that the system used, in its order.
    metadata, extra
        Other fields of the record's metadata, and of the record.
    """

    topic: str
    run: str
    sentences: tuple[Sentence, ...] | None = None
    text: str | None = None
    first_marker: int = 0
    query: str = ""
    team: str = ""
    references: tuple[str, ...] | None = None
    documents: tuple[Document, ...] | None = None
    metadata: Fields = field(default_factory=dict)
    extra: Fields = field(default_factory=dict)


@dataclass(frozen=True)
class Request:
    """A topic: its ID, its query, and other fields such as `problem_statement` and `background`."""

    topic: str
    query: str
    extra: Fields = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RankedPassage:
    """A line of a run: a passage that a system retrieved for a topic."""

    topic: str
    passage: str
    rank: int
    score: float
    run: str


@dataclass(frozen=True, slots=True)
class Qrel:
    """A relevance judgment: topic, passage, and grade (higher is more relevant)."""

    topic: str
    passage: str
    grade: int
    iteration: str = "0"


@dataclass(frozen=True)
class Provenance:
    """A passage that a nugget or an answer was taken from."""

    passage: str
    extra: Fields = field(default_factory=dict)


@dataclass(frozen=True)
class NuggetAnswer:
    """An accepted answer to a nugget that is a question."""

    text: str
    provenance: tuple[Provenance, ...] | None = None
    extra: Fields = field(default_factory=dict)


@dataclass(frozen=True)
class Nugget:
    """A fact that an answer should contain: a statement, or a question with its answers.

    Attributes
    ----------
    importance
        `vital` or `okay` (AutoNuggetizer), or a label or number of the bank's author.
    assignment
        Whether an answer contains it: `support`, `partial_support` or `not_support`; None in a bank.
    parts
        Nuggets that it is composed of.
    """

    text: str
    id: str = ""
    is_question: bool = False
    importance: str | int | None = None
    assignment: str | None = None
    answers: tuple[NuggetAnswer, ...] | None = None
    provenance: tuple[Provenance, ...] | None = None
    parts: tuple["Nugget", ...] | None = None
    extra: Fields = field(default_factory=dict)


@dataclass(frozen=True)
class NuggetBank:
    """The nuggets of a topic; with a `run`, their assignment to this system's answer."""

    topic: str
    query: str
    nuggets: tuple[Nugget, ...]
    run: str = ""
    answer: str | None = None
    extra: Fields = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LeaderboardEntry:
    """The value of a measure for a system on a topic; topic `all` is the mean over topics."""

    run: str
    topic: str
    measure: str
    value: float | int | str


Value = Report | Request | Document | RankedPassage | Qrel | NuggetBank | LeaderboardEntry


class Located(NamedTuple):
    """A value and the line of its file on which it begins."""

    line: int
    value: Any


@dataclass(frozen=True)
class FileContents:
    """The values of a file, and the fields of the file as a whole."""

    rows: Sequence[Located]
    about: Fields = field(default_factory=dict)

    @property
    def values(self) -> list[Any]:
        """The values without their lines."""
        return [row.value for row in self.rows]


def contents(values: Iterable[Value], about: Fields | None = None) -> FileContents:
    """Return values as the contents of a file that is not written yet."""
    return FileContents([Located(0, value) for value in values], about or {})


def parts_of(value: Any) -> set[Part]:
    """Return the parts that a value has. A format that does not hold one of them loses it."""
    return {part for part, is_in in _PARTS.get(type(value), {}).items() if is_in(value)}


def _citations(report: Report) -> list[Citation]:
    return [citation for sentence in report.sentences or () for citation in sentence.citations or ()]


def _all_nuggets(nuggets: Iterable[Nugget]) -> list[Nugget]:
    return [part for nugget in nuggets for part in (nugget, *_all_nuggets(nugget.parts or ()))]


def _has_provenance(nugget: Nugget) -> bool:
    return bool(nugget.provenance) or any(answer.provenance for answer in nugget.answers or ())


_PARTS: Final[Mapping[type, Mapping[Part, Any]]] = {
    Report: {
        Part.TOPIC_ID: lambda report: bool(report.topic),
        Part.RUN: lambda report: bool(report.run),
        Part.TEAM: lambda report: bool(report.team),
        Part.QUERY: lambda report: bool(report.query),
        Part.SENTENCES: lambda report: len(report.sentences or ()) > 1,
        Part.CITATIONS: lambda report: bool(_citations(report)),
        Part.CONFIDENCES: lambda report: any(c.confidence is not None for c in _citations(report)),
        Part.REFERENCES: lambda report: bool(report.references),
        Part.PASSAGES: lambda report: bool(report.documents),
        Part.PASSAGE_IDS: lambda report: any(document.id for document in report.documents or ()),
        Part.TITLES: lambda report: any(document.title or document.url for document in report.documents or ()),
        Part.EXTRA: lambda report: bool(
            report.metadata
            or report.extra
            or any(sentence.extra for sentence in report.sentences or ())
            or any(document.extra for document in report.documents or ())
        ),
    },
    Request: {Part.EXTRA: lambda request: bool(request.extra)},
    Document: {
        Part.TITLES: lambda document: bool(document.title or document.url),
        Part.EXTRA: lambda document: bool(document.extra),
    },
    Qrel: {Part.ITERATIONS: lambda qrel: qrel.iteration != "0"},
    NuggetBank: {
        Part.RUN: lambda bank: bool(bank.run),
        Part.IMPORTANCE: lambda bank: any(n.importance is not None for n in _all_nuggets(bank.nuggets)),
        Part.ASSIGNMENTS: lambda bank: any(n.assignment is not None for n in _all_nuggets(bank.nuggets)),
        Part.QUESTIONS: lambda bank: any(n.is_question for n in _all_nuggets(bank.nuggets)),
        Part.PROVENANCE: lambda bank: any(map(_has_provenance, _all_nuggets(bank.nuggets))),
        Part.EXTRA: lambda bank: bool(bank.extra or any(n.extra for n in _all_nuggets(bank.nuggets))),
    },
}
