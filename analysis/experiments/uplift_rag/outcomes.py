"""The outcomes of all queries by all methods, as arrays with one element per query."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.rag.protocols import Document, Query
from analysis.rag.uplift_rag import document_selection
from analysis.rag.uplift_rag.baselines import catalogue
from analysis.rag.uplift_rag.method_comparison import Floats
from analysis.rag.uplift_rag.uplift_labels import METRICS, LabelledQuery

from ..stage_context import StageContext
from . import questions
from .stages import ANSWER, LABEL, TRAIN


@dataclass(frozen=True)
class Outcomes:
    """The outcomes of all labelled and answered queries, in the collection's order.

    Attributes
    ----------
    labelled : tuple of LabelledQuery
    label_results : tuple of mapping
        The label stage's result for each query.
    answered : tuple of mapping
        The answer stage's result for each query, by method.
    split : tuple of int
        The fold in which each query was tested.
    believed : mapping of str to mapping
        For each trained variant of uplift RAG, by query: the reranker's probability that each document helps.
    """

    labelled: tuple[LabelledQuery, ...]
    label_results: tuple[Mapping[str, Any], ...]
    answered: tuple[Mapping[str, Any], ...]
    split: tuple[int, ...]
    believed: Mapping[str, Mapping[str, Sequence[float]]]

    @property
    def queries(self) -> list[Query]:
        """The queries."""
        return [one.query for one in self.labelled]

    def scores(self, method: str, metric: str) -> Floats:
        """Scores of a method's answers, shape (n_queries,); NaN where the method was not possible."""
        return self._each(method, lambda query, answer: METRICS[metric](answer["text"], query.answers))

    def documents(self, method: str) -> Floats:
        """Number of documents used by a method, shape (n_queries,)."""
        return self._each(method, lambda _query, answer: len(answer["documents"]))

    def lengths(self, method: str, length: Callable[[Document], int]) -> Floats:
        """Total length of the documents used; a document used twice counts once."""
        by_id = {one.query.id: {document.id: document for document in one.documents} for one in self.labelled}
        return self._each(
            method, lambda query, answer: sum(length(by_id[query.id][name]) for name in answer["documents"])
        )

    def counts(self, method: str, what: str) -> Floats:
        """Values of `prompt_tokens`, `calls`, `all_tokens` or `refused`."""
        return self._each(method, lambda _query, answer: answer[what])

    def selections(self, method: str) -> list[document_selection.Selection | None]:
        """A method's selected documents compared with the labels; None where it was not possible."""
        return [
            document_selection.against(one, answers[method]["documents"]) if _is_there(answers, method) else None
            for one, answers in zip(self.labelled, self.answered, strict=True)
        ]

    def ordered(self, variant: str = "") -> Floats:
        """How often helpful documents rank above others, by a variant's reranker; "": by the retriever."""
        believed = self.believed.get(variant, {})
        return _floats(
            np.nan if variant and one.query.id not in believed
            else document_selection.ordered(one, believed[one.query.id] if variant else -np.arange(len(one.documents)))
            for one in self.labelled
        )  # fmt: skip

    def above(self, threshold: float, variant: str) -> list[document_selection.Selection | None]:
        """What a variant would select at a threshold, compared with the labels; None where it was not possible."""
        believed = self.believed.get(variant, {})
        return [
            document_selection.against(
                one,
                [
                    document.id
                    for document in document_selection.chosen(
                        one.documents, believed[one.query.id], threshold=threshold
                    )
                ],
            )
            if one.query.id in believed
            else None
            for one in self.labelled
        ]

    def exchanged(self, of: str, by: str, metric: str) -> Floats:
        """Scores of generator `by` with the documents that help generator `of`."""
        key = f"{of}:{by}"
        texts = [answers["transfer"][key]["text"] for answers in self.answered]
        return _floats(METRICS[metric](text, one.query.answers) for text, one in zip(texts, self.labelled, strict=True))

    def form(self, method: str) -> str:
        """The name of a method in tables; for a baseline, the form that all its answers have."""
        if method not in catalogue.BASELINES:
            return method
        keys = {answers[method].get("form", "") for answers in self.answered if _is_there(answers, method)}
        return catalogue.least(method, keys).key

    def why_not(self, method: str) -> str:
        """The first reason why a method was not possible for a query; "" if it always was."""
        reasons = (answers.get(method, {}).get("not_possible", "") for answers in self.answered)
        return next((reason for reason in reasons if reason), "")

    def _each(self, method: str, value: Any) -> Floats:
        return _floats(
            value(one.query, answers[method]) if _is_there(answers, method) else np.nan
            for one, answers in zip(self.labelled, self.answered, strict=True)
        )


def read(context: StageContext) -> Outcomes:
    """Read the results of the stages."""
    where = questions.fold_of(context.collection, context.parameters)
    answers = context.results(ANSWER)
    labels = dict(context.results_of(LABEL, answers))
    believed: dict[str, dict[str, Sequence[float]]] = {}
    for key, training in context.results(TRAIN).items():
        believed.setdefault(key.split(":")[1], {}).update(training.get("believed", {}))
    names = [name for name in answers if name in labels]
    return Outcomes(
        tuple(questions.labelled(context.by_id[name], labels[name], context.parameters) for name in names),
        tuple(labels[name] for name in names),
        tuple(answers[name] for name in names),
        tuple(where[name] for name in names),
        believed,
    )


def _is_there(answers: Mapping[str, Any], method: str) -> bool:
    return "text" in answers.get(method, {})


def _floats(values: Any) -> Floats:
    numbers: Sequence[float] = [float(number) for number in values]
    return np.array(numbers, dtype=np.float64)
