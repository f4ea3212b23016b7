"""The published corpus in memory, read once and checked record by record."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from annotation.imports.external_answers import Answer
from crowdrag.studies.enums import ParticipantKind
from writing.corpus.imports import json_lines, topic_files
from writing.corpus.imports.problems import Problems
from writing.corpus.imports.sources import Member, Source
from writing.corpus.responses import ResponseInput
from writing.editor import codec
from writing.editor.logs import PackedEvents

from . import judgments, record_schemas

# A log's events are packed when a different response's snapshots begin, or when there are many. This limits memory for
# inputs of any length, and sorted inputs give few batches.
SEAL_AT = 4096
SEAL_ON_CHANGE = 64


@dataclass(frozen=True, slots=True)
class Task:
    """A writing task with its survey answers."""

    row: json_lines.Row

    def answers(self, questions: tuple[str, ...]) -> dict[str, int]:
        """Return the answers to these questions, without unanswered ones."""
        return {name: value for name in questions if (value := self.row.data[name]) is not None}


@dataclass(slots=True)
class Log:
    """One response's snapshots as packed events."""

    topic: str
    style: str
    line: int
    encoder: codec.Encoder = field(default_factory=codec.Encoder)
    batches: list[PackedEvents] = field(default_factory=list)
    latest: int = 0

    def add(self, ms: int, text: str) -> None:
        """Add a snapshot."""
        self.encoder.add(ms, text)
        self.latest = ms
        if len(self.encoder.events) >= SEAL_AT:
            self.seal()

    def seal(self) -> None:
        """Pack the pending events."""
        if events := self.encoder.events:
            self.batches.append(PackedEvents(len(events), codec.pack(events)))
            self.encoder.events = []

    @property
    def text(self) -> str:
        """The text of the last snapshot: the response."""
        return self.encoder.text

    @property
    def event_count(self) -> int:
        """Number of snapshots."""
        return sum(batch.count for batch in self.batches)


@dataclass
class Corpus:
    """The contents of all files."""

    topics: list[topic_files.TopicInput] = field(default_factory=list)
    tasks: dict[str, Task] = field(default_factory=dict)
    logs: dict[str, Log] = field(default_factory=dict)
    model_responses: list[ResponseInput] = field(default_factory=list)
    parsed_topics: list[topic_files.TopicInput] = field(default_factory=list)
    parsed_responses: list[ResponseInput] = field(default_factory=list)
    answers: dict[str, list[Answer]] = field(default_factory=dict)
    facts: list[json_lines.Row] = field(default_factory=list)
    files: dict[str, Member] = field(default_factory=dict)
    problems: Problems = field(default_factory=Problems)
    missing: list[str] = field(default_factory=list)
    summary: dict[str, Any] = field(default_factory=dict)
    snapshot_file: str = record_schemas.SNAPSHOTS


class _Progress:
    """Converts progress within a file into overall progress."""

    def __init__(self, total: int, report: json_lines.Report):
        self.before, self.total, self.report = 0, total, report

    def __call__(self, done: int, _total: int, message: str) -> None:
        self.report(min(self.before + done, self.total), self.total, message)

    def finished(self, member: Member) -> None:
        self.before += member.size


def read(source: Source, problems: Problems, *, report: json_lines.Report = json_lines.no_report) -> Corpus:
    """Read all files of the corpus that are present.

    Raises
    ------
    BadInput
        if a file has a problem.
    """
    parts = {
        name: member for name in record_schemas.FILES if (member := json_lines.find(source, name, problems)) is not None
    }
    corpus = Corpus(files=parts, problems=problems)
    corpus.missing = [name for name in record_schemas.FILES if name not in parts]
    if not parts:
        names = ", ".join(source.names[:10]) or "nothing"
        message = f"no file of the corpus is there, but {names}"
        problems.add(file="", expected="files such as raw/study1_retrieval.jsonl.gz", message=message)
    progress = _Progress(sum(member.size for member in parts.values()), report)
    for name, reader in _READERS.items():
        if name in parts:
            reader(parts[name], corpus, problems, progress)
            progress.finished(parts[name])
    problems.refuse_any()
    return corpus


def _topics(member: Member, corpus: Corpus, problems: Problems, report: json_lines.Report) -> None:
    corpus.topics = topic_files.read(member, problems, report=report)


def _tasks(member: Member, corpus: Corpus, problems: Problems, report: json_lines.Report) -> None:
    seen: dict[str, int] = {}
    for row in json_lines.records(member, record_schemas.TASK, problems, limits=json_lines.KEPT, report=report):
        if judgments.is_new(row, row.data["response"], seen, problems):
            corpus.tasks[row.data["response"]] = Task(row)


