"""Numeric features of each response's text, read once, one topic at a time."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

import numpy as np

from analysis.text.citations import citing_positions
from analysis.text.readability import UnsupportedLanguageError, flesch, require

from ..inputs.texts import ResponseText, TopicTexts

NAN = float("nan")
NO_EASE = "reading ease is not available for texts in this language"


@dataclass(frozen=True, eq=False)
class TextFeatures:
    """Features of the text of one response.

    Attributes
    ----------
    index : int
        The index of the response in `Inputs.responses`.
    statements, citations : int
        Number of statements and of citations; a passage counts once for each statement that cites it.
    cited : tuple of int
        Ranks of the distinct cited passages, in the order of first citation.
    available : tuple of int
        Ranks of the passages available to the author.
    ranking : int
        Number of the list of passages.
    cited_times : tuple of int
        Number of statements that cite each of `cited`.
    cited_by : tuple of int
        Number of passages cited by each statement.
    positions : tuple of float
        Positions of the citations in the text.
    flesch, source_flesch : float
        Median reading ease of its statements and of their cited passages; NaN if there are none.
    """

    index: int
    statements: int
    citations: int
    cited: tuple[int, ...]
    available: tuple[int, ...]
    ranking: int
    cited_times: tuple[int, ...]
    cited_by: tuple[int, ...]
    positions: tuple[float, ...]
    flesch: float
    source_flesch: float


def is_readable(language: str) -> bool:
    """Return whether reading ease is defined for a language."""
    try:
        require(language)
    except UnsupportedLanguageError:
        return False
    return True


def read(texts: Iterable[TopicTexts], language: str) -> list[TextFeatures]:
    """Return the features of all texts, in the order of the inputs' responses."""
    features = [facts for topic in texts for facts in _of_topic(topic, language, is_readable(language))]
    return sorted(features, key=lambda facts: facts.index)


def _of_topic(topic: TopicTexts, language: str, has_ease: bool) -> Iterable[TextFeatures]:
    eases: dict[str, float] = {}

    def ease(text: str) -> float:
        if text not in eases:
            eases[text] = flesch(text, language=language) if has_ease else NAN
        return eases[text]

    for written in topic.responses:
        parsed = written.parsed
        times = Counter(rank for statement in parsed.statements for rank in statement.citations)
        sources = [written.passages[rank] for statement in parsed.statements for rank in statement.citations]
        yield TextFeatures(
            index=written.index,
            statements=len(parsed.statements),
            citations=parsed.citations,
            cited=parsed.cited_passages,
            available=_available(written),
            ranking=written.ranking,
            cited_times=tuple(times[rank] for rank in parsed.cited_passages),
            cited_by=tuple(len(statement.citations) for statement in parsed.statements),
            positions=tuple(citing_positions(parsed)),
            flesch=_median([ease(statement.text) for statement in parsed.statements]),
            source_flesch=_median([ease(text) for text in sources]),
        )


def _available(written: ResponseText) -> tuple[int, ...]:
    """Return the ranks of the available passages; ranks may have gaps."""
    return tuple(rank for rank, text in enumerate(written.passages) if text)


def _median(values: list[float]) -> float:
    known = [value for value in values if not np.isnan(value)]
    return float(median(known)) if known else NAN
