"""SKR: decide whether to retrieve from the results on similar questions (Wang et al., EMNLP Findings 2023).

Self-knowledge guided retrieval augmentation in its nearest-neighbour form, which its authors found best. The method
stores training questions on which the retriever's documents made the answer better or worse. A new question is answered
with documents, unless `worse` is more frequent among its nearest neighbours than among all stored questions.

Simplified: better and worse are by the comparison's answer metric, not by manual answer checks. Question embeddings
are from the bundled sentence encoder, not SimCSE. Of the paper's ways to elicit self-knowledge (prompting, in-context
learning, a trained classifier, neighbours), only the last is implemented.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...protocols import Document, Generator, Query
from ..uplift_labels import METRICS
from .embeddings import Embed, Floats, embedder
from .protocol import (
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
    run_steps,
)

Bools = NDArray[np.bool_]

#: Tolerance for equal scores: F1 is a ratio, so it has rounding errors.
_EQUAL = 1e-9
_FILES = ("embeddings.npy", "helped.npy")


class Skr(StepwiseMethod):
    """Retrieve only for questions that resemble those where documents helped.

    Parameters
    ----------
    settings : BaselineSettings
    neighbours : int
        k: number of nearest training questions to consider.
    threshold : float
        lambda: retrieval is skipped if the neighbours' odds of `worse` exceed lambda times the odds among all.
    embed : callable, optional
        By default the sentence encoder in the settings.
    """

    name = "skr"

    def __init__(
        self,
        settings: BaselineSettings | None = None,
        *,
        neighbours: int = 5,
        threshold: float = 1.0,
        embed: Embed | None = None,
    ) -> None:
        self.settings = settings or BaselineSettings()
        self.neighbours = neighbours
        self.threshold = threshold
        self._embed = embed or embedder(self.settings.embedder, self.settings.device)
        self._embeddings: Floats | None = None
        self._helped: Bools = np.zeros(0, dtype=np.bool_)

    def fit(self, training: Training) -> None:
        """Answer each training question with the first documents, and store those where documents made a difference.

        Raises
        ------
        NotPossibleError
            If documents made no answer better or worse, or there is no training question.
        """
        questions, helped = [], []
        answers = run_steps(
            (
                reading(example.query, example.documents[: self.settings.feed], self.settings)
                for example in training.labelled
            ),
            training.generator,
            report=lambda finished: training.report(finished, len(training.labelled), "self-knowledge"),
        )
        for example, with_documents in zip(training.labelled, answers, strict=True):
            if with_documents.error or not example.query.answers:
                continue
            gain = METRICS[self.settings.metric](with_documents.text, example.query.answers)
            gain -= METRICS[self.settings.metric](example.without, example.query.answers)
            if abs(gain) > _EQUAL:
                questions.append(example.query.question)
                helped.append(gain > 0)
        if not questions:
            raise NotPossibleError(
                f"SKR needs questions for which documents made the answer better or worse, but none of the "
                f"{len(training.labelled)} training questions is like this. Use more questions or another metric."
            )
        self._embeddings, self._helped = self._embed(questions), np.array(helped)

    def save(self, folder: Path) -> None:
        """Save the embeddings of the stored questions, and whether documents helped."""
        if self._embeddings is None:
            raise NotPossibleError("SKR is not trained yet: fit it first.")
        for name, values in zip(_FILES, (self._embeddings, self._helped), strict=True):
            np.save(folder / name, values, allow_pickle=False)

    def load(self, folder: Path) -> None:
        """Load what `save` wrote."""
        self._embeddings, self._helped = (np.load(folder / name, allow_pickle=False) for name in _FILES)

    def retrieves(self, question: str) -> bool:
        """Return whether to answer this question with documents."""
        if self._embeddings is None:
            raise NotPossibleError("SKR is not trained yet: fit it first.")
        neighbours = nearest(self._embed([question])[0], self._embeddings, self.neighbours)
        return wants_documents(self._helped[neighbours], self._helped, threshold=self.threshold)

    def asking(self, query: Query, documents: Sequence[Document], generator: Generator) -> AnswerSteps[MethodAnswer]:
        """Answer with the first documents, or with none. See `protocol.Method`."""
        fed = documents[: self.settings.feed] if documents and self.retrieves(query.question) else ()
        return reading(query, fed, self.settings)


def nearest(vector: Floats, vectors: Floats, k: int) -> NDArray[np.int64]:
    """Return the indices of the k vectors most similar to a vector, most similar first.

    Parameters
    ----------
    vector : ndarray, shape (n_dimensions,)
        All vectors have length 1, so the similarity is the cosine.
    vectors : ndarray, shape (n, n_dimensions)
    k : int
        If more than n, all. Ties keep the order of the vectors.

    Returns
    -------
    ndarray of int, shape (min(k, n),)

    Examples
    --------
    >>> nearest(np.array([1.0, 0.0]), np.array([[0.0, 1.0], [1.0, 0.0], [0.6, 0.8]]), 2)
    array([1, 2])
    """
    return np.argsort(-(vectors @ vector), kind="stable")[:k]


def wants_documents(helped_near: Bools, everyone: Bools, *, threshold: float = 1.0) -> bool:
    """Decide whether to answer a question with documents, from their effect on its neighbours.

    Skip retrieval if the odds of `worse` among the neighbours exceed lambda times those among all: with l of k
    neighbours for which documents made the answer worse, and m of all questions worse and n better, if l / (k - l) >
    lambda m / n.

    Parameters
    ----------
    helped_near, everyone : ndarray of bool, shape (k,) and (m + n,)
        Whether documents helped, for the neighbours and for all; False means that they harmed.
    threshold : float
        lambda.

    Returns
    -------
    bool
        True if they helped on all questions, False if they harmed on all: then there are no odds.

    Examples
    --------
    >>> wants_documents(np.array([True, False, False]), np.array([True, False, False, True]))
    False
    """
    if everyone.all() or not everyone.any():
        return bool(everyone.all())
    worse, better = int((~helped_near).sum()), int(helped_near.sum())
    return worse * int(everyone.sum()) <= threshold * better * int((~everyone).sum())


BASELINE = Baseline(
    name="skr",
    title="SKR",
    does="selects the first documents, or none if documents harmed similar questions more often than others",
    make=Skr,
    forms=(Form("skr", "SKR"),),
    work=Work(
        "wang2023",
        "inproceedings",
        {
            "author": "Wang, Yile and Li, Peng and Sun, Maosong and Liu, Yang",
            "title": "Self-Knowledge Guided Retrieval Augmentation for Large Language Models",
            "booktitle": "Findings of EMNLP 2023",
            "year": "2023",
            "url": "https://aclanthology.org/2023.findings-emnlp.691/",
        },
    ),
    asks_to_learn=1,
)
