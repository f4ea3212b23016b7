"""Which of several classes a vector is of: multinomial logistic regression with a ridge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import log_softmax, softmax

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class NotConvergedError(ArithmeticError):
    """The coefficients did not settle."""


@dataclass(frozen=True, eq=False)
class Classifier:
    """A linear classifier.

    Attributes
    ----------
    coefficients : ndarray, shape (n_dimensions, n_classes)
    intercepts : ndarray, shape (n_classes,)
        -inf for a class that no training vector is of: it is never said.
    """

    coefficients: Floats
    intercepts: Floats

    def probabilities(self, vectors: Floats) -> Floats:
        """Of each class for each vector; shape (n, n_classes), rows sum to 1."""
        return np.asarray(softmax(vectors @ self.coefficients + self.intercepts, axis=1))

    def classes(self, vectors: Floats) -> Ints:
        """The most probable class of each vector; of equally probable ones the first. Shape (n,)."""
        return np.asarray(self.probabilities(vectors).argmax(axis=1), dtype=np.int64)


def fit(vectors: Floats, labels: Ints, classes: int, *, penalty: float = 1.0) -> Classifier:
    """Train a classifier: the sum of log losses plus half the penalty times the squared coefficients is least.

    Parameters
    ----------
    vectors : ndarray, shape (n, n_dimensions)
    labels : ndarray of int, shape (n,)
        From 0 to `classes` - 1. If all are equal, this is what the classifier always says.
    classes : int
    penalty : float
        Above 0, so that there is one solution (up to a constant in the intercepts, which are not penalised).

    Returns
    -------
    Classifier

    Raises
    ------
    ValueError
        If there is nothing to learn from.
    NotConvergedError
        If the optimiser gave up.
    """
    if not len(labels):
        raise ValueError("a classifier needs at least one vector with its class")
    present = np.unique(labels)
    place = np.searchsorted(present, labels)
    width, n = vectors.shape[1], len(present)
    found = scipy.optimize.minimize(
        loss, np.zeros((width + 1) * n), args=(vectors, place, n, penalty), jac=True, method="L-BFGS-B",
        options={"maxiter": 2000, "gtol": 1e-7, "ftol": 1e-14},
    )  # fmt: skip
    if not np.isfinite(found.fun) or np.abs(found.jac).max() > 1e-2:
        raise NotConvergedError(f"the classifier did not settle: {found.message}. Raise the penalty.")
    learnt = found.x.reshape(width + 1, n)
    coefficients, intercepts = np.zeros((width, classes)), np.full(classes, -np.inf)
    coefficients[:, present], intercepts[present] = learnt[:-1], learnt[-1]
    return Classifier(coefficients, intercepts)


def loss(parameters: Floats, vectors: Floats, labels: Ints, classes: int, penalty: float) -> tuple[float, Floats]:
    """The penalised loss and its gradient.

    Parameters
    ----------
    parameters : ndarray, shape ((n_dimensions + 1) * n_classes,)
        The coefficients row by row, the intercepts last.
    vectors, labels, classes, penalty
        As for `fit`.

    Returns
    -------
    float, ndarray of the shape of `parameters`
    """
    learnt = parameters.reshape(-1, classes)
    coefficients, intercepts = learnt[:-1], learnt[-1]
    log_p = np.asarray(log_softmax(vectors @ coefficients + intercepts, axis=1))
    error = np.exp(log_p)
    error[np.arange(len(labels)), labels] -= 1
    value = -log_p[np.arange(len(labels)), labels].sum() + penalty / 2 * (coefficients**2).sum()
    gradient = np.vstack([vectors.T @ error + penalty * coefficients, error.sum(axis=0)])
    return float(value), gradient.ravel()
