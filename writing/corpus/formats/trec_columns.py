"""TREC files of columns separated by white space: runs, relevance judgments (qrels), and leaderboards."""

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Final

from ..imports import json_lines
from ..imports.fields import MAX_ID, Identifier, Mismatch, Text
from ..imports.problems import Problems, quote_value
from ..imports.sources import Member
from .record_files import as_json_lines, checked, collect, json_values
from .values import FileContents, LeaderboardEntry, Qrel, RankedPassage

RUN_COLUMNS: Final = ("topic", "Q0", "docid", "rank", "score", "tag")
QREL_COLUMNS: Final = ("topic", "iteration", "docid", "grade")
#: The columns of leaderboards, by the name that `autojudge-base` gives the order.
LEADERBOARD_COLUMNS: Final = {
    "ir_measures": ("run", "topic", "measure", "value"),
    "tot": ("run", "measure", "topic", "value"),
    "rag4reports": ("topic", "run", "measure", "value"),
    "trec_eval": ("measure", "topic", "value"),
}
#: The topic of a mean over all topics.
ALL: Final = "all"
_MAX_DIGITS: Final = 9


def is_run(cells: Sequence[str]) -> bool:
    """Return whether a line is one of a run."""
    return len(cells) == len(RUN_COLUMNS) and _is_whole(cells[3]) and _is_number(cells[4])


def is_qrel(cells: Sequence[str]) -> bool:
    """Return whether a line is a relevance judgment: the second column is an iteration and the last a grade."""
    return len(cells) == len(QREL_COLUMNS) and _is_whole(cells[3]) and cells[1] in ("0", "Q0", "1")


def leaderboard_order(rows: Sequence[Sequence[str]]) -> str:
    """Return the order of the columns of a leaderboard, or an empty text if it cannot be told.

    It is told by the header, by the number of columns, and by the column in which topic `all` stands.
    """
    if not rows:
        return ""
    names = {"run_id": "run", "query_id": "topic", "topic_id": "topic", "qid": "topic"}
    header = tuple(names.get(cell.lower(), cell.lower()) for cell in rows[0])
    for order, columns in LEADERBOARD_COLUMNS.items():
        if header == columns:
            return order
    if not all(len(row) == len(rows[0]) and _is_number(row[-1]) for row in rows):
        return ""
    if len(rows[0]) == 3:
        return "trec_eval"
    if len(rows[0]) != 4:
        return ""
    for order, columns in LEADERBOARD_COLUMNS.items():
        if len(columns) == 4 and any(row[columns.index("topic")] == ALL for row in rows):
            return order
    return ""


def parse_ranked(text: str) -> RankedPassage:
    """Return a line of a run.

    Raises
    ------
    Mismatch
        If it does not have six columns, or rank or score are no numbers; its path is the column.
    """
    cells = text.split()
    if len(cells) != len(RUN_COLUMNS):
        expected = f"six columns: {' '.join(RUN_COLUMNS)}"
        raise Mismatch(expected, f"has {len(cells)} columns: {quote_value(text.strip())}")
    topic, _, passage, rank, score, tag = (Text(longest=300).clean(cell) for cell in cells)
    if not _is_whole(rank):
        raise Mismatch("a whole number", f"got {quote_value(rank)}", "rank")
    if not _is_number(score):
        raise Mismatch("a number", f"got {quote_value(score)}", "score")
    return RankedPassage(topic, passage, int(rank), float(score), tag)


def parse_qrel(text: str) -> Qrel:
    """Return a relevance judgment; raise `Mismatch` if it is none."""
    cells = text.split()
    if len(cells) != len(QREL_COLUMNS):
        expected = f"four columns: {' '.join(QREL_COLUMNS)}"
        raise Mismatch(expected, f"has {len(cells)} columns: {quote_value(text.strip())}")
    topic, iteration, passage, grade = (Text(longest=300).clean(cell) for cell in cells)
    if not _is_whole(grade):
        raise Mismatch("a whole number", f"got {quote_value(grade)}", "grade")
    return Qrel(topic, passage, int(grade), iteration)


def read_run(member: Member, problems: Problems, *, report: json_lines.Report = json_lines.no_report) -> FileContents:
    """Read a run; a passage that a topic has already is set aside."""
    lines = json_lines.texts(member, problems, limits=json_lines.KEPT, report=report)
    return collect(
        member, problems, lines, parse_ranked, lambda row: (f"{row.run}\t{row.topic}\t{row.passage}", _pair(row))
    )


