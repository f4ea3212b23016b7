"""Questions with answers in FlashRAG's format (Jin et al. 2025): JSON lines of id, question, golden_answers.

A line holds its candidate documents or names their ids in a corpus. Otherwise they are retrieved from a corpus later
(`retrieval.search`).
"""

from __future__ import annotations

import gzip
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

from ..protocols import Collection, Document, Query
from ..qa_metrics import METRICS
from . import folds
from .corpus import Corpus, document
from .fields import BadCollectionError, Fields, lines, lines_of

#: Fields of a line that may hold documents: our name, DPR's, and that of FlashRAG's results (inside `output`).
PLACES = ("documents", "ctxs", "retrieval_result")
BLANK_ANSWER = "blank answer"
#: The order in which an archive's files are read.
PARTS = (folds.TRAIN, folds.DEV, folds.TEST)
TWICE = "document listed twice for its question"


def read(path: Path | str, *, name: str = "", corpus: Corpus | None = None, metric: str = "") -> Collection:
    """Read questions.

    Parameters
    ----------
    path : Path or str
        JSON lines, gzipped or not, or a ZIP archive of `train`, `dev` and `test` files of these.
        docs/reference/question-files.md shows the fields.
    name : str, optional
        Name of the collection; by default the file's name up to its first dot.
    corpus : Corpus, optional
        Corpus in which to look up documents that a line names by id.
    metric : str, optional
        A name of `qa_metrics.METRICS` for all questions; a line's own `metric` takes precedence.

    Returns
    -------
    Collection
        Questions in the file's order, documents in the order of their line. Questions without answers or documents are
        kept; methods that need them leave such questions out and count them. Blank answers, and repeated ids of
        documents in one line, are left out and counted.

    Raises
    ------
    BadCollectionError
        With file, line and field of the error.
    """
    path = Path(path)
    ids: set[str] = set()
    left_out: Counter[str] = Counter()
    queries = []
    for row, split in _rows(path):
        query = _query(row, corpus, metric, left_out, split)
        if query.id in ids:
            raise row.wrong("id", "a unique id")
        ids.add(query.id)
        queries.append(query)
    if not queries:
        raise BadCollectionError(path.name, "", "", "at least one question", "none")
    left_out_counts = tuple(sorted((reason, n) for reason, n in left_out.items() if n))
    return Collection(name or path.name.split(".")[0], tuple(queries), left_out_counts)


def write(queries: Sequence[Query]) -> Iterator[dict[str, Any]]:
    """Yield questions with their documents in the format of `read`, one object per line."""
    for query in queries:
        row = {"id": query.id, "question": query.question, "golden_answers": list(query.answers)}
        row |= {"split": folds.part_of(query)} if folds.part_of(query) else {}
        yield row | ({"metric": query.metric} if query.metric else {}) | {"documents": [*map(_row, query.documents)]}


def _row(document: Document) -> dict[str, Any]:
    row = {"id": document.id, "title": document.title, "text": document.text}
    optional = {"score": document.score, "is_helpful": document.is_helpful}
    return row | {name: value for name, value in optional.items() if value is not None}


def _query(row: Fields, corpus: Corpus | None, metric: str, left_out: Counter[str], split: str) -> Query:
    answers = row.texts("golden_answers")
    left_out[BLANK_ANSWER] += sum(not answer for answer in answers)
    named_metric = row.optional_text("metric") or metric
    if named_metric and named_metric not in METRICS:
        raise row.wrong("metric", f"one of {', '.join(METRICS)}")
    return Query(
        id=row.key("id"),
        question=row.text("question"),
        answers=tuple(answer for answer in answers if answer),
        documents=_documents(row, corpus, left_out),
        metric=named_metric,
        facts={folds.FACT: part} if (part := _split(row) or split) else {},
    )


def _split(row: Fields) -> str:
    """Return the split that a line names; "" if it names none."""
    name = row.optional_text("split").casefold()
    if name and name not in folds.NAMES:
        raise row.wrong("split", "train, dev or test")
    return folds.NAMES[name] if name else ""


def _rows(path: Path) -> Iterator[tuple[Fields, str]]:
    """Yield lines with the split that their file in an archive is named for; "" if the path is a single file."""
    if not zipfile.is_zipfile(path):
        yield from ((row, "") for row in lines(path))
        return
    with zipfile.ZipFile(path) as pack:
        names = {name: folds.of_file(name) for name in pack.namelist() if not name.startswith("__MACOSX/")}
        parts = sorted((PARTS.index(split), name) for name, split in names.items() if split)
        if len({split_index for split_index, _name in parts}) < len(parts) or not parts:
            raise BadCollectionError(path.name, "", "", "one file for each of train, dev and test", ", ".join(names))
        for split_index, name in parts:
            try:
                file = cast("BinaryIO", pack.open(name))
            except (RuntimeError, NotImplementedError, zipfile.BadZipFile) as error:  # e.g. protected by a password
                raise BadCollectionError(path.name, name, "", "a readable archive", str(error)) from error
            unpacked = cast("BinaryIO", gzip.GzipFile(fileobj=file)) if name.endswith(".gz") else file
            try:
                yield from ((row, PARTS[split_index]) for row in lines_of(unpacked, name))
            except (zipfile.BadZipFile, zlib.error) as error:
                raise BadCollectionError(path.name, name, "", "a complete archive", str(error)) from error


def _documents(row: Fields, corpus: Corpus | None, left_out: Counter[str]) -> tuple[Document, ...]:
    levels = [row, row.inside("output", row.data["output"])] if row.has("output") else [row]
    holders = [(level, index) for level in levels for index in PLACES if level.has(index)]
    if not holders:
        return ()
    if len(holders) > 1:
        raise holders[1][0].wrong(holders[1][1], "documents in one place only")
    holder, index = holders[0]
    documents: dict[str, Document] = {}
    for i, entry in enumerate(holder.entries(index)):
        document = _document(holder, f"{index}[{i}]", entry, corpus)
        if document.id in documents:
            if document != documents[document.id]:
                raise holder.wrong(f"{index}[{i}].id", "one text for each id")
            left_out[TWICE] += 1
        documents.setdefault(document.id, document)
    return tuple(documents.values())


def _document(holder: Fields, name: str, data: Any, corpus: Corpus | None) -> Document:
    if isinstance(data, dict):
        return document(holder.inside(name, data))
    if not isinstance(data, str | int) or isinstance(data, bool):
        raise BadCollectionError(
            holder.file, holder.location, holder.prefix + name, "a document or the id of one", data
        )
    if corpus is None:
        raise BadCollectionError(
            holder.file,
            holder.location,
            holder.prefix + name,
            "a document (IDs need a corpus in addition to the file)",
            data,
        )
    try:
        return corpus[corpus.place(str(data))]
    except KeyError:
        raise BadCollectionError(
            holder.file, holder.location, holder.prefix + name, f"an id that {corpus.name} has", data
        ) from None
