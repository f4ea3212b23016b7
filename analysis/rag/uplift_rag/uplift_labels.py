"""What a document is worth to a generator (equations 1-3), and the prompts of the paper (appendix A.4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .. import qa_metrics
from ..protocols import Document, Generator, Message, Output, Prompt, Query

NAIVE = "Answer the question based on your own knowledge. Only give me the answer and do not output any other words."
WITH_DOCUMENTS = (
    "Answer the question based on the given document. Only give me the answer and do not output any other words."
    "\nThe following are given documents.\n\n{reference}"
)
QUESTION = "Question: {question}\nAnswer:"


def prompt(question: str, documents: Sequence[Document] = (), *, max_tokens: int = 32) -> Prompt:
    """The question with these documents in this order, or without any: then another instruction stands there.

    Parameters
    ----------
    question : str
    documents : sequence of Document
        As the generator reads them, the first one first. What all prompts share stands first: the instruction.
    max_tokens : int
        How long the answer may be.

    Returns
    -------
    Prompt
        Temperature 0: equal prompts have equal answers.

    Examples
    --------
    >>> print(prompt("Who?", [Document("1", "Ada did.", title="Ada")]).messages[0].content)
    Answer the question based on the given document. Only give me the answer and do not output any other words.
    The following are given documents.
    <BLANKLINE>
    Doc 1(Title: Ada) Ada did.
    """
    system = WITH_DOCUMENTS.format(reference=reference(documents)) if documents else NAIVE
    messages = (Message("system", system), Message("user", QUESTION.format(question=question)))
    return Prompt(messages, max_tokens=max_tokens)


def reference(documents: Sequence[Document]) -> str:
    """Documents as the prompt shows them: numbered from 1, one a line, with their titles where they have one."""
    return "\n".join(f"Doc {i}{_title(document)} {document.text}" for i, document in enumerate(documents, start=1))


def _title(document: Document) -> str:
    return f"(Title: {document.title})" if document.title else ":"


Floats = NDArray[np.float64]
Metric = Literal["em", "f1"]

#: How an answer is scored against the right ones: higher is better, 1 at most.
METRICS: dict[str, Callable[[str, Sequence[str]], float]] = {"em": qa_metrics.exact_match, "f1": qa_metrics.f1}


class NoDocumentsError(ValueError):
    """A query without documents: there is nothing to label, to rank or to leave out."""


class Category(StrEnum):
    """What a document does to an answer (Figure 1): the first word is without it, the second with it."""

    CORRECTED = "wrong_right"
    MISLED = "right_wrong"
    KEPT_RIGHT = "right_right"
    LEFT_WRONG = "wrong_wrong"


@dataclass(frozen=True)
class LabelledQuery:
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
        return np.array([METRICS[self.metric](answer, self.query.answers) for answer in self.alone])

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
        before = bool(qa_metrics.exact_match(self.without, self.query.answers))
        is_right = (bool(qa_metrics.exact_match(answer, self.query.answers)) for answer in self.alone)
        return tuple(_CATEGORIES[before, answer] for answer in is_right)


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
        raise qa_metrics.NoGoldAnswerError(f"The query {query.id} has no right answer to score by: leave it out.")
    return [
        prompt(query.question, max_tokens=max_tokens),
        *(prompt(query.question, [document], max_tokens=max_tokens) for document in documents),
    ]


def label(query: Query, documents: Sequence[Document], generator: Generator, *, metric: Metric = "f1",
          max_tokens: int = 32) -> tuple[LabelledQuery, list[Output]]:  # fmt: skip
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


def read(
    query: Query, documents: Sequence[Document], outputs: Sequence[Output], *, metric: Metric = "f1"
) -> LabelledQuery:
    """Labels from the outputs to `prompts`; what a generator refused is an empty text."""
    texts = [output.text for output in outputs]
    return LabelledQuery(query, tuple(documents), texts[0], tuple(texts[1:]), metric)


def shares(labelled: Sequence[LabelledQuery]) -> dict[Category, float]:
    """Which share of all (query, document) pairs is of each category; they sum to 1. NaN each if there is no pair."""
    counts = Counter(category for example in labelled for category in example.categories)
    total = counts.total()
    return {category: counts[category] / total if total else float("nan") for category in Category}
