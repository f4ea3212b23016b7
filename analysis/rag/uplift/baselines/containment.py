"""Whether a document states a right answer: what stands in for people's judgments of relevance."""

from __future__ import annotations

from collections.abc import Sequence

from ...answers import normalised
from ...shapes import Document
from .embedding import text


def contains_answer(document: Document, answers: Sequence[str]) -> bool:
    """Whether the words of a right answer stand one after another in a document, both normalised as for exact match.

    Parameters
    ----------
    document : Document
        Its title counts.
    answers : sequence of str
        One that is empty when normalised is in no document. None at all: False.

    Returns
    -------
    bool

    Examples
    --------
    >>> contains_answer(Document("1", "It rose in the U.S."), ["us"]), contains_answer(Document("1", "a bus"), ["us"])
    (True, False)
    """
    words = f" {normalised(text(document))} "
    return any(f" {wanted} " in words for wanted in map(normalised, answers) if wanted)


def is_relevant(document: Document, answers: Sequence[str]) -> bool:
    """Whether the data says that the document helps; where it says nothing, whether it contains a right answer."""
    return contains_answer(document, answers) if document.is_helpful is None else document.is_helpful
