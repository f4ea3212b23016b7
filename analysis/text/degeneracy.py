"""Texts that are no prose: what a language model writes when it breaks down.

Two general rules, both on what a reader would call words. Neither knows a language, and neither judges quality.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import Final

#: At least this share of a text's tokens must be words of letters; hexadecimal strings, numbers and brackets are none.
LEAST_WORDS: Final = 0.5
#: From so many words on a text is looked at for repetition ...
LEAST_LENGTH: Final = 60
#: ... by runs of so many words, of which at most this share may have stood before.
RUN: Final = 8
MOST_REPEATED: Final = 0.8
_MARKER: Final = re.compile(r"\[[0-9,;\s\-\u2013]*\]")


def share_of_words(text: str) -> float:
    """Return the share of tokens that are words, citation markers left out; 0.0 for a text without a token.

    More than half of a word's characters are letters, in whatever script. Time is linear in the length of the text.
    """
    tokens = _MARKER.sub(" ", text).split()
    return sum(map(_is_word, tokens)) / len(tokens) if tokens else 0.0


def share_repeated(text: str) -> float:
    """Return the share of runs of `RUN` words that stood before in the text; 0.0 where there are fewer words."""
    words = text.casefold().split()
    runs = Counter(tuple(words[place : place + RUN]) for place in range(len(words) - RUN + 1))
    total = runs.total()
    return 1.0 - len(runs) / total if total else 0.0


def is_degenerate(text: str) -> bool:
    """Say whether a text is no prose: too few of its tokens are words, or it repeats itself nearly throughout."""
    if share_of_words(text) < LEAST_WORDS:
        return True
    return len(text.split()) >= LEAST_LENGTH and share_repeated(text) > MOST_REPEATED


def _is_word(token: str) -> bool:
    letters = sum(unicodedata.category(letter)[0] in "LM" for letter in token)
    return 2 * letters > len(token)
