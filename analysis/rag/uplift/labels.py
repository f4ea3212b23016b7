"""What a document is worth to a generator: its answer with it alone against its answer without (equations 1-3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .. import answers
from ..shapes import Document, Generator, Output, Prompt, Query
from .prompts import prompt

Floats = NDArray[np.float64]
Metric = Literal["em", "f1"]

#: How an answer is scored against the right ones: higher is better, 1 at most.
METRICS: dict[str, Callable[[str, Sequence[str]], float]] = {"em": answers.exact_match, "f1": answers.f1}


class NoDocumentsError(ValueError):
    """A query without documents: there is nothing to label, to rank or to leave out."""


class Category(StrEnum):
    """What a document does to an answer (Figure 1): the first word is without it, the second with it."""

    CORRECTED = "wrong_right"
    MISLED = "right_wrong"
    KEPT_RIGHT = "right_right"
    LEFT_WRONG = "wrong_wrong"


@dataclass(frozen=True)
class Labelled:
    """A query, its documents in the retriever's order, and the generator's answers: without, and with each one alone.

    Attributes
    ----------
    query : Query
    documents : tuple of Document
        Those that were labelled, the retriever's best one first.
    without : str
        The answer to the question alone.
    alone : tuple of str
        The answer with each document alone, in their order. Where the generator refused, an empty text, which is wrong:
        whoever asked got no answer.
    metric : "em" or "f1"
        What `score_without`, `scores_alone` and `uplift` are measured by.
    """

    query: Query
    documents: tuple[Document, ...]
    without: str
    alone: tuple[str, ...]
    metric: Metric = "f1"

    @property
    def score_without(self) -> float:
        """S_q, equation 1."""
        return METRICS[self.metric](self.without, self.query.answers)

    @property
    def scores_alone(self) -> Floats:
        """S_q,d for each document, shape (n_documents,); equation 2."""
        return np.array([METRICS[self.metric](each, self.query.answers) for each in self.alone])

    @property
    def uplift(self) -> Floats:
        """Uplift(q, d) for each document, shape (n_documents,), in [-1, 1]; equation 3."""
        return self.scores_alone - self.score_without

    @property
    def helpful(self) -> NDArray[np.bool_]:
        """u_ij: whether a document's uplift is positive; shape (n_documents,)."""
        return self.uplift > 0

    @property
    def categories(self) -> tuple[Category, ...]:
        """What each document does to the answer; right and wrong by exact match, whatever the metric."""
        before = bool(answers.exact_match(self.without, self.query.answers))
        right = (bool(answers.exact_match(each, self.query.answers)) for each in self.alone)
        return tuple(_CATEGORIES[before, each] for each in right)


_CATEGORIES = {
    (False, True): Category.CORRECTED,
    (True, False): Category.MISLED,
    (True, True): Category.KEPT_RIGHT,
    (False, False): Category.LEFT_WRONG,
}


def prompts(query: Query, documents: Sequence[Document], *, max_tokens: int = 32) -> list[Prompt]:
    """What must be asked to label a query's documents: first the question alone, then with each document alone.

    Parameters
    ----------
    query : Query
    documents : sequence of Document
    max_tokens : int
        How long an answer may be.

    Returns
    -------
    list of Prompt, length D + 1

    Raises
    ------
    NoDocumentsError
        If there is no document.
    answers.NoGoldAnswerError
        If the query has no right answer: no answer to it can be scored, so none is paid for.
    """
    if not documents:
        raise NoDocumentsError(f"The query {query.id} has no documents: leave it out, or let a retriever find some.")
    if not query.answers:
        raise answers.NoGoldAnswerError(f"The query {query.id} has no right answer to score by: leave it out.")
    return [
        prompt(query.question, max_tokens=max_tokens),
        *(prompt(query.question, [each], max_tokens=max_tokens) for each in documents),
    ]


def label(query: Query, documents: Sequence[Document], generator: Generator, *, metric: Metric = "f1",
          max_tokens: int = 32) -> tuple[Labelled, list[Output]]:  # fmt: skip
    """Ask the generator D + 1 times and say what each document adds.

    Parameters
    ----------
    query : Query
    documents : sequence of Document
        The retriever's best one first.
    generator : Generator
        All prompts are handed to it at once; equal ones (a document that occurs twice) it answers once.
    metric : "em" or "f1"
    max_tokens : int

    Returns
    -------
    Labelled, list of Output
        The outputs are for counting what it cost: without first, then with each document.

    Raises
    ------
    NoDocumentsError, answers.NoGoldAnswerError
        See `prompts`.
    """
    outputs = generator.generate(prompts(query, documents, max_tokens=max_tokens))
    return read(query, documents, outputs, metric=metric), outputs


def read(query: Query, documents: Sequence[Document], outputs: Sequence[Output], *, metric: Metric = "f1") -> Labelled:
    """Labels from the outputs to `prompts`; what a generator refused is an empty text."""
    texts = [output.text for output in outputs]
    return Labelled(query, tuple(documents), texts[0], tuple(texts[1:]), metric)


def shares(labelled: Sequence[Labelled]) -> dict[Category, float]:
    """Which share of all (query, document) pairs is of each category; they sum to 1. NaN each if there is no pair."""
    counts = Counter(category for each in labelled for category in each.categories)
    total = counts.total()
    return {category: counts[category] / total if total else float("nan") for category in Category}
