"""Candidate documents of a collection's questions: equal ones taken away, those of other questions added."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from ..protocols import Collection, Document, Query

#: Why `without_repeats` leaves a document out.
REPEATED = "document identical to another of its question"


class TooFewDocumentsError(ValueError):
    """More documents of other questions are asked for than there are."""


def without_repeats(collection: Collection) -> Collection:
    """Of documents of one question that are equal texts, keep one: the first helpful one, if any is, else the first.

    Parameters
    ----------
    collection : Collection

    Returns
    -------
    Collection
        What was taken away is counted in `left_out`, beside what was before.
    """
    queries = [replace(query, documents=_distinct(query.documents)) for query in collection.queries]
    removed = sum(len(query.documents) for query in collection.queries) - sum(len(item.documents) for item in queries)
    left_out = Counter(dict(collection.left_out)) + Counter({REPEATED: removed})  # of a sum, zeros are left out
    return replace(collection, queries=tuple(queries), left_out=tuple(sorted(left_out.items())))


def with_others(
    collection: Collection, n: int, rng: np.random.Generator, *, folds: Mapping[str, int] | None = None
) -> Collection:
    """Give each question documents of other questions beside its own.

    Parameters
    ----------
    collection : Collection
    n : int
        How many: any of the others' documents, each equally likely and none twice. A text that the question has
        already, by itself or from another question, is not drawn.
    rng : numpy.random.Generator
        Draws them, question by question.
    folds : mapping of str to int, optional
        In which fold each question is tested, by its id: documents are drawn from questions of the same fold alone, so
        that what is learnt from the other folds has seen none of a fold's documents. A question that is in none gets
        none and lends none. By default all questions lend to all.

    Returns
    -------
    Collection
        A document of another question is called by its question's id, `nq-18:gpt_false`, and `is_helpful` is False: it
        was written for another question. Scores that came with the data are taken from it, as they say how well it fits
        that one. All documents are put in the order of `mixed`.

    Raises
    ------
    TooFewDocumentsError
        If the other questions, or those of its fold, have fewer than n.
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
    """Put documents in an order that says nothing of them, the same everywhere: by a digest of both ids.

    Where scores are equal, rankings are in the documents' order: if helpful ones stood first, a ranker that knows
    nothing would look as if it did.
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
    """Places in random order, all of them in the end; one may come twice, which counts as a text that is there already.

    Few are needed of many, so that the first are drawn with replacement, which touches few.
    """
    if n and size:
        yield from rng.integers(size, size=4 * n + 8).tolist()
        yield from rng.permutation(size).tolist()
