"""The log of a 250-word response as a person types it: rhythm, slips, carets, reading, scrolling, check sums."""

import random
from typing import Any

from tests.writing.editor.typist import digest

SAID = (
    "renewable energy storage costs have fallen since several recent studies report that grid operators can now rely "
    "on batteries for short peaks while longer gaps still need hydrogen or pumped water and the authors disagree about"
)
WORDS = SAID.split()


def text_of(words: int, rng: random.Random) -> str:
    """A response of so many words, with citations."""
    out = []
    for n in range(words):
        out.append(rng.choice(WORDS))
        if n % 17 == 16:
            out[-1] += f" [{rng.randint(0, 19)}]."
    return " ".join(out)


def log_of(text: str, rng: random.Random) -> list[list[Any]]:
    """The events of typing a text, every key with its timing and every caret told, a slip in thirty keys."""
    events: list[list[Any]] = [["a", 0, 1_767_268_800_000, 1280, 800, 0], ["f", 5, 1]]
    now, at = 3_000, 0

    def key(kind: str, after: float, splice: list[Any] | None = None) -> None:
        nonlocal now, at
        now += int(rng.lognormvariate(after, 0.5)) + 20
        down = now - rng.randint(1, 6)
        if splice is not None:
            events.append(["s", now, *splice])
            at += len(splice[2]) - splice[1]
        events.append(["k", down, kind, max(25, int(rng.gauss(95, 25)))])
        events.append(["c", now + rng.randint(80, 115), at, at])

    for n, character in enumerate(text):
        if rng.random() < 1 / 30:
            key("letter", 5.1, [at, 0, rng.choice("etaoin"), "typed", "insertText"])
            key("backspace", 5.8, [at - 1, 1, "", "deleted", "deleteContentBackward"])
        key(class_of(character), 5.1, [at, 0, character, "typed", "insertText"])
        if character == "." or rng.random() < 0.01:
            # A pause to read: passages scroll by, one is opened.
            now += int(rng.lognormvariate(8.8, 0.8))
            rank = rng.randint(0, 19)
            events += [
                ["o", now, rank, 1],
                ["w", now + 90, -2, rng.randint(0, 100)],
                ["d", now + 900, rank, rng.randint(400, 9_000)],
            ]
            events += [["o", now + 1_000, rank, 0]]
            now += 1_100
        if n % 200 == 199:
            events.append(["h", now, digest(text[: n + 1])])
    return events


def class_of(character: str) -> str:
    """What is recorded of a key."""
    if character.isalpha():
        return "letter"
    if character == " ":
        return "space"
    return "digit" if character.isdigit() else "mark"
