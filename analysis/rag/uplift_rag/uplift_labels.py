"""Uplift labels: the value of a document to a generator (equations 1-3), and the paper's prompts (appendix A.4)."""

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
    """Build the prompt of a question with documents in this order; without documents, the instruction differs.

    Parameters
    ----------
    question : str
    documents : sequence of Document
        In reading order. The instruction comes first, since all prompts share it.
    max_tokens : int
        Maximum number of tokens of the answer.

    Returns
    -------
    Prompt
        At temperature 0: equal prompts have equal answers.

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
    """Format documents for the prompt: numbered from 1, one per line, with titles if they have one."""
    return "\n".join(f"Doc {i}{_title(document)} {document.text}" for i, document in enumerate(documents, start=1))


def _title(document: Document) -> str:
    return f"(Title: {document.title})" if document.title else ":"


Floats = NDArray[np.float64]
Metric = Literal["em", "f1"]

#: Answer metrics: higher is better, at most 1.
METRICS: dict[str, Callable[[str, Sequence[str]], float]] = {"em": qa_metrics.exact_match, "f1": qa_metrics.f1}


class NoDocumentsError(ValueError):
    """The query has no documents, so there is nothing to label or to rank."""


class Category(StrEnum):
    """Effect of a document on an answer (Figure 1): the first word is without the document, the second with it."""

    CORRECTED = "wrong_right"
    MISLED = "right_wrong"
    KEPT_RIGHT = "right_right"
    LEFT_WRONG = "wrong_wrong"


@dataclass(frozen=True)
class LabelledQuery:
    """A query, its documents in the retriever's order, and the generator's answers without and with each one alone.

    Attributes
    ----------
    query : Query
    documents : tuple of Document
        The labelled documents, the retriever's best first.
    without : str
        The answer to the question alone.
    alone : tuple of str
        The answer with each document alone, in their order. A refusal is an empty text, which counts as wrong, since
        the user got no answer.
    metric : "em" or "f1"
        The metric of `score_without`, `scores_alone` and `uplift`.
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
        """Effect of each document on the answer; always by exact match, whatever the metric."""
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
    """Return the prompts for labelling a query's documents: the question alone, then with each document alone.

    Parameters
    ----------
    query : Query
    documents : sequence of Document
    max_tokens : int
        Maximum number of tokens of an answer.

    Returns
    -------
    list of Prompt, length D + 1

    Raises
    ------
    NoDocumentsError
        If there are no documents.
    qa_metrics.NoGoldAnswerError
        If the query has no gold answer: its answers could not be scored, so none should be paid for.
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
    """Label documents with D + 1 requests to the generator.

    Parameters
    ----------
    query : Query
    documents : sequence of Document
        The retriever's best first.
    generator : Generator
        It gets all prompts at once, and answers equal ones (a document that occurs twice) only once.
    metric : "em" or "f1"
    max_tokens : int

    Returns
    -------
    LabelledQuery, list of Output
        The outputs, without documents first, then with each document, for counting the cost.

    Raises
    ------
    NoDocumentsError, qa_metrics.NoGoldAnswerError
        See `prompts`.
    """
    outputs = generator.generate(prompts(query, documents, max_tokens=max_tokens))
    return read(query, documents, outputs, metric=metric), outputs


def read(
    query: Query, documents: Sequence[Document], outputs: Sequence[Output], *, metric: Metric = "f1"
) -> LabelledQuery:
    """Create the labels from the outputs to `prompts`; a refusal is an empty text."""
    texts = [output.text for output in outputs]
    return LabelledQuery(query, tuple(documents), texts[0], tuple(texts[1:]), metric)


def shares(labelled: Sequence[LabelledQuery]) -> dict[Category, float]:
    """Return the share of each category among all (query, document) pairs; they sum to 1, or are NaN without pairs."""
    counts = Counter(category for example in labelled for category in example.categories)
    total = counts.total()
    return {category: counts[category] / total if total else float("nan") for category in Category}
