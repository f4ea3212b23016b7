"""Utility labels: which documents help this generator with this question, each alone (fair_rag, 3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..answers import Metric
from ..shapes import Prompt, Query
from .prompts import Asking, prompt

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
    found = metric.score(answer, gold)
    return found if metric.worst is None else metric.worst - found


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
        return tuple(each - self.without for each in self.alone)

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
        return cls(float(data["without"]), tuple(float(each) for each in data["alone"]))


def unusable(query: Query) -> str:
    """Why a query cannot be labelled; "" where it can."""
    if not query.answers:
        return NO_ANSWER
    return "" if query.documents else NO_DOCUMENT


def prompts(query: Query, asking: Asking) -> list[Prompt]:
    """What must be asked to label a query: without documents, then with each alone; n + 1 prompts."""
    return [prompt(query, (), asking), *(prompt(query, (each,), asking) for each in query.documents)]


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


def left_out(found: Labels) -> str:
    """Why a labelled query takes no part in the experiment; "" where it does (fair_rag, 4)."""
    return FEW_USEFUL if found.useful.sum() < FEWEST_USEFUL else ""
