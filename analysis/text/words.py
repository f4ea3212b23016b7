"""Words of a text: normalisation, whole-word search, and detection of degenerate text.

The rules are independent of language and do not measure quality.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from typing import Final, Literal

# Normalization sorts the marks on a letter, in quadratic time. No script needs more marks than this (Unicode Standard
# Annex #15, "Stream-Safe Text Format").
MOST_MARKS = 30
_JOINER = "\u034f"
_NOT_LATIN = re.compile(rf"[^\x00-\u02ff]{{{MOST_MARKS + 1}}}")


def normalize(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> str:
    """Return a text in a Unicode normalization form, after splitting excessive sequences of combining marks.

    Parameters
    ----------
    form : str
        The normalization form.
    text : str

    Returns
    -------
    str
        `unicodedata.normalize` of the text. A combining grapheme joiner is inserted after every 30 marks in longer
        sequences.
    """
    if text.isascii():
        return text
    if _NOT_LATIN.search(text):
        text = _stream_safe(text)
    return unicodedata.normalize(form, text)


def _stream_safe(text: str) -> str:
    pieces: list[str] = []
    marks = 0
    for character in text:
        marks = marks + 1 if unicodedata.combining(character) else 0
        if marks > MOST_MARKS:
            pieces.append(_JOINER)
            marks = 1
        pieces.append(character)
    return "".join(pieces)


def whole_words(phrase: str, text: str, *, ignore_case: bool = False) -> Iterator[tuple[int, int]]:
    """Yield the spans of a phrase in a text that have no letter, digit or underscore directly before or after them.

    Parameters
    ----------
    phrase, text : str
    ignore_case : bool
        Whether to compare letters in lower case. A letter whose lower case has several characters is not changed.

    Yields
    ------
    tuple of int
        Start and end in `text`, in order, without overlaps. An empty phrase has no spans.

    Notes
    -----
    Uses the algorithm of Knuth, Morris and Pratt (1977). A search that restarts after each span that is not a whole
    word takes time proportional to the product of both lengths for texts such as "a a a a".

    Examples
    --------
    >>> list(whole_words("a cat", "A cat, a cats, a cat", ignore_case=True))
    [(0, 5), (15, 20)]
    """
    if ignore_case:
        phrase, text = _lower(phrase), _lower(text)
    if not phrase or phrase not in text:  # most texts: avoids the letter-by-letter search
        return
    failure = _failure(phrase)
    size, matched, free_from = len(phrase), 0, 0
    for index, character in enumerate(text):
        while matched and character != phrase[matched]:
            matched = failure[matched - 1]
        matched += character == phrase[matched]
        if matched < size:
            continue
        start, end = index + 1 - size, index + 1
        matched = failure[matched - 1]
        if (
            start >= free_from
            and not _is_word_character(text[start - 1 : start])
            and not _is_word_character(text[end : end + 1])
        ):
            yield start, end
            free_from = end


def _failure(phrase: str) -> list[int]:
    """Compute for each prefix of a phrase the length of its longest proper prefix that is also its suffix."""
    lengths = [0] * len(phrase)
    matched = 0
    for index in range(1, len(phrase)):
        while matched and phrase[index] != phrase[matched]:
            matched = lengths[matched - 1]
        matched += phrase[index] == phrase[matched]
        lengths[index] = matched
    return lengths


def _is_word_character(character: str) -> bool:
    return character == "_" or character.isalnum()


def _lower(text: str) -> str:
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)


#: Minimum share of a text's tokens that must be words; hexadecimal strings, numbers and brackets are not words.
LEAST_WORDS: Final = 0.5
#: Minimum number of words for the repetition check.
LEAST_LENGTH: Final = 60
#: Length of the runs of words in the repetition check, and the maximum share of runs that may be repetitions.
RUN: Final = 8
MOST_REPEATED: Final = 0.8
_MARKER: Final = re.compile(r"\[[0-9,;\s\-\u2013]*\]")


def share_of_words(text: str) -> float:
    """Return the share of tokens that are words, without citation markers; 0.0 for a text without tokens.

    More than half of a word's characters are letters, in any script. The time is linear in the length of the text.
    """
    tokens = _MARKER.sub(" ", text).split()
    return sum(map(_is_word, tokens)) / len(tokens) if tokens else 0.0


def share_repeated(text: str) -> float:
    """Return the share of runs of `RUN` words that repeat earlier runs; 0.0 if the text is too short for a run."""
    words = text.casefold().split()
    runs = Counter(tuple(words[position : position + RUN]) for position in range(len(words) - RUN + 1))
    total = runs.total()
    return 1.0 - len(runs) / total if total else 0.0


def is_degenerate(text: str) -> bool:
    """Check whether a text is not prose: too few of its tokens are words, or nearly all of it is repetition."""
    if share_of_words(text) < LEAST_WORDS:
        return True
    return len(text.split()) >= LEAST_LENGTH and share_repeated(text) > MOST_REPEATED


def _is_word(token: str) -> bool:
    letters = sum(unicodedata.category(letter)[0] in "LM" for letter in token)
    return 2 * letters > len(token)
