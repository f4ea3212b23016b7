"""Rankings of any other system, as TREC run files: `qid Q0 docid rank score tag`, one document a line.

A run file is a retriever of the questions that it ranks: documents are looked up in a corpus by their ids. Rows that
cannot be used are set aside and counted by reason.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from ..collections.fields import BadCollectionError, opened
from ..protocols import Collection, Document

#: For each question, the ids of documents with their scores, by falling score.
Rankings = dict[str, tuple[tuple[str, float], ...]]
#: Rows that are shown of each kind that is set aside.
SHOWN = 5
_COLUMNS = 6


class DocumentsById(Protocol):
    """Documents that can be looked up by id: `collections.corpus.Corpus`."""

    def place(self, key: str) -> int:
        """Return a document's position by its id; raises KeyError if there is none."""
        ...

    def documents(self, places: Sequence[int]) -> list[Document]:
        """Return the documents at these positions."""
        ...


@dataclass(frozen=True)
class SetAside:
    """A row that is not used: its line (from 1), and why."""

    line: int
    reason: str


@dataclass(frozen=True)
class TrecRun:
    """A run file.

    Attributes
    ----------
    name : str
        The tag of its rows; several are joined.
    rankings : dict
        For each question, the ids of documents with their scores, by falling score; ties by rank, then by line.
    set_aside : tuple of SetAside
    """

    name: str
    rankings: Rankings
    set_aside: tuple[SetAside, ...] = ()

    @property
    def counts(self) -> tuple[tuple[str, int], ...]:
        """The number of rows set aside by reason, which names the first of their lines."""
        lines: defaultdict[str, list[int]] = defaultdict(list)
        for row in self.set_aside:
            lines[row.reason].append(row.line)
        return tuple((f"{reason} ({_lines(numbers)})", len(numbers)) for reason, numbers in sorted(lines.items()))


def read(path: Path | str) -> TrecRun:
    """Read a run file, gzipped or not.

    Rows are ordered by score, as trec_eval does, not by their rank or line.

    Raises
    ------
    BadCollectionError
        If the file cannot be read, or none of its rows can be used.
    """
    path = Path(path)
    rows: defaultdict[str, dict[str, tuple[float, float, int]]] = defaultdict(dict)
    tags: dict[str, None] = {}
    set_aside: list[SetAside] = []
    try:
        with opened(path) as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    query, document, rank, score, tag = _row(line)
                except _UnusableRowError as error:
                    set_aside.append(SetAside(number, str(error)))
                    continue
                if document in rows[query]:
                    set_aside.append(SetAside(number, "a document twice for one question"))
                    continue
                rows[query][document] = (-score, rank, number)
                tags.setdefault(tag)
    except (EOFError, OSError) as error:
        raise BadCollectionError(path.name, "", "", "a readable file", str(error)) from error
    rankings = {
        query: tuple((document, -order[0]) for document, order in sorted(ranked.items(), key=lambda item: item[1]))
        for query, ranked in rows.items()
        if ranked
    }
    if not rankings:
        reason = f"line {set_aside[0].line}: {set_aside[0].reason}" if set_aside else "none"
        raise BadCollectionError(path.name, "", "", "rows of qid Q0 docid rank score tag", reason)
    return TrecRun("+".join(tags), rankings, tuple(set_aside))


def _lines(numbers: Sequence[int]) -> str:
    listed = ", ".join(map(str, numbers[:SHOWN]))
    return f"line{'s' * (len(numbers) > 1)} {listed}" + (", …" if len(numbers) > SHOWN else "")


class _UnusableRowError(ValueError):
    """Why a row is set aside."""


def _row(line: bytes) -> tuple[str, str, float, float, str]:
    try:
        columns = line.decode().split()
    except UnicodeDecodeError:
        raise _UnusableRowError("not UTF-8") from None
    if len(columns) != _COLUMNS:
        raise _UnusableRowError("not six columns")
    query, _iteration, document, rank, score, tag = columns
    try:
        values = float(rank), float(score)
    except ValueError:
        raise _UnusableRowError("rank or score is no number") from None
    if not all(map(math.isfinite, values)):
        raise _UnusableRowError("rank or score is no number")
    return query, document, *values, tag


def retrieve(collection: Collection, run: TrecRun, documents: DocumentsById, n: int) -> Collection:
    """Replace each question's documents by the best that a run ranks for it.

    Parameters
    ----------
    collection : Collection
    run : TrecRun
    documents : DocumentsById
        The corpus that the run ranks.
    n : int
        Number of documents; fewer if the run ranks fewer.

    Returns
    -------
    Collection
        Documents by descending score, which is stored in `score`. `left_out` also counts the file's rows that were set
        aside, documents that the corpus does not have, and ranked questions that the collection does not have;
        questions without a ranking get no documents, and are counted, too.
    """
    counts: Counter[str] = Counter()
    queries = []
    for query in collection.queries:
        documents_of_query: list[Document] = []
        ranking = run.rankings.get(query.id, ())
        counts["questions that the run does not rank"] += not ranking
        for key, score in ranking:
            if len(documents_of_query) == n:
                break
            try:
                documents_of_query.append(replace(documents.documents([documents.place(key)])[0], score=score))
            except KeyError:
                counts["ranked documents that the corpus does not have"] += 1
        queries.append(replace(query, documents=tuple(documents_of_query)))
    counts["ranked questions that the file does not have"] = len(
        run.rankings.keys() - {query.id for query in collection.queries}
    )
    of_rows = tuple((f"rows of the run: {reason}", count) for reason, count in run.counts)
    left_out = (*collection.left_out, *of_rows, *((reason, count) for reason, count in counts.items() if count))
    return replace(collection, queries=tuple(queries), left_out=left_out)