def read_qrels(member: Member, problems: Problems, *, report: json_lines.Report = json_lines.no_report) -> FileContents:
    """Read relevance judgments; a passage that was judged for a topic already is set aside."""
    lines = json_lines.texts(member, problems, limits=json_lines.KEPT, report=report)
    return collect(member, problems, lines, parse_qrel, lambda row: (f"{row.topic}\t{row.passage}", _pair(row)))


def _pair(row: Any) -> str:
    return f"passage {row.passage} of topic {row.topic}"


def read_leaderboard(
    member: Member, problems: Problems, *, report: json_lines.Report = json_lines.no_report, order: str
) -> FileContents:
    """Read a leaderboard whose columns have this order.

    The system of a file of three columns is the name of the file.
    """
    lines = json_lines.texts(member, problems, limits=json_lines.KEPT, report=report)
    rows = ((line, text) for line, text in lines if not (line == 1 and _is_header(text, order)))
    return collect(member, problems, rows, partial(_parse_entry, order=order, run=member.stem), _entry_key)


def _is_header(text: str, order: str) -> bool:
    cells = text.split()
    return leaderboard_order([cells]) == order and not _is_number(cells[-1])


def _parse_entry(text: str, *, order: str, run: str) -> LeaderboardEntry:
    columns, cells = LEADERBOARD_COLUMNS[order], text.split()
    if len(cells) != len(columns):
        raise Mismatch(f"columns {' '.join(columns)}", f"has {len(cells)} columns: {quote_value(text.strip())}")
    named = {"run": run} | dict(zip(columns, cells, strict=True))
    names = {name: Text(longest=MAX_ID).clean(named[name]) for name in ("run", "topic", "measure")}
    return LeaderboardEntry(**names, value=_value(named["value"]))


def _entry_key(entry: LeaderboardEntry) -> tuple[str, str]:
    name = f"{entry.measure} of {entry.run} on topic {entry.topic}"
    return f"{entry.run}\t{entry.topic}\t{entry.measure}", name


def read_leaderboard_lines(
    member: Member, problems: Problems, *, report: json_lines.Report = json_lines.no_report
) -> FileContents:
    """Read a leaderboard as JSON lines with `run_id`, `topic_id`, `measure` and `value`."""
    return collect(member, problems, json_values(member, problems, report=report), _parse_record, _entry_key)


_ENTRY: Final = {"run_id": Identifier(), "topic_id": Identifier(), "measure": Identifier()}


def _parse_record(record: Any) -> LeaderboardEntry:
    data = checked(record, _ENTRY)
    return LeaderboardEntry(data["run_id"], data["topic_id"], data["measure"], _value(record.get("value")))


def write_run(contents: FileContents) -> Iterator[bytes]:
    """Write a run."""
    return _lines((row.topic, "Q0", row.passage, str(row.rank), repr(row.score), row.run) for row in contents.values)


def write_qrels(contents: FileContents) -> Iterator[bytes]:
    """Write relevance judgments."""
    return _lines((row.topic, row.iteration, row.passage, str(row.grade)) for row in contents.values)


def write_leaderboard(contents: FileContents, *, order: str) -> Iterator[bytes]:
    """Write a leaderboard in this order of columns, separated by tabs."""
    columns = LEADERBOARD_COLUMNS[order]
    rows = ([str(getattr(entry, name)) for name in columns] for entry in contents.values)
    return _lines(rows, separator="\t")


def write_leaderboard_lines(contents: FileContents) -> Iterator[bytes]:
    """Write a leaderboard as JSON lines."""
    return as_json_lines(
        {"run_id": entry.run, "topic_id": entry.topic, "measure": entry.measure, "value": entry.value}
        for entry in contents.values
    )


def _lines(rows: Iterable[Iterable[str]], separator: str = " ") -> Iterator[bytes]:
    """Write columns; white space within a name becomes an underscore, because columns end at it."""
    for row in rows:
        yield (separator.join("_".join(cell.split()) or "_" for cell in row) + "\n").encode()


def _value(value: Any) -> float | int | str:
    """Return the value of a measure: a number where it is one, otherwise its text."""
    if isinstance(value, str):
        if _is_whole(value):
            return int(value)
        return float(value) if _is_number(value) else Identifier().clean(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise Mismatch("a finite number or a text", f"got {quote_value(value)}", "value")
    return value


def _is_whole(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdecimal() and len(digits) <= _MAX_DIGITS


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
