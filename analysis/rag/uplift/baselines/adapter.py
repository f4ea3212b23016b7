"""A linear map between question and documents, learnt by contrast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import softmax

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

#: What similarities are divided by: cosines differ by little.
TEMPERATURE = 0.05


@dataclass(frozen=True, eq=False)
class Contrast:
    """A question's embedding, its documents', and which of them are to come first: some, not all.

    Attributes
    ----------
    question : ndarray, shape (n_dimensions,)
    documents : ndarray, shape (n_documents, n_dimensions)
    positive : ndarray of bool, shape (n_documents,)
    """

    question: Floats
    documents: Floats
    positive: Bools


def contrast(matrix: Floats, queries: Sequence[Contrast], *, temperature: float = TEMPERATURE) -> tuple[float, Floats]:
    """The mean contrastive loss over queries, and its gradient.

    Of a query: the mean over its positives of -log(exp(s+/t) / (exp(s+/t) + the sum of exp(s-/t) over negatives)),
    where s = q W d.

    Parameters
    ----------
    matrix : ndarray, shape (n_dimensions, n_dimensions)
        W.
    queries : sequence of Contrast
        One at least.
    temperature : float
        t.

    Returns
    -------
    float, ndarray of W's shape
    """
    value, gradient = 0.0, np.zeros_like(matrix)
    for query in queries:
        scores = query.documents @ (query.question @ matrix) / temperature
        negatives = scores[~query.positive]
        pull = np.zeros_like(scores)
        weight = 1 / query.positive.sum()
        for place in np.flatnonzero(query.positive):
            beside = np.concatenate([scores[place : place + 1], negatives])
            p = softmax(beside)
            value += weight * (float(np.logaddexp.reduce(beside)) - scores[place])
            pull[place] += weight * (p[0] - 1)
            pull[~query.positive] += weight * p[1:]
        gradient += np.outer(query.question, pull @ query.documents) / temperature
    return value / len(queries), gradient / len(queries)


def fit(queries: Sequence[Contrast], *, penalty: float, temperature: float = TEMPERATURE) -> Floats:
    """The W of least loss, where half the penalty times its squared distance from the identity is added to it.

    Parameters
    ----------
    queries : sequence of Contrast
        One at least.
    penalty : float
        Above 0: the loss is then strictly convex, and there is one W.
    temperature : float

    Returns
    -------
    ndarray, shape (n_dimensions, n_dimensions)

    Raises
    ------
    ValueError
        If there is no query.
    """
    if not queries:
        raise ValueError("an adapter needs at least one query with a positive and a negative document")
    identity = np.eye(len(queries[0].question))

    def penalised(flat: Floats) -> tuple[float, Floats]:
        matrix = flat.reshape(identity.shape)
        value, gradient = contrast(matrix, queries, temperature=temperature)
        apart = matrix - identity
        return value + penalty / 2 * float((apart**2).sum()), (gradient + penalty * apart).ravel()

    found = scipy.optimize.minimize(
        penalised, identity.ravel(), jac=True, method="L-BFGS-B",
        options={"maxiter": 200, "gtol": 1e-6, "ftol": 1e-12},
    )  # fmt: skip
    return np.asarray(found.x).reshape(identity.shape)
