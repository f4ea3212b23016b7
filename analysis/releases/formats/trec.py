"""Files for TREC tools: topics, retrieved passages as a run, grades as qrels, labels of pairs as preferences.

Fields are separated by spaces, so spaces in IDs are written as %20. Relevance must be an integer, but grades may be
halves: relevance is twice the grade, which changes no nDCG.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any
from urllib.parse import quote

from ..contents.content_table import ContentTable, Row
from .output_folder import Folder, OpenFile

FOLDER = "trec"
_TEXT = "text/plain; charset=utf-8"
_TOPICS = "Topics: ID and query, separated by a tab"
_RETRIEVED = "Retrieved passages as a run: topic, Q0, passage, rank from 1, score, tag"
_QRELS = "Grades as qrels: topic, 0, response, relevance (twice the grade, 2 is the worst)"
_PREFERENCES = "Labels of pairs: topic, left response, right response, -1 (left is better), 0 (neither) or 1 (right)"
LABELS = {"a": -1, "n": 0, "b": 1}
_TAG = "retrieved"
_BREAKS = re.compile(r"[\s%\x00-\x1f\x7f-\xa0]")


def write(folder: Folder, tables: Sequence[ContentTable]) -> None:
    """Write the files that have at least one line."""
    by_name = {table.name: table for table in tables}
    latest = _latest(by_name["topics"]) if "topics" in by_name else {}
    if latest:
        _topics(folder, by_name["topics"], latest)
        if "retrieved" in by_name:
            _retrieved(folder, by_name["retrieved"], latest)
    if "grades" in by_name:
        _qrels(folder, by_name["grades"])
    if "gold" in by_name and "responses" in by_name:
        _preferences(folder, by_name["gold"], by_name["responses"])


def word(text: str) -> str:
    """Return an ID without spaces."""
    return _BREAKS.sub(lambda match: quote(match[0]), text)


def _latest(topics: ContentTable) -> dict[str, int]:
    """Return the last version of each topic: these files cannot hold earlier ones."""
    versions: dict[str, int] = {}
    for row in topics.rows():
        versions[row["topic"]] = max(versions.get(row["topic"], 0), row["topic_version"])
    return versions


def _is_latest(row: Row, latest: dict[str, int]) -> bool:
    return bool(latest.get(row["topic"]) == row["topic_version"])


def _topics(folder: Folder, topics: ContentTable, latest: dict[str, int]) -> None:
    with folder.file(f"{FOLDER}/topics.tsv", _TEXT, _TOPICS) as file:
        for row in topics.rows():
            if _is_latest(row, latest):
                _line(file, f"{word(row['topic'])}\t{_one_line(row['query'])}")


def _retrieved(folder: Folder, retrieved: ContentTable, latest: dict[str, int]) -> None:
    rows = (row for row in retrieved.rows() if _is_latest(row, latest))
    if (first := next(rows, None)) is None:
        return
    with folder.file(f"{FOLDER}/retrieved.run", _TEXT, _RETRIEVED) as file:
        for row in _and_then(first, rows):
            # Tools sort by score: if it is unknown, use one that decreases with the rank.
            score = -float(row["rank"]) if row["score"] is None else row["score"]
            ids = f"{word(row['topic'])} Q0 {word(row['passage'])}"
            _line(file, f"{ids} {row['rank'] + 1} {score!r} {_TAG}")


def _qrels(folder: Folder, grades: ContentTable) -> None:
    with ExitStack() as opened:
        files = _Files(folder, opened, "qrels", _QRELS)
        for row in grades.rows():
            if row["grade"] is not None:
                relevance = round(2 * row["grade"])
                _line(files.of(row), f"{word(row['topic'])} 0 {word(row['response'])} {relevance}")


def _preferences(folder: Folder, gold: ContentTable, responses: ContentTable) -> None:
    topics = {row["response"]: row["topic"] for row in responses.rows()}
    with ExitStack() as opened:
        files = _Files(folder, opened, "preferences", _PREFERENCES)
        for row in gold.rows():
            a, b, label = row["response_a"], row["response_b"], row["label"]
            if label in LABELS and a in topics:
                _line(files.of(row), f"{word(topics[a])} {word(a)} {word(b)} {LABELS[label]}")


class _Files:
    """Files by dimension, and by run if several runs judged it; opened with the first line."""

    def __init__(self, folder: Folder, opened: ExitStack, name: str, meaning: str) -> None:
        self._folder, self._opened, self._name, self._meaning = folder, opened, name, meaning
        self._files: dict[tuple[str, Any], OpenFile] = {}
        self._taken: set[str] = set()

    def of(self, row: Row) -> OpenFile:
        """Return the file of a row."""
        key = (row["dimension"], row.get("run"))
        if key not in self._files:
            path = f"{FOLDER}/{self._free(row['dimension'])}.txt"
            meaning = f"{self._meaning}; on {row['dimension']}"
            meaning += f", by the run {row['run']}" if row.get("run") else ""
            self._files[key] = self._opened.enter_context(self._folder.file(path, _TEXT, meaning))
        return self._files[key]

    def _free(self, dimension: str) -> str:
        name = f"{self._name}.{re.sub(r'[^A-Za-z0-9_-]+', '_', dimension)}"
        number = 1
        while (free := name if number == 1 else f"{name}.{number}") in self._taken:
            number += 1
        self._taken.add(free)
        return free


def _one_line(text: str) -> str:
    """Remove characters that would end a field or a line."""
    return " ".join(text.split())


def _line(file: OpenFile, text: str) -> None:
    file.write(f"{text}\n".encode())
    file.rows += 1


def _and_then(first: Row, rest: Iterator[Row]) -> Iterator[Row]:
    yield first
    yield from rest
