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

import numpy as np
from numpy.typing import NDArray

from ... import checkpoints
from ...generation import devices, model_cache
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
#: Maximum number of tokens of a question with a document for a ready model.
_LONGEST = 512
#: Relevance is learnt document by document.
POINT_WISE = Weights(point=1.0, pair=0.0, list=0.0)


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
                       schedule=self.settings.schedule(is_watched=bool(held_out)), weights=POINT_WISE,
                       report=training_split.report, checkpoint=training_split.checkpoint)  # fmt: skip

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

    sentence-transformers loads it and scores the pairs, so a model of that library works whatever its modules are.

    Raises
    ------
    NotPossibleError
        If the model has more than two logits.
    checkpoints.NeuralPartsMissingError, checkpoints.ModelMissingError
    """

    def __init__(self, model: str, device: str | None = None) -> None:
        library = checkpoints.sentence_transformers()
        import torch

        self._torch = torch
        self._device = devices.choose(torch, device)
        self._model = library.CrossEncoder(
            str(checkpoints.find(model).folder), device=str(self._device), local_files_only=True,
            model_kwargs={"use_safetensors": True, "dtype": torch.float32},
        )  # fmt: skip
        if self._model.num_labels > 2:
            raise NotPossibleError(f"{model} has {self._model.num_labels} classes. Name the one for relevance.")
        self._model.max_seq_length = min(self._model.max_seq_length or _LONGEST, _LONGEST)
        self._name = model
        self._budget = Budget(reranker.CHUNK_TOKENS.get(self._device.type, reranker.CHUNK_TOKENS["cpu"]))

    def scores(self, question: str, documents: Sequence[Document]) -> Floats:
        """Return the relevant minus the irrelevant logit, shape (n_documents,); texts are truncated to the limit."""
        if not documents:
            return np.empty(0)
        pairs = [(question, text(document)) for document in documents]
        ids = self._model.tokenizer(*map(list, zip(*pairs, strict=True)), truncation=True)["input_ids"]
        # The longest first: there is almost no padding, and a lack of memory shows at once.
        order = sorted(range(len(pairs)), key=lambda index: -len(ids[index]))
        batches: Batches[int, float] = Batches(
            self._torch, self._device, self._budget, self._name,
            tokens=lambda index: len(ids[index]), work=lambda batch: self._predict([pairs[index] for index in batch]),
        )  # fmt: skip
        scores = np.empty(len(pairs))
        with model_cache.one_job(self._device):
            for batch, values in batches.run(order):
                scores[batch] = values
                model_cache.look()
        return scores

    def _predict(self, pairs: list[tuple[str, str]]) -> list[float]:
        logits = self._model.predict(
            pairs, batch_size=len(pairs), activation_fn=self._torch.nn.Identity(), show_progress_bar=False
        ).astype(np.float64)
        scores: list[float] = (logits if logits.ndim == 1 else logits[:, 1] - logits[:, 0]).tolist()
        return scores


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


BASELINE = Baseline(
    name="cross_encoder",
    title="Cross-encoder",
    does="selects the first documents by relevance to the question",
    make=CrossEncoder,
    forms=(Form("cross_encoder", "Cross-encoder"),),
    trains=True,
)
