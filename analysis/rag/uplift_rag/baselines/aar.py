"""AAR: a retriever that learns which documents a generator prefers (Yu et al., ACL 2023).

The augmentation-adapted retriever is a bi-encoder trained by a contrastive loss. Positives are the documents that the
source model prefers, and those marked as relevant. Negatives are other documents that the retriever itself ranks high
(ANCE, Xiong et al. 2021: the index is rebuilt as the encoder changes). The adapted retriever is a plug-in for any
generator.

The preference for a document is the quality of the generator's answer with it alone: the likelihood of the gold answer
if the generator gives likelihoods, else the answer's score. (The authors use the cross-attention of a T5 that reads all
documents at once, which other generators do not have.) Documents are marked as relevant by the data; if it does not
say, those that contain a gold answer are relevant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...protocols import Document, Generator, NoLikelihoodsError, Query
from .. import training_loop
from ..uplift_labels import LabelledQuery, prompt
from .embeddings import BiEncoder, Floats, contains_answer, is_relevant, text
from .protocol import (
    AT_ONCE,
    AnswerSteps,
    Baseline,
    BaselineSettings,
    Form,
    MethodAnswer,
    NotPossibleError,
    StepwiseMethod,
    Training,
    Work,
    reading,
)

if TYPE_CHECKING:
    import torch

Bools = NDArray[np.bool_]

CONTRASTIVE = "aar_contrastive"
#: Divisor of cosines in the loss.
TEMPERATURE = 0.05
#: Number of highest-ranked documents that are hard negatives, from which some are drawn for each step.
HARD = 50
#: Questions per batch when the index is searched.
_BLOCK = 256
_FOLDER = "aar"


@dataclass(frozen=True)
class Contrast:
    """A question with documents to rank first and documents to rank behind them, as texts; at least one of each.

    Attributes
    ----------
    question : str
    answers : tuple of str
        The gold answers: a document that contains one is not used as a negative.
    positives, others : tuple of str
        Its candidates.
    """

    question: str
    answers: tuple[str, ...]
    positives: tuple[str, ...]
    others: tuple[str, ...]


class Aar(StepwiseMethod):
    """Answer with the first documents of a retriever that is adapted to the generator.

    Parameters
    ----------
    settings : BaselineSettings
        `embedder` is the retriever's initial model.
    preferred : int
        Number of preferred documents per query (the paper's K).
    negatives : int
        Hard negatives per positive and step.
    """

    name = "aar"
    form = CONTRASTIVE

    def __init__(self, settings: BaselineSettings | None = None, *, preferred: int = 2, negatives: int = 4) -> None:
        self.settings = settings or BaselineSettings()
        self.preferred = preferred
        self.negatives = negatives
        self.encoder: BiEncoder | None = None

    def fit(self, training: Training) -> None:
        """Train the encoder on each query with at least one positive and one other document.

        Raises
        ------
        NotPossibleError
            If no query has both.
        """
        queries = self._contrasts(training.labelled, training)
        if not queries:
            raise NotPossibleError(
                f"AAR needs queries for which the generator prefers some documents to others, but none of the "
                f"{len(training.labelled)} training queries is like this. Use more queries, or label more "
                "documents of each."
            )
        watched = self._contrasts(training.held_out, training) if self.settings.patience else []
        encoder = BiEncoder(self.settings.embedder, device=self.settings.device, longest=self.settings.longest)
        index = _Index(encoder, queries, _texts(training.labelled), training.rng, self.negatives)
        task = training_loop.Task(
            encoder.model, len(index.pairs), training_loop.in_parts(index.loss),
            "use fewer tokens (longest), or a smaller encoder", message="adapting",
            held_out=partial(held_out_loss, encoder, watched) if watched else None,
            before_epoch=index.refresh, state=index.state, restore=index.restore,
        )  # fmt: skip
        training_loop.run(
            task, self.settings.schedule(), rng=training.rng, report=training.report, checkpoint=training.checkpoint
        )
        self.encoder = encoder

    def save(self, folder: Path) -> None:
        """Save the encoder."""
        self._fitted().save(folder / _FOLDER)

    def load(self, folder: Path) -> None:
        """Load what `save` wrote."""
        self.encoder = BiEncoder(str(folder / _FOLDER), device=self.settings.device, longest=self.settings.longest)

    def ranked(self, query: Query, documents: Sequence[Document]) -> list[Document]:
        """Rank documents by the adapted retriever, best first; ties keep their order."""
        vectors = self._fitted().embed([query.question, *map(text, documents)])
        order = np.argsort(-(vectors[1:] @ vectors[0]), kind="stable")
        return [documents[index] for index in order]

    def asking(self, query: Query, documents: Sequence[Document], generator: Generator) -> AnswerSteps[MethodAnswer]:
        """Answer with the first documents of the adapted retriever. See `protocol.Method`."""
        fed = self.ranked(query, documents)[: self.settings.feed] if documents else ()
        return reading(query, fed, self.settings)

    def _contrasts(self, labelled: Sequence[LabelledQuery], training: Training) -> list[Contrast]:
        usable = [
            labelled_query for labelled_query in labelled if labelled_query.documents and labelled_query.query.answers
        ]
        contrasts = []
        for start in range(0, len(usable), AT_ONCE):
            batch = usable[start : start + AT_ONCE]
            for labelled_query, preferences in zip(batch, _preferences(batch, training.generator), strict=True):
                positive = self._positive(labelled_query, preferences)
                if positive.any() and not positive.all():
                    texts = np.array([text(document) for document in labelled_query.documents], dtype=object)
                    sides = tuple(texts[positive].tolist()), tuple(texts[~positive].tolist())
                    contrasts.append(Contrast(labelled_query.query.question, labelled_query.query.answers, *sides))
        return contrasts

    def _positive(self, labelled: LabelledQuery, preferences: Floats) -> Bools:
        """Return the documents that the generator prefers or that are marked as relevant."""
        liked = most_preferred(preferences, self.preferred)
        is_marked = [is_relevant(document, labelled.query.answers) for document in labelled.documents]
        return np.asarray(liked | np.array(is_marked), dtype=np.bool_)

    def _fitted(self) -> BiEncoder:
        if self.encoder is None:
            raise NotPossibleError("AAR is not trained yet: fit it first.")
        return self.encoder


class _Index:
    """All training documents, embedded by the current encoder, from which hard negatives are drawn."""

    def __init__(
        self, encoder: BiEncoder, queries: list[Contrast], texts: list[str], rng: np.random.Generator, negatives: int
    ) -> None:
        self.encoder = encoder
        self.queries = queries
        self.texts = texts
        #: Each positive of each query is one example.
        self.pairs = [(index, positive) for index, query in enumerate(queries) for positive in query.positives]
        self._rng = rng
        self._negatives = negatives
        self._hard: list[list[str]] = []

    def refresh(self) -> None:
        """Embed all documents again, and rank them for each question."""
        documents = self.encoder.embed(self.texts)
        self._hard = []
        for start in range(0, len(self.queries), _BLOCK):
            block = self.queries[start : start + _BLOCK]
            cosines = self.encoder.embed([query.question for query in block]) @ documents.T
            self._hard += [self._negatives_of(query, row) for query, row in zip(block, cosines, strict=True)]

    def state(self) -> list[list[int]]:
        """Return the hard negatives as positions in `texts`: a checkpoint stores them."""
        positions = {text: position for position, text in enumerate(self.texts)}
        return [[positions[text] for text in hard] for hard in self._hard]

    def restore(self, state: list[list[int]]) -> None:
        """Take the hard negatives that `state` returned."""
        self._hard = [[self.texts[position] for position in hard] for hard in state]

    def loss(self, batch: Sequence[int]) -> torch.Tensor:
        """Return the mean of -log(exp(s+/t) / (exp(s+/t) + sum of exp(s-/t))), the sum over drawn hard negatives."""
        rows = []
        for query, positive in (self.pairs[index] for index in batch):
            hard = self._hard[query]
            negatives = self._rng.choice(len(hard), size=min(self._negatives, len(hard)), replace=False)
            rows.append([self.queries[query].question, positive, *(hard[index] for index in negatives)])
        return contrast(self.encoder, rows)

    def _negatives_of(self, query: Contrast, cosines: Floats) -> list[str]:
        """Return hard negatives: top-ranked documents that are not positive and contain no gold answer.

        The query's own other candidates qualify even if they contain one. If no document qualifies, they are all used.
        """
        count = min(len(cosines), HARD + len(query.positives))
        top = np.argpartition(-cosines, count - 1)[:count]
        ranked = (self.texts[index] for index in top[np.argsort(-cosines[top], kind="stable")])
        positives = set(query.positives)
        negatives = [
            candidate for candidate in ranked
            if candidate not in positives
            and (candidate in query.others or not contains_answer(Document("", candidate), query.answers))
        ]  # fmt: skip
        return negatives or list(query.others)


def contrast(encoder: BiEncoder, rows: Sequence[Sequence[str]]) -> torch.Tensor:
    """Compute the mean contrastive loss of rows of texts: a question, its positive, and its negatives."""
    import torch

    vectors = torch.split(encoder.vectors([logit for row in rows for logit in row]), [len(row) for row in rows])
    logits = [(vectors_of_row[1:] @ vectors_of_row[0]) / TEMPERATURE for vectors_of_row in vectors]
    losses = [torch.logsumexp(logit, dim=0) - logit[0] for logit in logits]
    return torch.stack(losses).mean()


def held_out_loss(encoder: BiEncoder, queries: Sequence[Contrast]) -> float:
    """Compute the mean contrastive loss of positives against other candidates of their query, without gradients."""
    import torch

    rows = [[query.question, positive, *query.others] for query in queries for positive in query.positives]
    with torch.no_grad():
        return float(np.mean([float(contrast(encoder, [row])) for row in rows]))


def _texts(labelled: Sequence[LabelledQuery]) -> list[str]:
    """Return all possible negatives: every candidate of every training query, each text once."""
    return list(
        dict.fromkeys(
            text(document)
            for labelled_query in labelled
            for document in (*labelled_query.documents, *labelled_query.query.documents)
        )
    )


def _preferences(batch: Sequence[LabelledQuery], generator: Generator) -> list[Floats]:
    """Return the preferences for each document alone, by query, with a single call of the generator."""
    prompts = [
        prompt(labelled_query.query.question, [document])
        for labelled_query in batch
        for document in labelled_query.documents
    ]
    answers = [labelled_query.query.answers[0] for labelled_query in batch for _document in labelled_query.documents]
    try:
        likelihoods = generator.likelihoods(prompts, answers)
    except NoLikelihoodsError:
        return [labelled_query.scores_alone for labelled_query in batch]
    ends = np.cumsum([len(labelled_query.documents) for labelled_query in batch])[:-1]
    likely = np.split(likelihoods, ends)
    # NaN means that a document is too long for the model; then use the scores of the answers instead.
    return [
        labelled_query.scores_alone if np.isnan(likely_of_query).any() else likely_of_query
        for labelled_query, likely_of_query in zip(batch, likely, strict=True)
    ]


def most_preferred(preferences: Floats, count: int) -> Bools:
    """Return a mask of the most preferred documents: at most `count`, all above the query's mean.

    Parameters
    ----------
    preferences : ndarray, shape (n_documents,)
        Never NaN. If all are equal, none is preferred.
    count : int
        Ties at the limit are resolved in favour of earlier documents.

    Returns
    -------
    ndarray of bool, shape (n_documents,)

    Examples
    --------
    >>> most_preferred(np.array([0.0, 1.0, 0.9, 0.8]), 2)
    array([False,  True,  True, False])
    """
    is_preferred = np.zeros(len(preferences), dtype=np.bool_)
    if len(preferences) and np.ptp(preferences) > 0:
        first = np.argsort(-preferences, kind="stable")[:count]
        is_preferred[first] = preferences[first] > preferences.mean()
    return is_preferred


BASELINE = Baseline(
    name="aar",
    title="AAR",
    does="selects the first documents of a retriever adapted to the generator's preferences",
    make=Aar,
    forms=(
        Form(CONTRASTIVE, "AAR"),
        Form(
            "aar",
            "after AAR (linear adapter)",
            "Only a linear map of the question's vector was trained, instead of the whole encoder.",
        ),
    ),
    trains=True,
    work=Work(
        "yu2023",
        "inproceedings",
        {
            "author": "Yu, Zichun and Xiong, Chenyan and Yu, Shi and Liu, Zhiyuan",
            "title": "Augmentation-Adapted Retriever Improves Generalization of Language Models as Generic Plug-In",
            "booktitle": "Proceedings of ACL 2023",
            "pages": "2421--2436",
            "year": "2023",
            "doi": "10.18653/v1/2023.acl-long.136",
        },
    ),
)
