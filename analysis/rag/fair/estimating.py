"""Means over sampled rankings of which not all lists were generated, with the error that this brings.

Where all were generated the error is 0 and every number is the paper's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .lists import Chosen

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """A number and the standard error of having generated some lists only.

    Attributes
    ----------
    value : float
        NaN where it is undefined.
    error : float
        0 where all lists were generated; NaN where one list alone stands for several.
    """

    value: float
    error: float


@dataclass(frozen=True)
class Attributed:
    """How evenly exposure falls on documents that outputs follow from (fair_rag, 3.3.4).

    Attributes
    ----------
    disparity : Estimate
        EAE-D, equation 11. What the error adds to a square is taken off.
    normalised : Estimate
        Between s^2 / n and s, where s is the sum of attributed exposure (with `endless`: between 0 and s); NaN where
        nothing was attributed, or there is one document only. Never beyond a bound.
    """

    disparity: Estimate
    normalised: Estimate


def mean(chosen: Chosen, values: ArrayLike) -> Estimate:
    """The mean over all sampled rankings of what is known of the chosen lists (fair_rag, eq. 7 and 9).

    Parameters
    ----------
    chosen : Chosen
    values : array_like, shape (n_chosen,)
        What is measured of each chosen list, in their order.

    Returns
    -------
    Estimate
        By Horvitz and Thompson's estimator, which has no bias.
    """
    given = np.asarray(values, dtype=np.float64)
    return Estimate(float(chosen.weight @ given), float(np.sqrt(_variance(chosen, given[:, None])[0])))


def attributed(chosen: Chosen, follows: ArrayLike, *, endless: bool = False) -> Attributed:
    """Attributed exposure of the documents and its disparity (fair_rag, eq. 10 and 11).

    Parameters
    ----------
    chosen : Chosen
    follows : array_like of bool, shape (n_chosen, n_documents)
        Whether a list holds the document and its output follows from it.
    endless : bool
        Take the number of documents as infinite, as the authors' code does for EE-D.

    Returns
    -------
    Attributed
    """
    given = np.asarray(follows, dtype=np.float64)
    n = given.shape[1]
    exposed = chosen.weight @ given
    total = float(exposed.sum())
    # The square of an estimate is too large by its variance, on average.
    square = float(exposed @ exposed) - _known(_variance(chosen, given).sum())
    total_square = total**2 - _known(_variance(chosen, given.sum(axis=1)[:, None])[0])
    error = _error(chosen, given @ (2 * exposed))
    disparity = Estimate(max(square, 0.0), error)
    low = 0.0 if endless else total_square / n
    span = total - low
    if n < 2 or total <= 0 or span <= 1e-12:
        return Attributed(disparity, Estimate(float("nan"), float("nan")))
    value = (square - low) / span
    # How the normalised value moves with the exposure of each document.
    lower = 0.0 if endless else 2 * total / n
    slope = (2 * exposed - lower) / span - value * (1.0 - lower) / span
    normalised = Estimate(_within(value), _error(chosen, given @ slope))
    return Attributed(disparity, normalised)


def _within(value: float) -> float:
    near = round(value) if abs(value - round(value)) < 1e-12 else value
    return float(min(max(near, 0.0), 1.0))


def _known(variance: float) -> float:
    return 0.0 if np.isnan(variance) else float(variance)


def _error(chosen: Chosen, values: Floats) -> float:
    return float(np.sqrt(_variance(chosen, values[:, None])[0]))


def _variance(chosen: Chosen, values: Floats) -> Floats:
    """Variances of weighted sums of columns; shape (n_columns,).

    Of a sample without replacement and with unequal probabilities (Hajek 1964, as in Matei and Tille 2005, section 4);
    with equal ones it is that of a simple random sample. NaN where a single list was not certain.
    """
    random = chosen.inclusion < 1.0
    size = int(random.sum())
    if size == 0:
        return np.zeros(values.shape[1])
    if size == 1:
        return np.full(values.shape[1], np.nan)
    out = 1.0 - chosen.inclusion[random]
    parts = values[random] * chosen.weight[random][:, None]
    centre = out @ parts / out.sum()
    return np.asarray(size / (size - 1) * (out @ (parts - centre) ** 2))
