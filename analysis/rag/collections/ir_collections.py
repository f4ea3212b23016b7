"""Test collections of `ir_datasets` (MacAvaney et al. 2021) as a corpus and a file of questions.

`ir_datasets` knows hundreds of collections by name (`beir/scifact/test`, `msmarco-passage/dev/small`), downloads those
that may be, and reads them all alike. The package is the extra `retrieval`.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...durable_files import written_at_once
from ..protocols import Document, Query
from . import qa
from .fields import BadCollectionError


class IrDatasetsMissingError(ImportError):
    """ir_datasets is not installed."""


@dataclass(frozen=True)
class IrFiles:
    """What was written of a test collection.

    Attributes
    ----------
    corpus, questions : Path or None
        None if the collection has no documents, or no queries.
    documents, queries : int
        Numbers of those written.
    set_aside : tuple of (str, int)
        Counts of what was not, by reason.
    """

    corpus: Path | None
    questions: Path | None
    documents: int
    queries: int
    set_aside: tuple[tuple[str, int], ...]


def load(name: str) -> Any:
    """Return a collection of `ir_datasets` by its name; nothing is downloaded yet.

    Raises
    ------
    IrDatasetsMissingError
        If the package is not installed.
    BadCollectionError
        If it knows no such collection.
    """
    try:
        import ir_datasets
    except ImportError as error:
        raise IrDatasetsMissingError(
            "ir_datasets is not installed. Install CrowdRAG with its extra retrieval, or the package ir-datasets."
        ) from error
    try:
        return ir_datasets.load(name)
    except KeyError as error:
        raise BadCollectionError(name, "", "", "a collection of ir_datasets", "none of this name") from error


def write(dataset: Any, folder: Path, *, name: str, relevant_from: int = 1) -> IrFiles:
    """Write a collection's documents as a corpus, and its queries with their judged documents as questions.

    Parameters
    ----------
    dataset : ir_datasets dataset
        With any of documents, queries and qrels.
    folder : Path
        Gets `NAME-corpus.jsonl` and `NAME-questions.jsonl`; each appears when it is complete.
    name : str
        The beginning of the files' names.
    relevant_from : int
        The lowest relevance of a document that is helpful (`is_helpful`); judged ones below it are not.

    Returns
    -------
    IrFiles
        Documents and queries without text, and judgments of documents that the collection does not have, are set aside
        and counted. Of several judgments of one document for a query, the highest counts.
    """
    folder.mkdir(parents=True, exist_ok=True)
    set_aside: Counter[str] = Counter()
    corpus = questions = None
    n_documents = n_queries = 0
    if dataset.has_docs():
        corpus = folder / f"{name}-corpus.jsonl"
        with written_at_once(corpus) as file:
            for row in dataset.docs_iter():
                document = _document(row)
                if not document.text:
                    set_aside["documents without text"] += 1
                    continue
                contents = {"id": document.id, "title": document.title, "text": document.text}
                file.write((json.dumps(contents, ensure_ascii=False) + "\n").encode())
                n_documents += 1
    if dataset.has_queries():
        questions = folder / f"{name}-questions.jsonl"
        with written_at_once(questions) as file:
            for line in qa.write(list(_queries(dataset, relevant_from, set_aside))):
                file.write((json.dumps(line, ensure_ascii=False) + "\n").encode())
                n_queries += 1
    counts = tuple(sorted((reason, n) for reason, n in set_aside.items() if n))
    return IrFiles(corpus, questions, n_documents, n_queries, counts)


def _queries(dataset: Any, relevant_from: int, set_aside: Counter[str]) -> Iterator[Query]:
    relevance: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for row in dataset.qrels_iter() if dataset.has_qrels() else ():
        of_query = relevance[row.query_id]
        of_query[row.doc_id] = max(row.relevance, of_query.get(row.doc_id, row.relevance))
    store = dataset.docs_store() if dataset.has_docs() and relevance else None
    for row in dataset.queries_iter():
        text = str(row.default_text()).strip()
        if not text:
            set_aside["queries without text"] += 1
            continue
        judged = relevance.get(row.query_id, {})
        known = store.get_many(judged) if store is not None and judged else {}
        documents = []
        for key, degree in judged.items():
            document = _document(known[key], degree >= relevant_from) if key in known else None
            if document is None or not document.text:
                set_aside["judgments of documents that are not there"] += 1
            else:
                documents.append(document)
        answers = tuple(str(answer).strip() for answer in getattr(row, "answers", None) or () if str(answer).strip())
        yield Query(str(row.query_id), text, answers, tuple(documents))


def _document(row: Any, is_helpful: bool | None = None) -> Document:
    """Return a document: title and text where the collection has both, else its text as a whole."""
    text = getattr(row, "text", None)
    title = getattr(row, "title", "")
    if not isinstance(text, str) or not isinstance(title, str):
        text, title = str(row.default_text()), ""
    return Document(str(row.doc_id), text.strip(), title.strip(), is_helpful=is_helpful)
