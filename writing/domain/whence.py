"""Where words that came at once may be from: a passage, the writer's own text, or elsewhere."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .events import ELSEWHERE, OWN_TEXT

WORD = re.compile(r"\w+")
# So many words in the same order are hardly chance.
TOGETHER = 3
# From this share of its words on, a place is named.
ENOUGH = 0.5


@dataclass(frozen=True, slots=True)
class Whence:
    """The place that shares most with some words, and which share of them stands there in the same order."""

    place: int
    share: float


class Places:
    """A topic's passages by rank, ready to be compared with."""

    def __init__(self, passages: Sequence[tuple[int, str]]) -> None:
        self.passages = [(rank, _runs(_words(text))) for rank, text in passages]

    def of(self, inserted: str, before: str) -> Whence:
        """Say which place shares most with what came; `before` is the writer's text at that moment."""
        words = _words(inserted)
        own = _share(words, _runs(_words(before)))
        found = [Whence(rank, _share(words, runs)) for rank, runs in self.passages]
        best = max([Whence(OWN_TEXT, own), *found], key=lambda each: each.share)
        return best if best.share >= ENOUGH else Whence(ELSEWHERE, round(best.share, 3))


def _words(text: str) -> list[str]:
    return WORD.findall(text.casefold())


def _runs(words: list[str]) -> set[tuple[str, ...]]:
    return {tuple(words[at : at + TOGETHER]) for at in range(len(words) - TOGETHER + 1)}


def _share(words: list[str], runs: set[tuple[str, ...]]) -> float:
    """Return which share of the words lies in a run of three that the place holds too."""
    if len(words) < TOGETHER:
        return 0.0
    held = [False] * len(words)
    for at in range(len(words) - TOGETHER + 1):
        if tuple(words[at : at + TOGETHER]) in runs:
            held[at : at + TOGETHER] = [True] * TOGETHER
    return round(sum(held) / len(words), 3)
