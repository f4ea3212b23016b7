"""The published corpus in memory: read once, checked record by record; nothing of it is in the database yet."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from annotation.domain.imports.answers import Answer
from crowdrag.studies.enums import ParticipantKind
from writing.domain import codec
from writing.domain.imports import reading
from writing.domain.imports import topics as topics_
from writing.domain.imports.problems import Problems
from writing.domain.imports.sources import Member, Source
from writing.domain.logs import Packed
from writing.domain.responses import ResponseInput

from . import judgments, shapes

# A log's events are packed when another response's snapshots begin, or when there are many: an input of any length
# takes little memory, and what comes in order makes few batches.
SEAL_AT = 4096
SEAL_ON_CHANGE = 64


@dataclass(frozen=True, slots=True)
class Task:
    """A writing task with its survey answers."""

    row: reading.Row

    def answers(self, questions: tuple[str, ...]) -> dict[str, int]:
        """Return the answers to these questions; what was not answered is absent."""
        return {name: value for name in questions if (value := self.row.data[name]) is not None}


@dataclass(slots=True)
class Log:
    """One response's snapshots as packed events."""

    topic: str
    style: str
    line: int
    encoder: codec.Encoder = field(default_factory=codec.Encoder)
    batches: list[Packed] = field(default_factory=list)
    latest: int = 0

    def add(self, ms: int, text: str) -> None:
        """Add a snapshot."""
        self.encoder.add(ms, text)
        self.latest = ms
        if len(self.encoder.events) >= SEAL_AT:
            self.seal()

    def seal(self) -> None:
        """Pack what is pending."""
        if events := self.encoder.events:
            self.batches.append(Packed(len(events), codec.pack(events)))
            self.encoder.events = []

    @property
    def text(self) -> str:
        """The text of the last snapshot: the response."""
        return self.encoder.text

    @property
    def event_count(self) -> int:
        """How many snapshots there were."""
        return sum(batch.count for batch in self.batches)


@dataclass
class Corpus:
    """All that the files hold."""

    topics: list[topics_.TopicInput] = field(default_factory=list)
    tasks: dict[str, Task] = field(default_factory=dict)
    logs: dict[str, Log] = field(default_factory=dict)
    model_responses: list[ResponseInput] = field(default_factory=list)
    parsed_topics: list[topics_.TopicInput] = field(default_factory=list)
    parsed_responses: list[ResponseInput] = field(default_factory=list)
    answers: dict[str, list[Answer]] = field(default_factory=dict)
    facts: list[reading.Row] = field(default_factory=list)
    files: dict[str, Member] = field(default_factory=dict)
    problems: Problems = field(default_factory=Problems)
    missing: list[str] = field(default_factory=list)
    summary: dict[str, Any] = field(default_factory=dict)
    snapshot_file: str = shapes.SNAPSHOTS


class _Progress:
    """Turns progress within files into progress of the whole."""

    def __init__(self, total: int, report: reading.Report):
        self.before, self.total, self.report = 0, total, report

    def __call__(self, done: int, _total: int, message: str) -> None:
        self.report(min(self.before + done, self.total), self.total, message)

    def finished(self, member: Member) -> None:
        self.before += member.size


def read(source: Source, problems: Problems, *, report: reading.Report = reading.silent) -> Corpus:
    """Read every file of the corpus that is there.

    Raises
    ------
    BadInput
        if anything is wrong with one of them.
    """
    found = {name: member for name in shapes.FILES if (member := reading.find(source, name, problems)) is not None}
    corpus = Corpus(files=found, problems=problems)
    corpus.missing = [name for name in shapes.FILES if name not in found]
    if not found:
        names = ", ".join(source.names[:10]) or "nothing"
        message = f"no file of the corpus is there, but {names}"
        problems.add(file="", expected="files such as raw/study1_retrieval.jsonl.gz", message=message)
    progress = _Progress(sum(member.size for member in found.values()), report)
    for name, reader in _READERS.items():
        if name in found:
            reader(found[name], corpus, problems, progress)
            progress.finished(found[name])
    problems.refuse_any()
    return corpus


def _topics(member: Member, corpus: Corpus, problems: Problems, report: reading.Report) -> None:
    corpus.topics = topics_.read(member, problems, report=report)


