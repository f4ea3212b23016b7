"""Removal of test documents from training data, recognised by their text, not by id or author.

Folds split questions. A text that occurs with two questions, one of them tested, would also be among the training
documents, with its label for the other question. A copy with some changed words would have the same effect. So texts
that share half of their word 8-grams count as the same.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..protocols import Document, Query
from .uplift_labels import LabelledQuery

#: Words per shingle. A shorter text is a single shingle.
SHINGLE = 8
#: Share of the shorter text's shingles that two texts must have in common to count as the same.
SHARE = 0.5

Hashes = NDArray[np.uint64]
_WORD = re.compile(r"\w+")
#: Multiplier of the rolling hash; odd, so that no bit of a word is lost. One power per position in a shingle.
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
with np.errstate(over="ignore"):
    _POWERS = np.cumprod(np.full(SHINGLE, _FACTOR, dtype=np.uint64))


def key(document: Document) -> str:
    """Return the key that identifies a document: its text with normalised white space, without the title.

    Examples
    --------
    >>> key(Document("1", "A  text\\n", title="One")) == key(Document("2", "A text"))
    True
    """
    return " ".join(document.text.split())


def digest(document: Document) -> str:
    """Return a key of 16 hexadecimal digits, by which a trained model lists the documents that it has seen."""
    return hashlib.sha256(key(document).encode()).hexdigest()[:16]


def words(text: str) -> list[str]:
    """Return the words for shingles, without case and punctuation."""
    return _WORD.findall(text.casefold())


def shingles(text: str) -> Hashes:
    """Return the hashes of a text's distinct shingles in ascending order; valid only within one process.

    Returns
    -------
    ndarray of uint64, shape (n_shingles,)
        Empty if the text has no words.
    """
    text_words = words(text)
    hashes = np.fromiter((hash(word) for word in text_words), dtype=np.int64, count=len(text_words)).view(np.uint64)
    hashes = hashes ^ (hashes >> np.uint64(31))
    size = min(SHINGLE, len(text_words))
    rolled = np.zeros(len(text_words) - size + 1 if text_words else 0, dtype=np.uint64)
    for offset in range(size):
        rolled += hashes[offset : offset + len(rolled)] * _POWERS[offset]
    # Ensures that a text shorter than a shingle never matches a part of another text.
    return np.unique(rolled ^ np.uint64(SHINGLE - size))


class KnownTexts:
    """The documents of test questions, for finding equal and near-equal texts.

    The time of a lookup is linear in a document's words and in how often its shingles occur in these documents.

    Parameters
    ----------
    queries : iterable of Query
        The test queries.
    nearly : bool
        Whether near-equal texts also match; otherwise texts must be equal.
    """

    def __init__(self, queries: Iterable[Query], *, nearly: bool = True) -> None:
        texts = {key(document) for query in queries for document in query.documents}
        self._digests = {_digest(text) for text in texts}
        shingles_of = [shingles(text) for text in texts] if nearly else []
        self._sizes = np.array([len(hashes) for hashes in shingles_of], dtype=np.int64)
        joined = np.concatenate(shingles_of) if shingles_of else np.zeros(0, dtype=np.uint64)
        order = np.argsort(joined, kind="stable")
        self._hashes = joined[order]
        self._owners = np.repeat(np.arange(len(shingles_of), dtype=np.int32), self._sizes)[order]

    def __contains__(self, document: object) -> bool:
        """Return whether a document equals one of them, or shares half of its shingles with one."""
        if not isinstance(document, Document):
            return False
        text = key(document)
        return _digest(text) in self._digests or self._is_near(text)

    def _is_near(self, text: str) -> bool:
        if not len(self._hashes):
            return False
        hashes = shingles(text)
        first = np.searchsorted(self._hashes, hashes, side="left")
        counts = np.searchsorted(self._hashes, hashes, side="right") - first
        total = int(counts.sum())
        if not total:
            return False
        starts = np.repeat(first - np.cumsum(counts) + counts, counts)
        owners, common = np.unique(self._owners[starts + np.arange(total)], return_counts=True)
        return bool(np.any(common >= SHARE * np.minimum(self._sizes[owners], len(hashes))))


def without(labelled: LabelledQuery, is_tested: Callable[[Document], bool]) -> LabelledQuery:
    """Return the query without documents that also occur in test queries, in its labels and its candidates.

    Parameters
    ----------
    labelled : LabelledQuery
    is_tested : callable
        Returns whether a document occurs in test queries.

    Returns
    -------
    LabelledQuery
        May have no documents left: then there is nothing to train on.
    """
    documents_by_text = {item.text: item for item in (*labelled.documents, *labelled.query.documents)}
    tested = {text for text, item in documents_by_text.items() if is_tested(item)}
    kept_indices = [index for index, item in enumerate(labelled.documents) if item.text not in tested]
    candidates = tuple(item for item in labelled.query.documents if item.text not in tested)
    return replace(
        labelled,
        query=replace(labelled.query, documents=candidates),
        documents=tuple(labelled.documents[index] for index in kept_indices),
        alone=tuple(labelled.alone[index] for index in kept_indices),
    )


def digests(labelled: Iterable[LabelledQuery]) -> list[str]:
    """Return the digests of all labelled documents, each once, sorted."""
    return sorted({digest(document) for example in labelled for document in example.documents})


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).digest()
