"""Uplift RAG as one of the compared methods, complete and with ablations (Table 2), and its upper bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..protocols import Document, Generator, Query
from . import deduplication, document_selection, reranker, training
from .baselines.protocol import (
    AnswerSteps,
    BaselineSettings,
    MethodAnswer,
    NotPossibleError,
    StepwiseMethod,
    Training,
    reading,
)
from .reranker import Reranker
from .training import Weights
from .training_loop import TrainingMemoryError
from .uplift_labels import Floats, LabelledQuery

UPLIFT = "uplift"
UPPER_BOUND = "upper_bound"
_FOLDER = "reranker"


@dataclass(frozen=True)
class Options:
    """Options of uplift RAG in addition to the settings of all methods.

    Attributes
    ----------
    weights : Weights
        Weights of the three losses.
    threshold : float
        A document's probability must exceed this for the document to be selected.
    """

    weights: Weights = field(default_factory=Weights)
    threshold: float = document_selection.THRESHOLD


@dataclass(frozen=True)
class Variant:
    """Uplift RAG, complete or with one ablation.

    Attributes
    ----------
    name : str
    without : str
        The objective that is left out of training: point, pair or list; "" for none.
    selects : bool
        If False, the `BaselineSettings.feed` most likely documents are selected, whatever their probability.
    reranks : bool
        If False, selected documents keep the retriever's order.
    """

    name: str
    without: str = ""
    selects: bool = True
    reranks: bool = True

    @property
    def trained_as(self) -> str:
        """The variant whose reranker this one uses: only other objectives need a separate reranker."""
        return self.name if self.without else UPLIFT

    def weights(self, base: Weights) -> Weights:
        """Return the weights of the losses, with 0 for the objective that is left out."""
        return replace(base, **{self.without: 0.0}) if self.without else base


#: The complete method and the ablations: three of the paper, and two of inference.
VARIANTS: dict[str, Variant] = {
    variant.name: variant
    for variant in (
        Variant(UPLIFT),
        Variant("without_point", without="point"),
        Variant("without_pair", without="pair"),
        Variant("without_list", without="list"),
        Variant("without_selection", selects=False),
        Variant("without_reranking", reranks=False),
    )
}


class Uplift(StepwiseMethod):
    """Uplift RAG on the protocol of `baselines.protocol`; variants may share `trained`."""

    def __init__(
        self, settings: BaselineSettings | None = None, options: Options | None = None, variant: str = UPLIFT
    ) -> None:
        self.settings = settings or BaselineSettings()
        self.options = options or Options()
        self.variant = VARIANTS[variant]
        self.trained: Reranker | None = None
        self.history: training.History | None = None
        #: Stored probabilities of documents by query id, from a reranker that is no longer loaded.
        self.believed: Mapping[str, Sequence[float]] = {}

    @property
    def name(self) -> str:
        """Name of the variant."""
        return self.variant.name

    def fit(self, split: Training) -> None:
        """Train a reranker on the labels.

        Raises
        ------
        NotPossibleError
            If there is nothing to train on.
        """
        model = reranker.start(self.settings.encoder, rng=split.rng, device=self.settings.device,
                               longest=self.settings.longest, precision=self.settings.precision)  # fmt: skip
        try:
            self.history = training.train(
                model, split.labelled, rng=split.rng, held_out=split.held_out, schedule=self.settings.schedule(),
                weights=self.variant.weights(self.options.weights), report=split.report, checkpoint=split.checkpoint,
            )  # fmt: skip
        except (training.NothingToLearnError, TrainingMemoryError) as error:
            raise NotPossibleError(str(error)) from error
        model.about = self.about(split)
        self.trained = model

    def save(self, folder: Path) -> None:
        """Save the reranker: a model's folder with `uplift.json`."""
        self._model().save(folder / _FOLDER)

    def load(self, folder: Path) -> None:
        """Load what `save` wrote."""
        self.trained = reranker.load(folder / _FOLDER, device=self.settings.device)

    def asking(self, query: Query, documents: Sequence[Document], generator: Generator) -> AnswerSteps[MethodAnswer]:
        """Answer with the documents that are predicted to help. See `baselines.protocol.Method`."""
        return reading(query, self.select(query, documents), self.settings)

    def select(self, query: Query, documents: Sequence[Document]) -> tuple[Document, ...]:
        """Select and order documents; empty without documents."""
        p = self.probabilities(query, documents)
        if not self.variant.selects:
            return document_selection.best(documents, p, self.settings.feed)
        return document_selection.chosen(documents, p, threshold=self.options.threshold, reranks=self.variant.reranks)

    def probabilities(self, query: Query, documents: Sequence[Document]) -> Floats:
        """Return the probability that each document helps, shape (n_documents,); from `believed` if stored there."""
        if query.id in self.believed:
            return np.asarray(self.believed[query.id], dtype=np.float64)
        return self._model().probabilities(query.question, documents)

    def about(self, split: Training) -> dict[str, Any]:
        """Return metadata of a trained reranker as JSON values."""
        start = self.settings.encoder
        weights = self.variant.weights(self.options.weights)
        return {
            "method": self.name,
            "encoder": start,
            "generator": split.generator.name,
            "metric": self.settings.metric,
            "max_tokens": self.settings.max_tokens,
            "learning_rate": self.settings.learning_rate,
            "queries_a_step": self.settings.batch,
            "weights": {"point": weights.point, "pair": weights.pair, "list": weights.list},
            "trained_on": [example.query.id for example in split.labelled],
            "held_out": [example.query.id for example in split.held_out],
            "documents": deduplication.digests((*split.labelled, *split.held_out)),
            "history": self.history.as_dict() if self.history else {},
        }

    def _model(self) -> Reranker:
        if self.trained is None:
            raise NotPossibleError("The reranker is not trained yet: fit it, or load a trained one.")
        return self.trained


def upper_bound(labelled: LabelledQuery, settings: BaselineSettings) -> AnswerSteps[MethodAnswer]:
    """Answer with exactly the documents that help alone, best first: the result of a perfect reranker."""
    return reading(labelled.query, document_selection.oracle(labelled), settings)
