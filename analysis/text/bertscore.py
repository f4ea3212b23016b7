"""BERTScore: similarity of two texts by the contextual embeddings of their tokens (Zhang et al. 2020, ICLR).

This module computes scores from arrays; the encoders are in `analysis.rag.encoders`. See docs/methods/bertscore.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log, nan

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]


class MismatchError(ValueError):
    """The inputs do not match."""


class BadEmbeddingError(ValueError):
    """An embedding is NaN, infinite or zero, so it has no direction."""


@dataclass(frozen=True, eq=False)
class TokenEmbeddings:
    """The encoding of a text, one row per token, including special tokens.

    Attributes
    ----------
    vectors : ndarray of float32, shape (n_tokens, n_dimensions)
        Contextual embeddings of any norm: only their directions matter.
    ids : ndarray of int, shape (n_tokens,)
        Vocabulary id of each token.
    weighted : ndarray of bool, shape (n_tokens,)
        False for the tokens that begin and end a text. They have no weight, but tokens of the other text can match
        them, as in the authors' package.
    cut : bool
        Whether the text was truncated to the encoder's maximum length.
    """

    vectors: Floats
    ids: Ints
    weighted: NDArray[np.bool_]
    cut: bool = False

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2 or self.ids.shape != self.weighted.shape or len(self.ids) != len(self.vectors):
            raise MismatchError(
                f"One vector, one id and one mark a token: there are {self.vectors.shape} numbers, {self.ids.shape} "
                f"ids and {self.weighted.shape} marks."
            )

    @property
    def is_empty(self) -> bool:
        """Whether no token has weight."""
        return not self.weighted.any()


@dataclass(frozen=True)
class Score:
    """Precision, recall and F1; all NaN if one of the texts has no token with weight."""

    precision: float
    recall: float
    f1: float


UNDEFINED = Score(nan, nan, nan)


def score(candidate: TokenEmbeddings, reference: TokenEmbeddings, *, idf: Idf | None = None) -> Score:
    """Compute BERTScore of a candidate against a reference.

    Each token is matched with the most similar token of the other text (cosine similarity). Precision is the mean over
    the candidate's tokens, recall over the reference's, and F1 is their harmonic mean (equations 1 to 4).

    Parameters
    ----------
    candidate, reference : TokenEmbeddings
        Encoded by the same encoder.
    idf : Idf, optional
        Gives rare tokens more weight (section 3, "Importance Weighting"). Without it all tokens have equal weight.

    Returns
    -------
    Score
        NaN if one of the texts is empty, or if idf gives all its tokens no weight. The authors' package returns 0 in
        these cases, although nothing was measured.

    Raises
    ------
    MismatchError
        If the encoders differ, because the embeddings differ in size.
    BadEmbeddingError
        If an embedding is not finite or is zero.

    Examples
    --------
    >>> def text(*vectors):
    ...     n = len(vectors)
    ...     return TokenEmbeddings(np.array(vectors, dtype=np.float32), np.arange(n), np.ones(n, dtype=bool))
    >>> found = score(text([1, 0], [0, 1]), text([1, 0], [3, 4]))
    >>> round(found.precision, 6), round(found.recall, 6)
    (0.9, 0.9)
    """
    return scores([candidate, reference], [(0, 1)], idf=idf)[0]


def scores(
    texts: Sequence[TokenEmbeddings], pairs: Iterable[tuple[int, int]], *, idf: Idf | None = None
) -> list[Score]:
    """Compute BERTScore of many pairs of a few texts; each text is prepared once.

    Parameters
    ----------
    texts : sequence of TokenEmbeddings
        Encoded by the same encoder.
    pairs : iterable of (int, int)
        Candidate and reference, as indices in `texts`. The reversed pair has precision and recall swapped and the same
        F1, with and without idf.
    idf : Idf, optional
        See `score`.

    Returns
    -------
    list of Score
        In the order of `pairs`. Each score depends only on its pair, to the last bit: there is no padding or batching.
    """
    if len({text.vectors.shape[1] for text in texts}) > 1:
        raise MismatchError("The texts were encoded by different models: their embeddings differ in size.")
    unit = [_unit(text.vectors) for text in texts]
    weights = [_weights(text, idf) for text in texts]
    results = []
    for candidate, reference in pairs:
        if not (weights[candidate].any() and weights[reference].any()):
            results.append(UNDEFINED)
            continue
        alike = unit[candidate] @ unit[reference].T
        precision = float(alike.max(axis=1).astype(np.float64) @ weights[candidate])
        recall = float(alike.max(axis=0).astype(np.float64) @ weights[reference])
        results.append(Score(precision, recall, _f1(precision, recall)))
    return results


@dataclass(frozen=True)
class Idf:
    """Inverse document frequency of vocabulary tokens in reference texts.

    Attributes
    ----------
    documents : int
        Number of references in which tokens were counted.
    weights : mapping of int to float
        By token id. A token that is missing here has the weight of a token that occurs in no reference.
    """

    documents: int
    weights: Mapping[int, float]

    def of(self, ids: Ints) -> NDArray[np.float64]:
        """Return the weight of each token."""
        unseen = log(self.documents + 1)
        return np.array([self.weights.get(token, unseen) for token in ids.tolist()], dtype=np.float64)


def inverse_document_frequency(references: Iterable[ArrayLike]) -> Idf:
    """Compute token weights: -log of the share of references that contain a token, with plus-one smoothing.

    Parameters
    ----------
    references : iterable of array_like of int
        Token ids of each reference, including special tokens: every text contains them, so their weight is 0.

    Raises
    ------
    MismatchError
        If there are no references.

    Examples
    --------
    >>> inverse_document_frequency([[0, 5, 5], [0, 6]]).weights[0]
    0.0
    """
    frequencies: Counter[int] = Counter()
    documents = 0
    for ids in references:
        documents += 1
        frequencies.update(np.unique(np.asarray(ids, dtype=np.int64)).tolist())
    if not documents:
        raise MismatchError("There is no reference to count tokens in: idf weights need at least one.")
    return Idf(documents, {token: log((documents + 1) / (n + 1)) for token, n in sorted(frequencies.items())})


def rescale(score: Score, baseline: Score) -> Score:
    """Rescale scores to a readable range: (x - b) / (1 - b), with b the mean over unrelated sentences (section 5).

    Rescaling does not change ranks or rank correlations. The authors' package has baselines for each layer of an
    encoder.

    Raises
    ------
    MismatchError
        If a baseline is 1 or more.

    Examples
    --------
    >>> rescale(Score(0.75, 0.75, 0.75), Score(0.5, 0.5, 0.5)).f1
    0.5
    """
    pairs = zip((score.precision, score.recall, score.f1), (baseline.precision, baseline.recall, baseline.f1),
                strict=True)  # fmt: skip
    if not max(baseline.precision, baseline.recall, baseline.f1) < 1:
        raise MismatchError(f"A baseline must be below 1, it is {baseline}.")
    return Score(*((value - base) / (1 - base) for value, base in pairs))


def _unit(vectors: Floats) -> Floats:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (np.isfinite(length).all() and (length > 0).all()):
        raise BadEmbeddingError(
            "An embedding is NaN, infinite or zero. Was the model damaged, or run in half precision?"
        )
    return np.asarray(vectors / length, dtype=np.float32)


def _weights(text: TokenEmbeddings, idf: Idf | None) -> NDArray[np.float64]:
    """Return the weight of each token; weights sum to one, or are all zero if no token counts."""
    weights = text.weighted.astype(np.float64) if idf is None else idf.of(text.ids)
    total = weights.sum()
    return np.zeros_like(weights) if text.is_empty or not total else weights / total


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
