"""Text reuse: how much a statement copies from a passage that it cites (design 7.5; docs/methods/text-reuse.md)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .overlap import Bleu
from .statements import ParsedResponse

#: Maximum n-gram order: longer than a common phrase, so that copying is visible.
MAX_ORDER = 8

_WORD = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class Reuse:
    """Text reuse between a statement and a passage that it cites.

    Attributes
    ----------
    statement : int
        The statement's index in its response, from 0.
    passage : int
        The passage's index in the ranking, 0-based as in citation markers.
    bleu : float
        From 0 (nothing shared) to 100 (a copy); NaN if the statement or the passage has no words.
    """

    statement: int
    passage: int
    bleu: float


def measure() -> Bleu:
    """Return the measure of statements and passages; it caches texts, so create one for each topic."""
    return Bleu(max_order=MAX_ORDER, lowercase=True)


def reuse(parsed: ParsedResponse, passages: Sequence[str], *, bleu: Bleu | None = None) -> list[Reuse]:
    """Compare each statement of a response with each passage that it cites.

    Parameters
    ----------
    parsed : ParsedResponse
        A response. Its statements are compared in readable form, with closing punctuation and without markers.
    passages : sequence of str
        The texts of the passages, at the indices that citations use.
    bleu : Bleu, optional
        From `measure`. Pass the same object for all responses of a topic, so that each text is read once.

    Returns
    -------
    list of Reuse
        In the order of statements and citations; statements without citations are not included.

    Raises
    ------
    IndexError
        If a citation has no passage. To avoid this, parse the response with the correct number of passages.

    Notes
    -----
    Sentence-BLEU up to order 8, lower case, effective order. The lines of a passage are its references (crowdrag25,
    section 4.4). A statement copied from one line therefore gets a high score in a passage of any length.
    """
    compare = bleu or measure()
    lines = {passage: lines_of(passages[passage]) for passage in parsed.cited_passages}
    comparable = {passage for passage in lines if _WORD.search(passages[passage])}
    results = []
    for index, statement in enumerate(parsed.statements):
        text = statement.text
        has_words = bool(_WORD.search(text))
        for passage in statement.citations:
            score = compare.score(text, lines[passage]) if has_words and passage in comparable else float("nan")
            results.append(Reuse(index, passage, score))
    return results


def lines_of(passage: str) -> list[str]:
    """Return the lines of a passage without blank ones: an empty reference would only reduce BLEU's brevity penalty."""
    return [line for line in passage.split("\n") if line.strip()]
