"""The formats of RAG evaluation: one value for each, by which files are recognised, read, written and described."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, Final, Protocol

from ..imports import csv_files, json_lines
from ..imports.problems import BadInput, Problems
from ..imports.sources import Member
from . import alce, ares, huggingface, nugget_banks, ragas, record_files, topics_and_passages, trec_columns, trec_rag
from .values import Content, FileContents, Part

#: Lines by which a file of columns is recognised.
PROBED_LINES: Final = 10_000


class Reader(Protocol):
    """A function that reads a file."""

    def __call__(self, member: Member, problems: Problems, *, report: json_lines.Report = ...) -> FileContents:
        """Return the contents; rows that cannot be used are set aside in `problems`."""


@dataclass(frozen=True)
class Beginning:
    """The beginning of a file, by which its format is recognised.

    Attributes
    ----------
    record
        The first JSON record; empty if the file is not JSON.
    columns
        The names of the columns of CSV, Parquet or Arrow.
    rows
        The first lines, split at white space; empty if the file is JSON or a table.
    has_tabs
        Whether each of these lines has exactly one tab.
    is_table
        Whether it is Parquet or Arrow.
    """

    name: str
    record: Mapping[str, Any] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    has_tabs: bool = False
    is_table: bool = False
    first_line: str = ""


@dataclass(frozen=True)
class Format:
    """A format of files.

    Attributes
    ----------
    name
        The name in commands, pages and the API.
    content
        What a file holds: values of one type of `values`.
    holds
        The parts of these values that the format can hold; all others are lost.
    recognises
        Whether a file that begins like this has the format.
    suffix
        The suffix of files that are written.
    """

    name: str
    title: str
    content: Content
    source: str
    suffix: str
    holds: frozenset[Part]
    recognises: Callable[[Beginning], bool]
    read: Reader
    write: Callable[[FileContents], Iterator[bytes]]
    remarks: tuple[str, ...] = ()

    @property
    def cannot_hold(self) -> list[Part]:
        """The parts of its values that it cannot hold."""
        return [part for part in PARTS[self.content] if part not in self.holds]


_REPORT_PARTS: Final = (
    Part.TOPIC_ID, Part.RUN, Part.TEAM, Part.QUERY, Part.SENTENCES, Part.CITATIONS, Part.CONFIDENCES, Part.REFERENCES,
    Part.PASSAGES, Part.PASSAGE_IDS, Part.TITLES, Part.EXTRA,
)  # fmt: skip
_NUGGET_PARTS: Final = (
    Part.RUN, Part.IMPORTANCE, Part.ASSIGNMENTS, Part.QUESTIONS, Part.PROVENANCE, Part.EXTRA,
)  # fmt: skip
#: The parts that values of each content may have.
PARTS: Final[Mapping[Content, tuple[Part, ...]]] = {
    Content.REPORTS: _REPORT_PARTS,
    Content.TOPICS: (Part.EXTRA,),
    Content.PASSAGES: (Part.TITLES, Part.EXTRA),
    Content.RUN: (),
    Content.QRELS: (Part.ITERATIONS,),
    Content.NUGGETS: _NUGGET_PARTS,
    Content.LEADERBOARD: (Part.RUN,),
}


def _all_but(content: Content, *parts: Part) -> frozenset[Part]:
    return frozenset(PARTS[content]) - set(parts)


def _leaderboard(order: str, title: str, remark: str = "", *parts: Part) -> Format:
    return Format(
        name=f"leaderboard-{order.replace('_', '-')}",
        title=title,
        content=Content.LEADERBOARD,
        source="autojudge-base 1.0",
        suffix=".txt",
        holds=_all_but(Content.LEADERBOARD, *parts),
        recognises=lambda begin: trec_columns.leaderboard_order(begin.rows) == order,
        read=partial(trec_columns.read_leaderboard, order=order),
        write=partial(trec_columns.write_leaderboard, order=order),
        remarks=(f"Columns: {' '.join(trec_columns.LEADERBOARD_COLUMNS[order])}.", *filter(None, [remark])),
    )


#: All formats; a file has the first one that recognises it.
FORMATS: Final = (
    Format(
        name="autojudge-reports",
        title="Reports of TREC AutoJudge",
        content=Content.REPORTS,
        source="autojudge-base 1.0",
        suffix=".jsonl",
        holds=_all_but(Content.REPORTS),
        recognises=lambda begin: trec_rag.is_autojudge(begin.record),
        read=trec_rag.read,
        write=trec_rag.write_autojudge,
        remarks=("Either all citations of a sentence have a confidence, or none is written.",),
    ),
    Format(
        name="trec-rag25",
        title="TREC RAG 2025 answers",
        content=Content.REPORTS,
        source="TREC RAG 2025",
        suffix=".jsonl",
        holds=_all_but(Content.REPORTS, Part.CONFIDENCES, Part.PASSAGES, Part.TITLES),
        recognises=lambda begin: trec_rag.is_2025(begin.record),
        read=trec_rag.read,
        write=trec_rag.write_2025,
        remarks=("Citations are indices of the references, which hold the IDs of passages.",),
    ),
    Format(
        name="trec-rag24",
        title="TREC RAG 2024 answers",
        content=Content.REPORTS,
        source="TREC RAG 2024",
        suffix=".jsonl",
        holds=_all_but(Content.REPORTS, Part.CONFIDENCES, Part.PASSAGES, Part.TITLES),
        recognises=lambda begin: trec_rag.is_2024(begin.record),
        read=trec_rag.read,
        write=trec_rag.write_2024,
        remarks=("Citations are indices of the references, which hold the IDs of passages.",),
    ),
    Format(
        name="autonuggetizer",
        title="AutoNuggetizer nuggets and assignments",
        content=Content.NUGGETS,
        source="nuggetizer 0.0.6",
        suffix=".jsonl",
        holds=_all_but(Content.NUGGETS, Part.QUESTIONS, Part.PROVENANCE),
        recognises=lambda begin: nugget_banks.is_autonuggetizer(begin.record),
        read=nugget_banks.read_autonuggetizer,
        write=nugget_banks.write_autonuggetizer,
        remarks=("Importance is vital, okay or failed; another one is not written.",),
    ),
    Format(
        name="autojudge-nuggets",
        title="Nugget banks of TREC AutoJudge",
        content=Content.NUGGETS,
        source="autojudge-base 1.0",
        suffix=".jsonl",
        holds=_all_but(Content.NUGGETS, Part.RUN, Part.ASSIGNMENTS),
        recognises=lambda begin: nugget_banks.is_autojudge(begin.record),
        read=nugget_banks.read_autojudge,
        write=nugget_banks.write_autojudge,
        remarks=("A nugget is named by its text, so a text can occur only once.",),
    ),
    Format(
        name="leaderboard-jsonl",
        title="Leaderboard as JSON lines",
        content=Content.LEADERBOARD,
        source="autojudge-base 1.0",
        suffix=".jsonl",
        holds=_all_but(Content.LEADERBOARD),
        recognises=lambda begin: {"run_id", "topic_id", "measure", "value"} <= set(begin.record),
        read=trec_columns.read_leaderboard_lines,
        write=trec_columns.write_leaderboard_lines,
    ),
    Format(
        name="alce",
        title="ALCE output",
        content=Content.REPORTS,
        source="ALCE (Gao et al. 2023)",
        suffix=".json",
        holds=_all_but(Content.REPORTS, Part.RUN, Part.TEAM, Part.SENTENCES, Part.CONFIDENCES, Part.REFERENCES),
        recognises=lambda begin: alce.is_alce(begin.record),
        read=alce.read,
        write=alce.write,
        remarks=(
            "Citation markers count an entry's passages from 1.",
            "The name of the file is the name of the system.",
        ),
    ),
    Format(
        name="ragas",
        title="RAGAS data set",
        content=Content.REPORTS,
        source="RAGAS 0.1 to 0.3",
        suffix=".jsonl",
        holds=frozenset({Part.QUERY, Part.PASSAGES, Part.PASSAGE_IDS, Part.EXTRA}),
        recognises=lambda begin: not begin.columns and ragas.is_ragas(begin.record),
        read=ragas.read,
        write=ragas.write,
        remarks=(
            "The name of the file is the name of the system.",
            "Fields are written with the names of version 0.2.",
        ),
    ),
    Format(
        name="ragas-csv",
        title="RAGAS data set as CSV",
        content=Content.REPORTS,
        source="RAGAS 0.1 to 0.3",
        suffix=".csv",
        holds=frozenset({Part.QUERY, Part.PASSAGES, Part.PASSAGE_IDS, Part.EXTRA}),
        recognises=lambda begin: ragas.is_ragas(begin.columns) and not begin.is_table,
        read=ragas.read_csv,
        write=ragas.write_csv,
        remarks=("The name of the file is the name of the system.", "An empty cell is a missing value."),
    ),
    Format(
        name="ares",
        title="ARES data set",
        content=Content.REPORTS,
        source="ARES (Saad-Falcon et al. 2024)",
        suffix=".tsv",
        holds=frozenset({Part.QUERY, Part.PASSAGES, Part.EXTRA}),
        recognises=lambda begin: ares.is_ares(begin.columns) and not begin.is_table,
        read=ares.read,
        write=ares.write,
        remarks=(
            "The name of the file is the name of the system.",
            "Several passages of an answer become one document.",
            "An empty cell is a missing value.",
        ),
    ),
    Format(
        name="autojudge-requests",
        title="Topics as JSON lines",
        content=Content.TOPICS,
        source="autojudge-base 1.0; TREC RAG",
        suffix=".jsonl",
        holds=_all_but(Content.TOPICS),
        recognises=lambda begin: topics_and_passages.is_request(begin.record),
        read=topics_and_passages.read_requests,
        write=topics_and_passages.write_requests,
    ),
    Format(
        name="hugging-face",
        title="Hugging Face data set",
        content=Content.REPORTS,
        source="datasets: Parquet, Arrow, JSON, CSV",
        suffix=".jsonl",
        holds=_all_but(Content.REPORTS, Part.TEAM),
        recognises=lambda begin: huggingface.is_data_set(begin.columns or tuple(begin.record)),
        read=huggingface.read,
        write=huggingface.write,
        remarks=("Columns are recognised by their usual names or given.", "An empty column is a missing value."),
    ),
    Format(
        name="autojudge-documents",
        title="Passages as JSON lines",
        content=Content.PASSAGES,
        source="autojudge-base 1.0; MS MARCO",
        suffix=".jsonl",
        holds=_all_but(Content.PASSAGES),
        recognises=lambda begin: topics_and_passages.is_passage(begin.record),
        read=topics_and_passages.read_passages,
        write=topics_and_passages.write_passages,
    ),
    Format(
        name="trec-run",
        title="TREC run",
        content=Content.RUN,
        source="trec_eval",
        suffix=".run",
        holds=_all_but(Content.RUN),
        recognises=lambda begin: bool(begin.rows) and all(map(trec_columns.is_run, begin.rows)),
        read=trec_columns.read_run,
        write=trec_columns.write_run,
        remarks=("White space within an ID becomes an underscore.",),
    ),
    Format(
        name="trec-qrels",
        title="TREC relevance judgments (qrels)",
        content=Content.QRELS,
        source="trec_eval; autojudge-base 1.0",
        suffix=".qrels",
        holds=_all_but(Content.QRELS),
        recognises=lambda begin: bool(begin.rows) and all(map(trec_columns.is_qrel, begin.rows)),
        read=trec_columns.read_qrels,
        write=trec_columns.write_qrels,
        remarks=("White space within an ID becomes an underscore.",),
    ),
    _leaderboard("ir_measures", "Leaderboard as columns (ir_measures)"),
    _leaderboard("tot", "Leaderboard as columns (TREC ToT)"),
    _leaderboard("rag4reports", "Leaderboard as columns (RAG4Reports)"),
    _leaderboard("trec_eval", "Leaderboard as columns (trec_eval)", "The file's name is the system's.", Part.RUN),
    Format(
        name="topic-lines",
        title="TREC topics",
        content=Content.TOPICS,
        source="TREC: ID, tab, query; or classic",
        suffix=".tsv",
        holds=frozenset(),
        recognises=lambda begin: begin.first_line.lower().startswith("<top>") or begin.has_tabs,
        read=topics_and_passages.read_topic_lines,
        write=topics_and_passages.write_topic_lines,
    ),
)
_BY_NAME: Final = {each.name: each for each in FORMATS}


class UnknownFormatError(LookupError):
    """There is no format with this name, or a file has none that is known; the message says what to do."""


def get(name: str) -> Format:
    """Return the format with this name."""
    try:
        return _BY_NAME[name]
    except KeyError:
        msg = f"There is no format {name}. Formats: {', '.join(_BY_NAME)}."
        raise UnknownFormatError(msg) from None


def of_content(content: Content) -> list[Format]:
    """Return the formats that hold this content."""
    return [each for each in FORMATS if each.content == content]


def recognise(member: Member) -> Format:
    """Return the format of a file by its beginning.

    Raises
    ------
    UnknownFormatError
        If no format recognises it.
    """
    begin = beginning(member)
    for each in FORMATS:
        if each.recognises(begin):
            return each
    msg = f"The format of {member.name} is not recognised. Say which one it is: {', '.join(_BY_NAME)}."
    raise UnknownFormatError(msg)


def beginning(member: Member) -> Beginning:
    """Return the beginning of a file."""
    name = member.name
    try:
        if record_files.is_table(member):
            first = next(record_files.table_records(member, Problems()), (0, {}))
            return Beginning(name, columns=tuple(first[1]), is_table=True)
        lines = json_lines.texts(member, Problems(sets_aside=True), limits=json_lines.KEPT)
        texts = [text for _, text in islice(lines, PROBED_LINES)]
        first_line = texts[0].strip() if texts else ""
        if first_line.startswith(("{", "[")):
            return Beginning(name, record=_first_record(member), first_line=first_line)
        if _has_header(first_line):
            columns = csv_files.read_header(
                member, next(csv_files.read_rows(member, Problems()), (0, []))[1], Problems()
            )
            return Beginning(name, columns=tuple(columns), first_line=first_line)
    except BadInput:
        return Beginning(name)
    rows = tuple(tuple(text.split()) for text in texts)
    return Beginning(
        name, rows=rows, has_tabs=bool(texts) and all(text.count("\t") == 1 for text in texts), first_line=first_line
    )


def _has_header(line: str) -> bool:
    """Return whether a line is the header of a CSV or TSV file with columns of a known data set."""
    names = {cell.strip().strip('"') for delimiter in csv_files.DELIMITERS for cell in line.split(delimiter)}
    return ares.is_ares(names) or ragas.is_ragas(names) or huggingface.is_data_set(sorted(names))


def _first_record(member: Member) -> Mapping[str, Any]:
    """Return the first JSON record; for a file that is one object, the object without its long lists."""
    values = record_files.json_values(member, Problems(sets_aside=True))
    for _, value in islice(values, 10):
        if isinstance(value, dict):
            return value
    return {}
