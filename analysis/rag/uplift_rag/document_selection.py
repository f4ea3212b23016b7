"""Document selection: those that the reranker predicts to help (section 2.5), or those that really help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from ..protocols import Document
from .uplift_labels import Floats, LabelledQuery

#: A document above this is more likely helpful than not.
THRESHOLD = 0.5


def chosen(documents: Sequence[Document], probabilities: ArrayLike, *, threshold: float = THRESHOLD,
           reranks: bool = True) -> tuple[Document, ...]:  # fmt: skip
    """Return the documents predicted to help, most likely first.

    Parameters
    ----------
    documents : sequence of Document
        In the retriever's order, best first.
    probabilities : array_like, shape (n_documents,)
        Ties keep the retriever's order.
    threshold : float
        A document's probability must exceed this.
    reranks : bool
        If False, selected documents keep the retriever's order (an ablation).

    Returns
    -------
    tuple of Document
        May be empty: then the prompt has no documents.

    Raises
    ------
    ValueError
        If the numbers of probabilities and documents differ.
    """
    p = _of_each(documents, probabilities)
    order = np.argsort(-p, kind="stable") if reranks else np.arange(len(p))
    return tuple(documents[index] for index in order if p[index] > threshold)


def best(documents: Sequence[Document], probabilities: ArrayLike, limit: int) -> tuple[Document, ...]:
    """Return the most likely documents, at most `limit`, even if they are not predicted to help (an ablation)."""
    return chosen(documents, probabilities, threshold=-np.inf)[:limit]


def oracle(labelled: LabelledQuery) -> tuple[Document, ...]:
    """Return the documents with positive uplift, highest first: the selection of the upper bound.

    Ties keep the retriever's order. Empty if no document helps: then the prompt without documents is the best known.
    """
    uplift = labelled.uplift
    order = np.argsort(-uplift, kind="stable")
    return tuple(labelled.documents[index] for index in order if uplift[index] > 0)


def ordered(labelled: LabelledQuery, probabilities: ArrayLike) -> float:
    """Return how often a document that helps alone ranks ahead of one of the same query that does not.

    Parameters
    ----------
    labelled : LabelledQuery
    probabilities : array_like, shape (n_documents,)
        Probabilities or any other scores.

    Returns
    -------
    float
        Share of such pairs in which the helpful document has the higher score; ties count half. This is the area under
        the ROC curve of one query (Hanley and McNeil 1982). 0.5 is chance; NaN if all documents help, or none.

    Raises
    ------
    ValueError
        If the numbers of probabilities and documents differ.
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
    """How many of the helpful documents a selection misses (Figure 4)."""

    ALL = "all"
    SOME = "some"
    NONE = "none"
    NOTHING_HELPS = "nothing_helps"


@dataclass(frozen=True)
class Selection:
    """A selection compared with the labels.

    Attributes
    ----------
    helpful, chosen, right : int
        Numbers of documents that help, that were selected, and both.
    missing : Missing
        Type 1 of the paper's Figure 4 is ALL, type 2 SOME, type 3 NONE. If no document helps, nothing can be missing.
        The paper does not say where it counts those queries; here they are a separate group.
    """

    helpful: int
    chosen: int
    right: int
    missing: Missing


def against(labelled: LabelledQuery, ids: Sequence[str]) -> Selection:
    """Compare the selected documents, given by id, with the labels."""
    helpful = {document.id for document in oracle(labelled)}
    correct = len(helpful & set(ids))
    if not helpful:
        missing = Missing.NOTHING_HELPS
    elif correct == len(helpful):
        missing = Missing.NONE
    else:
        missing = Missing.SOME if correct else Missing.ALL
    return Selection(len(helpful), len(set(ids)), correct, missing)
