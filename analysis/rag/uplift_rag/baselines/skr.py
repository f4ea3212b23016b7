"""SKR: whether to retrieve is decided by how it went with similar questions (Wang et al., EMNLP Findings 2023).

Self-knowledge guided retrieval augmentation in its nearest-neighbour form, which its authors found best. Training
questions on which the retriever's documents made the answer better, or worse, are remembered; a new question is
answered with documents unless among its nearest ones `worse` is more frequent than among all.

Simplified: better and worse by the comparison's answer metric instead of by hand-made answer checks; question
embeddings by the bundled sentence encoder instead of SimCSE; of the paper's ways to elicit self-knowledge (prompting,
in-context learning, a trained classifier, neighbours) only the last.
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
    run_in_lockstep,
)

Bools = NDArray[np.bool_]

#: Scores that differ by less are equal: F1 is a fraction, and fractions are rounded.
_EQUAL = 1e-9
_FILES = ("embeddings.npy", "helped.npy")


class Skr(StepwiseMethod):
    """Documents for questions that resemble those where documents helped.

    Parameters
    ----------
    settings : Settings
    neighbours : int
        k: how many of the nearest training questions are asked.
    threshold : float
        lambda: how many times the odds of `worse` among all they must exceed to leave retrieval out.
    embed : callable, optional
        By default the sentence encoder that the settings name.
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
        """Ask each training question with the first documents, and remember those where that made a difference.

        Raises
        ------
        NotPossibleError
            If documents made no answer better or worse, or there is no training question.
        """
        questions, helped = [], []
        answers = run_in_lockstep(
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
        """Write the remembered questions' embeddings, and whether documents helped."""
        if self._embeddings is None:
            raise NotPossibleError("SKR is not trained yet: fit it first.")
        for name, values in zip(_FILES, (self._embeddings, self._helped), strict=True):
            np.save(folder / name, values, allow_pickle=False)

    def load(self, folder: Path) -> None:
        """Read what `save` wrote."""
        self._embeddings, self._helped = (np.load(folder / name, allow_pickle=False) for name in _FILES)

    def retrieves(self, question: str) -> bool:
        """Whether this question is answered with documents."""
        if self._embeddings is None:
            raise NotPossibleError("SKR is not trained yet: fit it first.")
        neighbours = nearest(self._embed([question])[0], self._embeddings, self.neighbours)
        return wants_documents(self._helped[neighbours], self._helped, threshold=self.threshold)

    def asking(self, query: Query, documents: Sequence[Document], generator: Generator) -> AnswerSteps[MethodAnswer]:
        """Ask with the first documents or with none. See `protocol.Method`."""
        fed = documents[: self.settings.feed] if documents and self.retrieves(query.question) else ()
        return reading(query, fed, self.settings)


def nearest(vector: Floats, vectors: Floats, k: int) -> NDArray[np.int64]:
    """The places of the k vectors that are most similar to one, the most similar first.

    Parameters
    ----------
    vector : ndarray, shape (n_dimensions,)
        Of length 1, as the others: similarity is the cosine.
    others : ndarray, shape (n, n_dimensions)
    k : int
        More than n: all. Of equally similar ones the earlier comes first.

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
    """Whether a question is to be answered with documents, by what they did for its neighbours.

    Left out if the odds of `worse` among the neighbours exceed lambda times those among all: with l neighbours of k for
    which documents made it worse, and m of all against n better, if l / (k - l) > lambda m / n.

    Parameters
    ----------
    near, everyone : ndarray of bool, shape (k,) and (m + n,)
        Whether documents helped; False: they harmed.
    threshold : float
        lambda.

    Returns
    -------
    bool
        If they helped everyone True, if they harmed everyone False: there are no odds.

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
