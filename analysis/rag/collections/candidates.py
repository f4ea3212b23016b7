"""Candidate documents of a collection's questions: remove duplicates, add documents of other questions."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from ..protocols import Collection, Document, Query

#: The reason under which `without_repeats` counts removed documents.
REPEATED = "document identical to another of its question"


class TooFewDocumentsError(ValueError):
    """There are fewer documents of other questions than requested."""


def without_repeats(collection: Collection) -> Collection:
    """Remove duplicate documents of each question; keep the first helpful one if there is one, else the first.

    Parameters
    ----------
    collection : Collection

    Returns
    -------
    Collection
        With the number of removed documents added to `left_out`.
    """
    queries = [replace(query, documents=_distinct(query.documents)) for query in collection.queries]
    removed = sum(len(query.documents) for query in collection.queries) - sum(len(item.documents) for item in queries)
    left_out = Counter(dict(collection.left_out)) + Counter({REPEATED: removed})  # adding Counters drops zeros
    return replace(collection, queries=tuple(queries), left_out=tuple(sorted(left_out.items())))


def with_others(
    collection: Collection, n: int, rng: np.random.Generator, *, folds: Mapping[str, int] | None = None
) -> Collection:
    """Add documents of other questions to each question.

    Parameters
    ----------
    collection : Collection
    n : int
        Number of documents to add, drawn uniformly without replacement from the other questions. A text that the
        question already has, its own or drawn, is not drawn again.
    rng : numpy.random.Generator
        Random generator, used question by question.
    folds : mapping of str to int, optional
        Fold in which each question is tested, by id. Documents are drawn only from questions of the same fold, so that
        a model trained on the other folds has seen none of this fold's documents. A question without a fold gets no
        documents and gives none. By default, every question can give documents to every other.

    Returns
    -------
    Collection
        The id of an added document begins with its question's id, `nq-18:gpt_false`. Its `is_helpful` is False, since
        it was written for another question. Its score from the data is removed, since it is for that question. All
        documents are in the order of `mixed`.

    Raises
    ------
    TooFewDocumentsError
        If the other questions, or those of the same fold, have fewer than n.
    """
    if n < 0:
        raise ValueError("a number of documents is 0 or more")
    fold_of = dict.fromkeys((query.id for query in collection.queries), 0) if folds is None else folds
    pools: dict[int, list[tuple[int, Document]]] = defaultdict(list)
    for index, query in enumerate(collection.queries):
        if query.id in fold_of:
            pools[fold_of[query.id]] += ((index, document) for document in query.documents)
    queries = []
    for query in collection.queries:
        if query.id in fold_of:
            strangers = _drawn(query, pools[fold_of[query.id]], collection, n, rng, is_divided=folds is not None)
            query = replace(query, documents=mixed(query.id, (*query.documents, *strangers)))
        queries.append(query)
    return replace(collection, queries=tuple(queries))


def mixed(query: str, documents: Iterable[Document]) -> tuple[Document, ...]:
    """Sort documents by a digest of both ids: an uninformative order, the same on every machine.

    Rankings break ties by the order of the documents. If helpful documents came first, a ranker that knows nothing
    would look good.
    """
    return tuple(sorted(documents, key=lambda item: hashlib.sha256(f"{query}\0{item.id}".encode()).digest()))


def _distinct(documents: tuple[Document, ...]) -> tuple[Document, ...]:
    index_of: dict[tuple[str, str], int] = {}
    for index, document in enumerate(documents):
        key = (document.title, document.text)
        if key not in index_of or (document.is_helpful and not documents[index_of[key]].is_helpful):
            index_of[key] = index
    return tuple(documents[index] for index in sorted(index_of.values()))


def _drawn(
    query: Query,
    pool: list[tuple[int, Document]],
    collection: Collection,
    n: int,
    rng: np.random.Generator,
    *,
    is_divided: bool,
) -> list[Document]:
    known_texts = {(item.title, item.text) for item in query.documents}
    documents: list[Document] = []
    for pick in _places(len(pool), n, rng):
        owner, document = pool[pick]
        text = (document.title, document.text)
        if text in known_texts:  # as all of its own are
            continue
        known_texts.add(text)
        name = f"{collection.queries[owner].id}:{document.id}"
        documents.append(replace(document, id=name, is_helpful=False, score=None))
        if len(documents) == n:
            return documents
    if not n:
        return documents
    source, way_out = ("questions of its fold", ", or for fewer folds") if is_divided else ("questions", "")
    raise TooFewDocumentsError(
        f"question {query.id}: the other {source} have {len(documents)} documents that differ, not {n}: "
        f"ask for fewer{way_out}"
    )


def _places(size: int, n: int, rng: np.random.Generator) -> Iterator[int]:
    """Yield indices in random order, all of them in the end. One may occur twice; the caller skips it as a known text.

    Usually few of many are needed. So the first are drawn with replacement, without permuting the whole range.
    """
    if n and size:
        yield from rng.integers(size, size=4 * n + 8).tolist()
        yield from rng.permutation(size).tolist()
