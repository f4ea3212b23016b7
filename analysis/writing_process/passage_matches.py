"""Search for the source passage of a pasted text: exact matches, or shared runs of words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from analysis.text.words import normalize
from analysis.writing_process.thresholds import DEFAULTS

_MARKER = re.compile(r"\[[0-9,;\s\u2013-]*\]")
_TOKEN = re.compile(r"[^\W_]+")
# Scripts without blanks between words (Thai to Tibetan, Khmer, Han and kana) are matched letter by letter.
_UNSPACED = (
    ("\u0e00", "\u0fff"),
    ("\u1780", "\u17ff"),
    ("\u2e80", "\ua4cf"),
    ("\uf900", "\ufaff"),
    ("\U00020000", "\U0003ffff"),
)
_FIRST_UNSPACED = _UNSPACED[0][0]

# Only the beginning of a longer text is matched, to limit the server time for very large pastes.
LONGEST = 100_000


@dataclass(frozen=True)
class Match:
    """The source of a text: the passage's rank (None if there is none), and the share of words found there."""

    passage: int | None
    share: float
    is_exact: bool


NOWHERE = Match(None, 0.0, is_exact=False)


class Sources:
    """The writer's passages, indexed for search."""

    def __init__(
        self, passages: Sequence[str], *, match: float = DEFAULTS.match, shingle: int = DEFAULTS.shingle
    ) -> None:
        self.match, self.shingle = match, shingle
        self._tokens = [tokens(passage) for passage in passages]
        self._joined = [_joined(words) for words in self._tokens]
        self._shingles: dict[int, list[set[tuple[str, ...]]]] = {}

    def __len__(self) -> int:
        return len(self._tokens)

    def find(self, text: str) -> Match:
        """Find the passage that contains a text, or that shares enough runs of words with it.

        Case, punctuation, blanks and citation markers are ignored. Time is linear in the lengths of text and passages.
        """
        words = tokens(text)
        if not words:
            return NOWHERE
        joined = _joined(words)
        for rank, passage in enumerate(self._joined):
            if joined in passage:
                return Match(rank, 1.0, is_exact=True)
        shares = [self._share(words, rank) for rank in range(len(self))]
        best = max(range(len(self)), key=lambda rank: (shares[rank], -rank), default=None)
        if best is None or shares[best] < self.match:
            return Match(None, shares[best] if best is not None else 0.0, is_exact=False)
        return Match(best, shares[best], is_exact=False)

    def share(self, text: str, rank: int) -> float:
        """Return the share of a text's words that are in one passage, in runs of at least `shingle` words."""
        words = tokens(text)
        if not words or not 0 <= rank < len(self):
            return 0.0
        return 1.0 if _joined(words) in self._joined[rank] else self._share(words, rank)

    def _share(self, words: Sequence[str], rank: int) -> float:
        size = min(self.shingle, len(words))
        runs_known = self._known(size)[rank]
        covered_to = covered = 0
        for start in range(len(words) - size + 1):
            if tuple(words[start : start + size]) in runs_known:
                covered += start + size - max(start, covered_to)
                covered_to = start + size
        return covered / len(words)

    def _known(self, size: int) -> list[set[tuple[str, ...]]]:
        if size not in self._shingles:
            self._shingles[size] = [
                {tuple(words[i : i + size]) for i in range(len(words) - size + 1)} for words in self._tokens
            ]
        return self._shingles[size]


def tokens(text: str) -> list[str]:
    """Return a text's words without case and punctuation, or its letters in scripts without blanks."""
    normalised = normalize("NFKC", _MARKER.sub(" ", text[:LONGEST])).casefold()
    words: list[str] = []
    for word in _TOKEN.findall(normalised):
        if max(word) < _FIRST_UNSPACED:
            words.append(word)
        else:
            words.extend(_parts(word))
    return words


def _parts(word: str) -> list[str]:
    """Split a word at the letters of unspaced scripts, each of which is a part."""
    parts: list[str] = []
    spaced = ""
    for letter in word:
        if letter < _FIRST_UNSPACED or not _is_unspaced(letter):
            spaced += letter
            continue
        if spaced:
            parts.append(spaced)
            spaced = ""
        parts.append(letter)
    return [*parts, spaced] if spaced else parts


def _is_unspaced(letter: str) -> bool:
    return any(low <= letter <= high for low, high in _UNSPACED)


def _joined(words: Sequence[str]) -> str:
    """Join words into one string, in which pastes that begin or end within a word are also found."""
    return " ".join(words)
