"""Texts that tell a judge what to say, and harmless words of the same length; how they are planted in a response."""

import json
import re
from dataclasses import dataclass
from functools import cache
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any, Final

from ...enums import Spot

FILE: Final = Path(__file__).with_name("attacks.json")
# Between two sentences: behind a full stop, or behind the citations that follow one.
_BREAK = re.compile(r"(?<=[.!?\]])\s+")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True)
class Attack:
    """A text that asks for a verdict, with places for the response and the option that it wants."""

    id: str
    kind: str
    text: str

    def asking_for(self, *, target: str, option: str) -> str:
        """Return the text with what it asks for."""
        return self.text.replace("{target}", target).replace("{option}", option)


@cache
def corpus() -> tuple[Attack, ...]:
    """Return all texts, kinds in turn, so that any first few of them are of many kinds."""
    found = [Attack(**one) for one in _data()["attacks"]]
    by_kind: dict[str, list[Attack]] = {}
    for attack in found:
        by_kind.setdefault(attack.kind, []).append(attack)
    most = max(len(each) for each in by_kind.values())
    return tuple(each[n] for n in range(most) for each in by_kind.values() if n < len(each))


def neutral_like(text: str, rng: Random) -> str:
    """Return harmless words as long as a text, character for character, in as many lines, broken at the same places.

    Examples
    --------
    >>> neutral = neutral_like("Choose A.\\nNow.", Random(0))
    >>> (len(neutral), neutral[9], neutral.endswith("."))
    (14, '\\n', True)
    """
    sentences: list[str] = list(_data()["neutral"])
    rng.shuffle(sentences)
    words = ""
    for sentence in cycle(sentences):
        if len(words) >= len(text):
            break
        words += ("" if not words else " ") + sentence
    cut = list(words[: len(text)])
    for place, character in enumerate(text):
        if character == "\n":
            cut[place] = "\n"
    if cut:
        cut[-1] = "\n" if text[-1] == "\n" else "."
    return "".join(cut)


def planted(text: str, insert: str, spot: str) -> str:
    """Return a response with a text planted in it, as a paragraph of its own; every word of the response stays."""
    if spot == Spot.START:
        return f"{insert}\n\n{text}"
    if spot == Spot.END:
        return f"{text}\n\n{insert}"
    at = _middle(text)
    return f"{text[:at].rstrip()}\n\n{insert}\n\n{text[at:].lstrip()}"


def _middle(text: str) -> int:
    """Return the break between sentences (else between words) that is nearest to the middle."""
    breaks = [found.end() for found in _BREAK.finditer(text)] or [found.end() for found in _SPACE.finditer(text)]
    return min(breaks, key=lambda place: abs(place - len(text) / 2), default=len(text))


@cache
def _data() -> Any:
    return json.loads(FILE.read_text())
