"""A plain cross-encoder reranker, which ranks documents by relevance to the question, regardless of the generator.

In the paper: bge-reranker-base (Xiao et al. 2024).

A model trained elsewhere is used unchanged (`BaselineSettings.cross_encoder`). Otherwise, an encoder with two logits,
the same as for uplift's reranker, is trained point-wise on relevance: what the data says of a document
(`Document.is_helpful`), else whether it contains a gold answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import checkpoints
from ...generation.devices import Batches, Budget
from ...protocols import Document, Generator, Query
from ...qa_metrics import normalised
from .. import reranker, training
from ..training import Weights
from ..uplift_labels import LabelledQuery
from .embeddings import is_relevant, text
from .protocol import (
    AnswerSteps,
    Baseline,
    BaselineSettings,
    Form,
    MethodAnswer,
    NotPossibleError,
    StepwiseMethod,
    Training,
    reading,
)

Floats = NDArray[np.float64]
_FOLDER = "cross_encoder"


class CrossEncoder(StepwiseMethod):
    """Answer with the first documents by relevance."""

    name = "cross_encoder"

    def __init__(self, settings: BaselineSettings | None = None) -> None:
        self.settings = settings or BaselineSettings()
        self._trained: reranker.Reranker | None = None
        self._ready: Ready | None = None

    def fit(self, training_split: Training) -> None:
        """Train on relevance; do nothing if the settings name a trained model.

        Raises
        ------
        NotPossibleError
            If no document is relevant, all are, or there are no documents.
        """
        if self.settings.cross_encoder:
            return
        labelled = [judged for example in training_split.labelled if (judged := relevance(example)) is not None]
        labels = {label for example in labelled for label in example.helpful.tolist()}
        if len(labels) < 2:
            raise NotPossibleError(
                "A cross-encoder needs relevant and irrelevant documents, but the "
                f"{len(training_split.labelled)} training "
                f"queries do not have both. Use a trained cross-encoder or more queries."
            )
        held_out = [judged for example in training_split.held_out if (judged := relevance(example)) is not None]
        self._trained = reranker.start(self.settings.encoder, rng=training_split.rng, device=self.settings.device,
                                       longest=self.settings.longest, precision=self.settings.precision)  # fmt: skip
        training.train(self._trained, labelled, rng=training_split.rng, held_out=held_out,
                       schedule=schedule(self.settings, bool(held_out)), report=training_split.report)  # fmt: skip

    def save(self, folder: Path) -> None:
        """Save the trained model; do nothing if it was trained elsewhere."""
        if not self.settings.cross_encoder:
            self._fitted().save(folder / _FOLDER, {"method": self.name})

    def load(self, folder: Path) -> None:
        """Load what `save` wrote."""
        if not self.settings.cross_encoder:
            self._trained = reranker.load(folder / _FOLDER, device=self.settings.device)

    def asking(self, query: Query, documents: Sequence[Document], generator: Generator) -> AnswerSteps[MethodAnswer]:
        """Answer with the first documents by relevance. See `protocol.Method`."""
        fed: Sequence[Document] = ()
        if documents:
            order = np.argsort(-self.scores(query.question, documents), kind="stable")
            fed = [documents[index] for index in order[: self.settings.feed]]
        return reading(query, fed, self.settings)

    def scores(self, question: str, documents: Sequence[Document]) -> Floats:
        """Return the relevance of each document, shape (n_documents,); higher is better."""
        if not self.settings.cross_encoder:
            return self._fitted().probabilities(question, documents)
        if self._ready is None:
            self._ready = Ready(self.settings.cross_encoder, self.settings.device)
        return self._ready.scores(question, documents)

    def _fitted(self) -> reranker.Reranker:
        if self._trained is None:
            raise NotPossibleError("The cross-encoder is not trained yet: fit it first.")
        return self._trained


class Ready:
    """A cross-encoder trained on relevance elsewhere, with one logit, or two of which the second means relevant.

    Raises
    ------
    NotPossibleError
        If the model has more than two logits.
    checkpoints.NeuralPartsMissingError, checkpoints.ModelMissingError
    """

    def __init__(self, model: str, device: str | None = None) -> None:
        try:
            import torch
            from transformers import AutoModelForSequenceClassification, AutoTokenizer
        except ImportError as error:
            raise checkpoints.missing_parts() from error
        folder = checkpoints.find(model).folder
        self._torch = torch
        self._device = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        self._tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        loaded: Any = AutoModelForSequenceClassification.from_pretrained(
            folder, use_safetensors=True, dtype=torch.float32
        )
        if loaded.config.num_labels > 2:
            raise NotPossibleError(f"{model} has {loaded.config.num_labels} classes. Name the one for relevance.")
        self._model = loaded.to(self._device).eval()
        self._name = model
        self._budget = Budget(reranker.CHUNK_TOKENS.get(self._device.type, reranker.CHUNK_TOKENS["cpu"]))

    def scores(self, question: str, documents: Sequence[Document]) -> Floats:
        """Return the relevant minus the irrelevant logit, shape (n_documents,); texts are truncated to the limit."""
        if not documents:
            return np.empty(0)
        longest = min(self._tokenizer.model_max_length, 512)
        encoded = self._tokenizer(
            [question] * len(documents), [text(document) for document in documents], truncation="longest_first",
            max_length=longest,
        )  # fmt: skip
        pairs = [{key: encoded[key][index] for key in encoded} for index in range(len(documents))]
        # The longest first: there is almost no padding, and a lack of memory shows at once.
        order = sorted(range(len(pairs)), key=lambda index: -len(pairs[index]["input_ids"]))
        batches = Batches(self._torch, self._device, self._budget, self._name, _width, self._forward)
        batch_scores = [value for _batch, values in batches.run([pairs[index] for index in order]) for value in values]
        scores = np.empty(len(pairs))
        scores[order] = batch_scores
        return scores

    def _forward(self, pairs: list[reranker.Encoded]) -> list[float]:
        padded = self._tokenizer.pad({key: [pair[key] for pair in pairs] for key in pairs[0]}, return_tensors="pt")
        with self._torch.inference_mode():
            logits = self._model(**padded.to(self._device)).logits.double().cpu().numpy()
        scores: list[float] = (logits[:, -1] - (logits[:, 0] if logits.shape[1] == 2 else 0)).tolist()
        return scores


def _width(pair: reranker.Encoded) -> int:
    return len(pair["input_ids"])


def relevance(labelled: LabelledQuery) -> LabelledQuery | None:
    """Return the query with labels as if a relevant document alone made the answer correct, to train on relevance.

    Parameters
    ----------
    labelled : LabelledQuery
        The generator's answers are ignored.

    Returns
    -------
    LabelledQuery or None
        Uplift 1 for relevant documents, 0 for others. None if the query has no document, or no gold answer that is
        non-empty after normalisation.
    """
    answers = tuple(answer for answer in labelled.query.answers if normalised(answer))
    if not labelled.documents or not answers:
        return None
    alone = tuple(answers[0] if is_relevant(document, answers) else "" for document in labelled.documents)
    return replace(labelled, query=replace(labelled.query, answers=answers), without="", alone=alone, metric="em")


def schedule(settings: BaselineSettings, is_watched: bool) -> training.Schedule:
    """Return a point-wise schedule like uplift's; early stopping only with held-out queries (`is_watched`)."""
    return training.Schedule(
        epochs=settings.epochs, learning_rate=settings.learning_rate, queries=settings.batch, warm_up=settings.warm_up,
        weights=Weights(point=1.0, pair=0.0, list=0.0), patience=settings.patience if is_watched else None,
    )  # fmt: skip


BASELINE = Baseline(
    name="cross_encoder",
    title="Cross-encoder",
    does="selects the first documents by relevance to the question",
    make=CrossEncoder,
    forms=(Form("cross_encoder", "Cross-encoder"),),
    trains=True,
)
