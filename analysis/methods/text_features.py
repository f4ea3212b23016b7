"""Features of each response's text as numbers: read once, a topic at a time."""

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
        Its statements; its citations, a passage once for each statement that cites it.
    cited : tuple of int
        The distinct passages that it cites, as ranks, in the order of first citation.
    available : tuple of int
        The ranks of the passages that its author had.
    ranking : int
        Which list of passages that was.
    cited_times : tuple of int
        How many statements cite each of `cited`.
    cited_by : tuple of int
        How many passages each statement cites.
    positions : tuple of float
        Where in the text it cites.
    flesch, source_flesch : float
        Median reading ease of its statements, and of the passages that these cite; NaN where there are none.
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
    """Whether there is a reading ease for texts of a language."""
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
    """Ranks at which there is a passage; a rank may have been left out."""
    return tuple(rank for rank, text in enumerate(written.passages) if text)


def _median(values: list[float]) -> float:
    known = [value for value in values if not np.isnan(value)]
    return float(median(known)) if known else NAN
