"""Utility labels: which documents help this generator with this question, and what it is asked (fair_rag, 3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..collections.lamp import prompted
from ..protocols import Document, Message, Prompt, Query
from ..qa_metrics import Metric

#: What is said to a chat model before the question.
INSTRUCTION = "Answer the question with as few words as possible. Give the answer alone, without any explanation."


@dataclass(frozen=True)
class PromptSettings:
    """How the generator is asked; the same for labels and rankings.

    Attributes
    ----------
    instruction : str
        What stands before the question; "" for none (personalisation tasks carry their own).
    max_tokens : int
        Of the answer.
    most_words : int
        Documents are cut after so many words; 0: whole.
    """

    instruction: str = INSTRUCTION
    max_tokens: int = 24
    most_words: int = 0


def prompt(query: Query, documents: Sequence[Document], asking: PromptSettings) -> Prompt:
    """Ask a question, with documents in this order; without any, the question alone.

    A task with prompts of its own (LaMP) is put in its words, without the instruction. Else instruction and question
    stand first, so that all prompts of a query share their beginning and a server that keeps
    what it has read reads it once.

    Parameters
    ----------
    query : Query
    documents : sequence of Document
    asking : Asking

    Returns
    -------
    Prompt
        At temperature 0: chance comes into the experiment by the rankings alone (fair_rag, 4).
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


#: Why a query takes no part; the key of each reason.
NO_ANSWER, NO_DOCUMENT, FEW_USEFUL = "no gold answer", "no document", "fewer than two useful documents"
#: With fewer useful documents there is nobody to be fair to (fair_rag, 4).
FEWEST_USEFUL = 2
# Scores that differ by rounding alone are equal.
_EQUAL = 1e-12


def utility(metric: Metric, answer: str, gold: Sequence[str]) -> float:
    """How good an answer is, more is better: the score, or how far its error is below the worst.

    So does the paper's implementation: 4 less the error, for ratings from 1 to 5.

    Raises
    ------
    NoGoldAnswerError
        If there is no right answer.
    """
    score = metric.score(answer, gold)
    return score if metric.worst is None else metric.worst - score


@dataclass(frozen=True)
class Labels:
    """What each document of a query, alone, does for the generator.

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
        """How much each document adds; below 0 where it misleads."""
        return tuple(score - self.without for score in self.alone)

    @property
    def useful(self) -> NDArray[np.bool_]:
        """Documents that add something; shape (n_documents,). One that changes nothing is not useful."""
        return np.array([gain > _EQUAL for gain in self.gains], dtype=bool)

    def write(self) -> dict[str, Any]:
        """As JSON."""
        return {"without": self.without, "alone": list(self.alone)}

    @classmethod
    def read(cls, data: dict[str, Any]) -> Labels:
        """From JSON."""
        return cls(float(data["without"]), tuple(float(score) for score in data["alone"]))


def unusable(query: Query) -> str:
    """Why a query cannot be labelled; "" where it can."""
    if not query.answers:
        return NO_ANSWER
    return "" if query.documents else NO_DOCUMENT


def prompts(query: Query, asking: PromptSettings) -> list[Prompt]:
    """What must be asked to label a query: without documents, then with each alone; n + 1 prompts."""
    return [prompt(query, (), asking), *(prompt(query, (document,), asking) for document in query.documents)]


def labels(query: Query, answers: Sequence[str], metric: Metric) -> Labels:
    """Label a query's documents by the answers to `prompts`, in their order.

    Parameters
    ----------
    query : Query
    answers : sequence of str
        n + 1 of them. A refusal is an empty answer: as wrong as an answer can be.
    metric : Metric

    Returns
    -------
    Labels

    Raises
    ------
    ValueError
        If the answers are not one more than the documents.
    NoGoldAnswerError
        If the query has no gold answer; `unusable` says so before.
    """
    if len(answers) != len(query.documents) + 1:
        msg = f"{len(query.documents)} documents need {len(query.documents) + 1} answers, not {len(answers)}"
        raise ValueError(msg)
    without, *alone = (utility(metric, answer, query.answers) for answer in answers)
    return Labels(without, tuple(alone))


def left_out(labels: Labels) -> str:
    """Why a labelled query takes no part in the experiment; "" where it does (fair_rag, 4)."""
    return FEW_USEFUL if labels.useful.sum() < FEWEST_USEFUL else ""
