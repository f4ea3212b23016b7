"""Lucene indexes of Anserini and Pyserini (Lin et al. 2021), made by their own tools, as a source of candidates.

Documents are looked up in a corpus by the ids that the index has for them. Pyserini is not an extra of CrowdRAG: it
needs Java 21 or later and brings many packages of its own. Install it beside CrowdRAG.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .search import BadSearchError
from .trec_runs import Rankings


class PyseriniMissingError(ImportError):
    """Pyserini is not installed, or does not find Java."""


@dataclass(frozen=True)
class LuceneSettings:
    """The weights of words.

    Attributes
    ----------
    k1, b : float
        Of BM25; the defaults are Pyserini's.
    """

    k1: float = 0.9
    b: float = 0.4

    def __post_init__(self) -> None:
        if not self.k1 >= 0:
            raise ValueError(f"k1 must be 0 or more, not {self.k1}")
        if not 0 <= self.b <= 1:
            raise ValueError(f"b must be from 0 to 1, not {self.b}")


def rank(
    folder: Path, questions: Sequence[tuple[str, str]], n: int, settings: LuceneSettings, threads: int = 2
) -> Rankings:
    """Find the best n documents for each question.

    Parameters
    ----------
    folder : Path
        An index of Lucene.
    questions : sequence of (str, str)
        Id and text of each question; ids must differ.
    n : int
    settings : LuceneSettings
    threads : int

    Returns
    -------
    dict
        For each question's id, the ids of documents with their scores, by falling score.

    Raises
    ------
    PyseriniMissingError
        If Pyserini cannot be loaded.
    BadSearchError
        If there is no index in the folder.
    """
    searcher_class = _searcher_class()
    if not list(folder.glob("segments_*")):
        raise BadSearchError(f"There is no Lucene index in {folder}.")
    searcher = searcher_class(str(folder))
    searcher.set_bm25(float(settings.k1), float(settings.b))
    hits_by_key = searcher.batch_search(
        [text for _key, text in questions], [key for key, _text in questions], k=n, threads=threads
    )
    return {key: tuple((str(hit.docid), float(hit.score)) for hit in hits) for key, hits in hits_by_key.items()}


def _searcher_class() -> Any:
    try:
        from pyserini.search.lucene import LuceneSearcher
    except Exception as error:
        raise PyseriniMissingError(
            "Pyserini cannot be loaded. Install it beside CrowdRAG, with Java 21 or later (JAVA_HOME): "
            f"{type(error).__name__}, {str(error)[:200]}"
        ) from error
    return LuceneSearcher
