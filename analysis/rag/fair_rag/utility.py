"""Utility labels: which documents help this generator with this question, and the prompts (fair_rag, 3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..collections.lamp import prompted
from ..protocols import Document, Message, Prompt, Query
from ..qa_metrics import Metric

#: The system message for chat models.
INSTRUCTION = "Answer the question with as few words as possible. Give the answer alone, without any explanation."


@dataclass(frozen=True)
class PromptSettings:
    """Prompt settings, the same for labels and rankings.

    Attributes
    ----------
    instruction : str
        Text before the question; "" for none (personalisation tasks have their own instruction).
    max_tokens : int
        Maximum number of tokens of the answer.
    most_words : int
        Maximum number of words of a document; 0 for all.
    """

    instruction: str = INSTRUCTION
    max_tokens: int = 24
    most_words: int = 0


def prompt(query: Query, documents: Sequence[Document], asking: PromptSettings) -> Prompt:
    """Build the prompt of a question with documents in this order, or without documents.

    A task with its own prompts (LaMP) uses them, without the instruction. Otherwise instruction and question come
    first, so that all prompts of a query share their prefix and a server can cache it.

    Parameters
    ----------
    query : Query
    documents : sequence of Document
    asking : PromptSettings

    Returns
    -------
    Prompt
        At temperature 0: only the rankings are random in this experiment (fair_rag, 4).
    """
    if query.task:
        return Prompt((Message("user", prompted(query, documents, most_words=asking.most_words)),), asking.max_tokens)
    parts = [f"Question: {query.question}"]
    if documents:
        listed = (f"[{i}] {_text(document, asking.most_words)}" for i, document in enumerate(documents, 1))
        parts.append("Documents:\n" + "\n".join(listed))
    parts.append("Answer:")
    system = (Message("system", asking.instruction),) if asking.instruction else ()
    return Prompt((*system, Message("user", "\n\n".join(parts))), max_tokens=asking.max_tokens)


def _text(document: Document, most_words: int) -> str:
    words = f"{document.title}\n{document.text}".split() if document.title else document.text.split()
    return " ".join(words[:most_words] if most_words else words)


#: Reasons for excluding a query; also the keys of their counts.
NO_ANSWER, NO_DOCUMENT, FEW_USEFUL = "no gold answer", "no document", "fewer than two useful documents"
#: With fewer useful documents, there is nothing to be fair to (fair_rag, 4).
FEWEST_USEFUL = 2
# Scores that differ only by rounding are equal.
_EQUAL = 1e-12


def utility(metric: Metric, answer: str, gold: Sequence[str]) -> float:
    """Return an answer's utility, higher is better: its score, or the difference between its error and the worst error.

    As in the paper's implementation: 4 minus the error, for ratings from 1 to 5.

    Raises
    ------
    NoGoldAnswerError
        If there is no gold answer.
    """
    score = metric.score(answer, gold)
    return score if metric.worst is None else metric.worst - score


@dataclass(frozen=True)
class Labels:
    """Utility of the generator's answers without documents and with each document alone.

    Attributes
    ----------
    without : float
        Utility of the answer without any document.
    alone : tuple of float
        Utility with each document alone, in the documents' order.
    """

    without: float
    alone: tuple[float, ...]

    @property
    def gains(self) -> tuple[float, ...]:
        """Gain of each document over no document; below 0 if it misleads."""
        return tuple(score - self.without for score in self.alone)

    @property
    def useful(self) -> NDArray[np.bool_]:
        """Documents with a gain above 0; shape (n_documents,). A document without effect is not useful."""
        return np.array([gain > _EQUAL for gain in self.gains], dtype=bool)

    def write(self) -> dict[str, Any]:
        """Convert to JSON."""
        return {"without": self.without, "alone": list(self.alone)}

    @classmethod
    def read(cls, data: dict[str, Any]) -> Labels:
        """Read from JSON."""
        return cls(float(data["without"]), tuple(float(score) for score in data["alone"]))


def unusable(query: Query) -> str:
    """Return why a query cannot be labelled; "" if it can."""
    if not query.answers:
        return NO_ANSWER
    return "" if query.documents else NO_DOCUMENT


def prompts(query: Query, asking: PromptSettings) -> list[Prompt]:
    """Return the prompts for labelling a query: without documents, then with each document alone; n + 1 prompts."""
    return [prompt(query, (), asking), *(prompt(query, (document,), asking) for document in query.documents)]


def labels(query: Query, answers: Sequence[str], metric: Metric) -> Labels:
    """Label a query's documents from the answers to `prompts`, in the same order.

    Parameters
    ----------
    query : Query
    answers : sequence of str
        n + 1 answers. A refusal is an empty answer, which gets the lowest score.
    metric : Metric

    Returns
    -------
    Labels

    Raises
    ------
    ValueError
        If the number of answers is not the number of documents plus one.
    NoGoldAnswerError
        If the query has no gold answer; `unusable` checks this.
    """
    if len(answers) != len(query.documents) + 1:
        msg = f"{len(query.documents)} documents need {len(query.documents) + 1} answers, not {len(answers)}"
        raise ValueError(msg)
    without, *alone = (utility(metric, answer, query.answers) for answer in answers)
    return Labels(without, tuple(alone))


def left_out(labels: Labels) -> str:
    """Return why a labelled query is excluded from the experiment; "" if it is not (fair_rag, 4)."""
    return FEW_USEFUL if labels.useful.sum() < FEWEST_USEFUL else ""