def _tasks(member: Member, corpus: Corpus, problems: Problems, report: reading.Report) -> None:
    seen: dict[str, int] = {}
    for row in reading.records(member, shapes.TASK, problems, limits=reading.KEPT, report=report):
        if judgments.is_new(row, row.data["response"], seen, problems):
            corpus.tasks[row.data["response"]] = Task(row)


def _snapshots(member: Member, corpus: Corpus, problems: Problems, report: reading.Report) -> None:
    previous: Log | None = None
    count = characters = backwards = 0
    corpus.snapshot_file = member.name
    for row in reading.records(member, shapes.SNAPSHOT, problems, report=report):
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


def _model_responses(member: Member, corpus: Corpus, problems: Problems, report: reading.Report) -> None:
    seen: dict[str, int] = {}
    for row in reading.records(member, shapes.MODEL_RESPONSE, problems, limits=reading.KEPT, report=report):
        if judgments.is_new(row, row.data["response"], seen, problems):
            corpus.model_responses.append(_response(row, row.data["text"]))


def _parsed_responses(member: Member, corpus: Corpus, problems: Problems, report: reading.Report) -> None:
    """Take from the published parsed responses what the raw files lack: topics and texts. What they have is compared.

    What the study has already stays as it is. The file follows from the raw ones, so whatever is wrong with it sets
    its rows aside and refuses nothing.
    """
    topics = {topic.external_id for topic in corpus.topics}
    there = {given.external_id for given in corpus.model_responses} | corpus.logs.keys()

    def shape(record: dict[str, Any]) -> reading.Shape:
        response, topic = record.get("response"), record.get("topic")
        is_there = isinstance(response, str) and isinstance(topic, str) and response in there and topic in topics
        return {} if is_there else shapes.PARSED_RESPONSE

    seen: dict[str, int] = {}
    found: list[topics_.TopicInput] = []
    wrong = Problems(sets_aside=True)
    for row in reading.records(member, shape, wrong, limits=reading.KEPT, report=report):
        data = row.data
        if not data or not judgments.is_new(row, data["response"], seen, wrong):
            continue
        if data["topic"] not in topics:
            passages = topics_.published_passages(row, wrong)
            if passages is None:
                continue
            topics.add(data["topic"])
            found.append(topics_.TopicInput(data["topic"], data["query"], tuple(passages), "", row.file, row.line))
        text = data["raw_text"] if data["raw_text"] is not None else data["text"]
        if text is not None and data["response"] not in there:
            corpus.parsed_responses.append(_response(row, text))
    corpus.parsed_topics = topics_.without_duplicates(found, wrong)
    problems.set_aside_all_of(wrong)


def _response(row: reading.Row, text: str) -> ResponseInput:
    data = row.data
    kind, author = ParticipantKind.MODEL, data["model"] or shapes.WRITER_MODEL
    if data["system"]:
        kind, author = ParticipantKind.SYSTEM, data["system"]
    elif data.get("kind") == "human":
        kind, author = ParticipantKind.CROWD, shapes.UNKNOWN_WRITER
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


def _facts(member: Member, corpus: Corpus, problems: Problems, report: reading.Report) -> None:
    seen: dict[str, int] = {}
    for row in reading.records(member, shapes.FACT, problems, limits=reading.KEPT, report=report):
        if judgments.is_new(row, row.data["submission"], seen, problems):
            corpus.facts.append(row)


def _answers(read_answers: judgments.Reader) -> Callable[[Member, Corpus, Problems, reading.Report], None]:
    def read_into(member: Member, corpus: Corpus, problems: Problems, report: reading.Report) -> None:
        read_answers(member, corpus.answers, problems, report, corpus.summary)

    return read_into


_READERS: dict[str, Callable[[Member, Corpus, Problems, reading.Report], None]] = {
    shapes.TOPICS: _topics,
    shapes.TASKS: _tasks,
    shapes.SNAPSHOTS: _snapshots,
    shapes.MODEL_RESPONSES: _model_responses,
    shapes.PARSED: _parsed_responses,
    shapes.FACTS: _facts,
    shapes.VOTES: _answers(judgments.read_crowd),
    shapes.POINTWISE: _answers(judgments.read_pointwise),
    shapes.EXPERTS: _answers(judgments.read_experts),
    shapes.COMBINED_VOTES: _answers(judgments.read_combined),
    shapes.INDIVIDUAL_VOTES: _answers(judgments.read_individual),
    shapes.MODEL_VOTES: _answers(judgments.read_models),
}
