"""Words, as BM25 counts them: found and stemmed by `bm25s`, with PyStemmer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

#: How the formula is written; they differ in a word's weight. With `robertson` and `atire` a word that most documents
#: have may count nothing.
Formula = Literal["lucene", "robertson", "atire"]


@dataclass(frozen=True)
class Settings:
    """How words are found and weighed.

    Attributes
    ----------
    k1, b : float
        How soon a word's repetitions stop counting, and how much long documents are held against; 1.5 and 0.75, as
        rank_bm25 has them, which LaMP uses.
    formula : str
        `lucene` is never negative.
    stop_words : bool
        Whether English stop words are taken away.
    stem : bool
        Whether English words are compared by their Snowball stems.
    """

    k1: float = 1.5
    b: float = 0.75
    formula: Formula = "lucene"
    stop_words: bool = True
    stem: bool = True

    def __str__(self) -> str:
        words = ", ".join(
            part for part, on in (("English stop words", self.stop_words), ("English stems", self.stem)) if on
        )
        return f"BM25 {self.formula}, k1 {self.k1:g}, b {self.b:g}, {words or 'words as they are'}"


def tokens(texts: Sequence[str], settings: Settings) -> Any:
    """Tokenize texts: `bm25s`' object with `ids`, a list for each text, and `vocab`, from words to ids.

    Words are runs of two or more letters, figures and underscores, in lower case.
    """
    return _tokenized(texts, settings, ids=True)


def of(text: str, settings: Settings) -> list[str]:
    """Return the words of one text, in its order."""
    found: list[str] = _tokenized([text], settings, ids=False)[0]
    return found


def version() -> str:
    """Return the version of `bm25s`."""
    from importlib.metadata import version

    return version("bm25s")


def library() -> Any:
    """Return `bm25s`, which takes a second to load, and is quiet: it sets its own log to DEBUG."""
    import logging

    import bm25s

    logging.getLogger("bm25s").setLevel(logging.WARNING)
    return bm25s


def _tokenized(texts: Sequence[str], settings: Settings, *, ids: bool) -> Any:
    return library().tokenize(
        list(texts),
        stopwords="en" if settings.stop_words else None,
        stemmer=_stemmer() if settings.stem else None,
        return_ids=ids,
        show_progress=False,
    )


@cache
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")
