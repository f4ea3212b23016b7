"""Surface features of a response: what can be counted without understanding it, for models trained on judgments.

Each function is linear in the length of the text. Citation markers do not count as words.
"""

from __future__ import annotations

import math
import re
from typing import Final

from analysis.text.words import share_repeated

_MARKER: Final = re.compile(r"\[[0-9][0-9,;\s\-\u2013]{0,200}\]")
_WORD: Final = re.compile(r"[^\W_]+")
_SENTENCE_END: Final = re.compile(r"[.!?\u2026\u3002]+(?:\s|$)")
_LIST_MARK: Final = re.compile(r"\s*(?:[-*\u2022\u2013]|[0-9]{1,3}[.)])\s")
#: Distinct words are counted among the first words only, because their share falls with the length of a text.
_FIRST_WORDS: Final = 100
_SHORTEST_QUERY_WORD: Final = 3

#: The features in the order of `features`, with their meaning.
FEATURES: Final[dict[str, str]] = {
    "log_words": "logarithm of the number of words",
    "log_lines": "logarithm of the number of lines with text",
    "list_share": "share of lines that are items of a list",
    "log_sentence_length": "logarithm of the words in a sentence or line",
    "letters_per_word": "letters in a word",
    "distinct_share": "share of distinct words among the first 100",
    "repeated_share": "share of runs of eight words that occurred before",
    "query_share": "share of the words of the query that occur",
    "citation_rate": "citation markers for each 100 words",
}


def features(text: str, query: str) -> tuple[float, ...]:
    """Return the features of a response to a query, in the order of `FEATURES`; all are finite, also for no text.

    Examples
    --------
    >>> dict(zip(FEATURES, features("- Trees grow [0].", "how do trees grow"), strict=True))["list_share"]
    1.0
    """
    plain = _MARKER.sub(" ", text)
    words = [word.casefold() for word in _WORD.findall(plain)]
    lines = [line for line in plain.splitlines() if line.strip()]
    sentences = max(sum(max(1, len(_SENTENCE_END.findall(line))) for line in lines), 1)
    number = max(len(words), 1)
    first = words[:_FIRST_WORDS]
    query_words = {word for word in map(str.casefold, _WORD.findall(query)) if len(word) >= _SHORTEST_QUERY_WORD}
    return (
        math.log(number),
        math.log(max(len(lines), 1)),
        sum(bool(_LIST_MARK.match(line)) for line in lines) / max(len(lines), 1),
        math.log(number / sentences),
        sum(map(len, words)) / number,
        len(set(first)) / max(len(first), 1),
        share_repeated(plain),
        len(query_words & set(words)) / max(len(query_words), 1),
        100.0 * len(_MARKER.findall(text)) / number,
    )
