"""Documents of tested questions, kept out of what is learnt: told by their text, whatever they are called and by whom.

Folds divide questions. A text that two questions have, of which one is tested, would stand among the documents learnt
from as well: with the label that it has for the other question. A copy with some words changed would do the same, so
that texts with half of their 8-grams of words in common count as one.
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

#: Words of a shingle. A shorter text is one shingle.
SHINGLE = 8
#: Shingles of the shorter text that two texts have in common when they count as one.
SHARE = 0.5

Hashes = NDArray[np.uint64]
_WORD = re.compile(r"\w+")
#: Odd, so that no bit of a word is lost; a power for each place in a shingle.
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
with np.errstate(over="ignore"):
    _POWERS = np.cumprod(np.full(SHINGLE, _FACTOR, dtype=np.uint64))


def key(document: Document) -> str:
    """What a document is told by: its text, however its words are set; the title is nothing by itself.

    Examples
    --------
    >>> key(Document("1", "A  text\\n", title="One")) == key(Document("2", "A text"))
    True
    """
    return " ".join(document.text.split())


def digest(document: Document) -> str:
    """A key of sixteen letters: what a trained model says that it has seen."""
    return hashlib.sha256(key(document).encode()).hexdigest()[:16]


def words(text: str) -> list[str]:
    """The words that shingles are made of: without case and punctuation."""
    return _WORD.findall(text.casefold())


def shingles(text: str) -> Hashes:
    """Hashes of a text's distinct shingles, in rising order; the same in one process alone.

    Returns
    -------
    ndarray of uint64, shape (n_shingles,)
        Empty of a text without words.
    """
    text_words = words(text)
    hashes = np.fromiter((hash(word) for word in text_words), dtype=np.int64, count=len(text_words)).view(np.uint64)
    hashes = hashes ^ (hashes >> np.uint64(31))
    size = min(SHINGLE, len(text_words))
    rolled = np.zeros(len(text_words) - size + 1 if text_words else 0, dtype=np.uint64)
    for offset in range(size):
        rolled += hashes[offset : offset + len(rolled)] * _POWERS[offset]
    # Texts shorter than a shingle are equal to no part of another.
    return np.unique(rolled ^ np.uint64(SHINGLE - size))


class KnownTexts:
    """The documents of tested questions, by which others are known to be equal or nearly so.

    Each is looked up in time that is linear in its words, and in how often its shingles occur among these.

    Parameters
    ----------
    queries : iterable of Query
        The tested ones.
    nearly : bool
        Otherwise texts must be equal.
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
        """Whether a document is equal to one of them, or has half of its shingles in common with one."""
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
    """The query without the documents that tested queries have as well, among its labels and its candidates.

    Parameters
    ----------
    labelled : Labelled
    is_tested : callable
        Says it of a document.

    Returns
    -------
    Labelled
        Maybe with no document at all: then there is nothing to learn from.
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
    """The digests of all labelled documents, each once, in the order of their letters."""
    return sorted({digest(document) for example in labelled for document in example.documents})


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).digest()
