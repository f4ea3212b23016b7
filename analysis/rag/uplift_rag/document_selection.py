"""Which documents a generator is handed: those that a reranker believes in (section 2.5), or those that really help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from ..protocols import Document
from .uplift_labels import Floats, LabelledQuery

#: More likely helpful than not.
THRESHOLD = 0.5


def chosen(documents: Sequence[Document], probabilities: ArrayLike, *, threshold: float = THRESHOLD,
           reranks: bool = True) -> tuple[Document, ...]:  # fmt: skip
    """The documents that are believed to help, the likeliest first.

    Parameters
    ----------
    documents : sequence of Document
        The retriever's best one first.
    probabilities : array_like, shape (n_documents,)
        Equal ones stay in the retriever's order.
    threshold : float
        What a probability must exceed.
    reranks : bool
        Otherwise those that are chosen stay in the retriever's order (an ablation).

    Returns
    -------
    tuple of Document
        Maybe none: then the prompt has no documents.

    Raises
    ------
    ValueError
        If there are not as many probabilities as documents.
    """
    p = _of_each(documents, probabilities)
    order = np.argsort(-p, kind="stable") if reranks else np.arange(len(p))
    return tuple(documents[index] for index in order if p[index] > threshold)


def best(documents: Sequence[Document], probabilities: ArrayLike, limit: int) -> tuple[Document, ...]:
    """The likeliest documents, so many at most, whether they are believed to help or not (an ablation)."""
    return chosen(documents, probabilities, threshold=-np.inf)[:limit]


def oracle(labelled: LabelledQuery) -> tuple[Document, ...]:
    """The documents whose own uplift is positive, the highest first: what the upper bound hands over.

    Equal ones stay in the retriever's order. None where no document helps: the prompt without documents is the best
    that is known.
    """
    uplift = labelled.uplift
    order = np.argsort(-uplift, kind="stable")
    return tuple(labelled.documents[index] for index in order if uplift[index] > 0)


def ordered(labelled: LabelledQuery, probabilities: ArrayLike) -> float:
    """How often a document that helps alone stands ahead of one of the same query that does not.

    Parameters
    ----------
    labelled : Labelled
    probabilities : array_like, shape (n_documents,)
        Or any other scores.

    Returns
    -------
    float
        Of all such pairs the share whose helpful one has the higher score, pairs of equal scores count half: the area
        under the ROC curve of one query (Hanley and McNeil 1982). 0.5 is chance; NaN where all documents help, or none.

    Raises
    ------
    ValueError
        If there are not as many probabilities as documents.
    """
    p, helps = _of_each(labelled.documents, probabilities), labelled.uplift > 0
    gap = p[helps][:, np.newaxis] - p[~helps]
    return float(np.mean((gap > 0) + 0.5 * (gap == 0))) if gap.size else float("nan")


def _of_each(documents: Sequence[Document], probabilities: ArrayLike) -> Floats:
    p = np.asarray(probabilities, dtype=np.float64)
    if p.shape != (len(documents),):
        raise ValueError(f"{len(documents)} documents need as many probabilities, not {p.shape}")
    return p


class Missing(StrEnum):
    """How much of what helps a selection lacks (Figure 4)."""

    ALL = "all"
    SOME = "some"
    NONE = "none"
    NOTHING_HELPS = "nothing_helps"


@dataclass(frozen=True)
class Selection:
    """A selection held against the labels.

    Attributes
    ----------
    helpful, chosen, right : int
        Documents that help, that were chosen, and that were both.
    missing : Missing
        Type 1 of the paper's Figure 4 is ALL, type 2 SOME, type 3 NONE. Where no document helps nothing can be missing;
        the paper does not say where it counts those queries, and here they stand apart.
    """

    helpful: int
    chosen: int
    right: int
    missing: Missing


def against(labelled: LabelledQuery, ids: Sequence[str]) -> Selection:
    """Hold the documents that were handed over, by their ids, against the labels."""
    helpful = {document.id for document in oracle(labelled)}
    correct = len(helpful & set(ids))
    if not helpful:
        missing = Missing.NOTHING_HELPS
    elif correct == len(helpful):
        missing = Missing.NONE
    else:
        missing = Missing.SOME if correct else Missing.ALL
    return Selection(len(helpful), len(set(ids)), correct, missing)
