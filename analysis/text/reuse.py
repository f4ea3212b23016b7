"""Text reuse: how far a statement copies a passage that it cites (design 7.5; docs/methods/text-reuse.md)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .overlap import Bleu
from .statements import ParsedResponse

#: N-grams up to so many words are compared: longer than a turn of phrase, so that copying shows.
MAX_ORDER = 8

_WORD = re.compile(r"[^\W_]")


@dataclass(frozen=True, slots=True)
class Reuse:
    """A statement with a passage that it cites.

    Attributes
    ----------
    statement : int
        The statement's place in its response, from 0.
    passage : int
        The passage's place in the ranking, 0-based as in citation markers.
    bleu : float
        From 0 (nothing shared) to 100 (a copy); NaN where statement or passage has no words.
    """

    statement: int
    passage: int
    bleu: float


def measure() -> Bleu:
    """What compares statements with passages; it keeps texts, so make one for each topic."""
    return Bleu(max_order=MAX_ORDER, lowercase=True)


def reuse(parsed: ParsedResponse, passages: Sequence[str], *, bleu: Bleu | None = None) -> list[Reuse]:
    """Compare each statement of a response with each passage that it cites.

    Parameters
    ----------
    parsed : ParsedResponse
        A response; its statements are compared as they read, with what closes them and without markers.
    passages : sequence of str
        The passages' texts, at the places that the citations name.
    bleu : Bleu, optional
        From `measure`: pass the same one for all responses of a topic, and each text is read once.

    Returns
    -------
    list of Reuse
        In the order of statements and citations; statements without citation have none.

    Raises
    ------
    IndexError
        If a citation names no passage: parse the response with the number of its passages.

    Notes
    -----
    Sentence-BLEU up to order 8, lower case, effective order; a passage's lines are its references, so that a statement
    copied from one line scores high, however long the passage (crowdrag25, section 4.4).
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
    """The lines of a passage but blank ones: an empty reference would only lift BLEU's penalty for brevity."""
    return [line for line in passage.split("\n") if line.strip()]
