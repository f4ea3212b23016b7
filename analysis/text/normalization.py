"""Unicode normalization in linear time."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

# Normalization sorts the marks on a letter, and its time grows with the square of their number. No script needs more
# than this many (Unicode Standard Annex #15, "Stream-Safe Text Format").
MOST_MARKS = 30
_JOINER = "\u034f"
_NOT_LATIN = re.compile(rf"[^\x00-\u02ff]{{{MOST_MARKS + 1}}}")


def normalize(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> str:
    """Return a text in a Unicode normalization form, after splitting absurd stacks of combining marks.

    Parameters
    ----------
    form : str
        The normalization form.
    text : str

    Returns
    -------
    str
        `unicodedata.normalize` of the text. Where more than 30 marks follow each other, a combining grapheme joiner
        is put after each 30 of them.
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