def _snapshots(member: Member, corpus: Corpus, problems: Problems, report: json_lines.Report) -> None:
    previous: Log | None = None
    count = characters = backwards = 0
    corpus.snapshot_file = member.name
    for row in json_lines.records(member, record_schemas.SNAPSHOT, problems, report=report):
        data = row.data
        log = corpus.logs.get(data["response"])
        if log is None:
            log = corpus.logs[data["response"]] = Log(data["topic"], data["style"], row.line)
        if (data["topic"], data["style"]) != (log.topic, log.style):
            expected = f"topic {log.topic}, style {log.style}, as the response's snapshot on line {log.line}"
            message = f"got topic {data['topic']}, style {data['style']}"
            problems.set_aside(file=row.file, line=row.line, field="topic, style", expected=expected, message=message)
            continue
        if previous is not None and previous is not log and len(previous.encoder.events) >= SEAL_ON_CHANGE:
            previous.seal()
        backwards += data["timestamp"] < log.latest
        log.add(data["timestamp"], data["text"])
        previous = log
        count += 1
        characters += len(data["text"])
    for log in corpus.logs.values():
        log.seal()
    corpus.summary |= {
        "snapshots": count,
        "snapshot_characters": characters,
        "snapshots_earlier_than_the_one_before": backwards,
    }


def _model_responses(member: Member, corpus: Corpus, problems: Problems, report: json_lines.Report) -> None:
    seen: dict[str, int] = {}
    for row in json_lines.records(
        member, record_schemas.MODEL_RESPONSE, problems, limits=json_lines.KEPT, report=report
    ):
        if judgments.is_new(row, row.data["response"], seen, problems):
            corpus.model_responses.append(_response(row, row.data["text"]))


def _parsed_responses(member: Member, corpus: Corpus, problems: Problems, report: json_lines.Report) -> None:
    """Read the topics and texts that the raw files lack from the published parsed responses; compare the others.

    Existing rows of the study stay unchanged. The file is derived from the raw ones, so its problems set aside rows but
    never refuse the import.
    """
    topics = {topic.external_id for topic in corpus.topics}
    known = {parsed.external_id for parsed in corpus.model_responses} | corpus.logs.keys()

    def shape(record: dict[str, Any]) -> json_lines.Shape:
        response, topic = record.get("response"), record.get("topic")
        is_there = isinstance(response, str) and isinstance(topic, str) and response in known and topic in topics
        return {} if is_there else record_schemas.PARSED_RESPONSE

    seen: dict[str, int] = {}
    topic_inputs: list[topic_files.TopicInput] = []
    wrong = Problems(sets_aside=True)
    for row in json_lines.records(member, shape, wrong, limits=json_lines.KEPT, report=report):
        data = row.data
        if not data or not judgments.is_new(row, data["response"], seen, wrong):
            continue
        if data["topic"] not in topics:
            passages = topic_files.published_passages(row, wrong)
            if passages is None:
                continue
            topics.add(data["topic"])
            topic_inputs.append(
                topic_files.TopicInput(data["topic"], data["query"], tuple(passages), "", row.file, row.line)
            )
        text = data["raw_text"] if data["raw_text"] is not None else data["text"]
        if text is not None and data["response"] not in known:
            corpus.parsed_responses.append(_response(row, text))
    corpus.parsed_topics = topic_files.without_duplicates(topic_inputs, wrong)
    problems.set_aside_all_of(wrong)


def _response(row: json_lines.Row, text: str) -> ResponseInput:
    data = row.data
    kind, author = ParticipantKind.MODEL, data["model"] or record_schemas.WRITER_MODEL
    if data["system"]:
        kind, author = ParticipantKind.SYSTEM, data["system"]
    elif data.get("kind") == "human":
        kind, author = ParticipantKind.CROWD, record_schemas.UNKNOWN_WRITER
    return ResponseInput(
        external_id=data["response"],
        topic=data["topic"],
        style=data["style"],
        kind=kind,
        participant=author,
        text=text,
        file=row.file,
        line=row.line,
    )


def _facts(member: Member, corpus: Corpus, problems: Problems, report: json_lines.Report) -> None:
    seen: dict[str, int] = {}
    for row in json_lines.records(member, record_schemas.FACT, problems, limits=json_lines.KEPT, report=report):
        if judgments.is_new(row, row.data["submission"], seen, problems):
            corpus.facts.append(row)


def _answers(read_answers: judgments.Reader) -> Callable[[Member, Corpus, Problems, json_lines.Report], None]:
    def read_into(member: Member, corpus: Corpus, problems: Problems, report: json_lines.Report) -> None:
        read_answers(member, corpus.answers, problems, report, corpus.summary)

    return read_into


_READERS: dict[str, Callable[[Member, Corpus, Problems, json_lines.Report], None]] = {
    record_schemas.TOPICS: _topics,
    record_schemas.TASKS: _tasks,
    record_schemas.SNAPSHOTS: _snapshots,
    record_schemas.MODEL_RESPONSES: _model_responses,
    record_schemas.PARSED: _parsed_responses,
    record_schemas.FACTS: _facts,
    record_schemas.VOTES: _answers(judgments.read_crowd),
    record_schemas.POINTWISE: _answers(judgments.read_pointwise),
    record_schemas.EXPERTS: _answers(judgments.read_experts),
    record_schemas.COMBINED_VOTES: _answers(judgments.read_combined),
    record_schemas.INDIVIDUAL_VOTES: _answers(judgments.read_individual),
    record_schemas.MODEL_VOTES: _answers(judgments.read_models),
}
