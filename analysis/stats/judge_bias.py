"""Biases of a judge compared with people: longer responses, own responses, a style, the side.

A judge that chooses longer responses more often than people do may be biased, or may only be more reliable: if longer
responses are better, noisier judges choose them less often. The judge's signed choice is therefore regressed on what
people choose on average and on the attribute:

    E[judge] = a * people + b * attribute + c

where a allows for a judge that is more or less reliable than people, b is the bias, and c a preference for the first
side. What people choose on average is known from a few votes with error, which would attenuate a and put a part of the
quality into b. The moments are corrected for it with the products of different votes on the same pair.

References: Fuller, Measurement Error Models (1987), section 2.2: moments corrected for the error variance; Cameron and
Miller, A practitioner's guide to cluster-robust inference (2015), Journal of Human Resources 50, 317-372.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from analysis.stats.bootstrap import Floats

#: Clusters needed for a test: three coefficients are estimated.
FEWEST_CLUSTERS = 5
_LEVEL = 0.95


class BiasUndefinedError(ValueError):
    """There is no test; the message says why."""


@dataclass(frozen=True)
class Bias:
    """A judge's preference for an attribute beyond that of people.

    Attributes
    ----------
    estimate, low, high : float
        How much more of the choices the judge gives to the response with the attribute than people would, as a share
        (a neutral judgment is half a choice), and its interval over clusters.
    p : float
        Two-sided p-value of no bias.
    reliability : float
        The coefficient a: 1 if the judge follows people's preferences as strongly as a person does.
    pairs : int
        Number of pairs of which exactly one response has the attribute.
    clusters : int
        Number of clusters with pairs.
    """

    estimate: float
    low: float
    high: float
    p: float
    reliability: float
    pairs: int
    clusters: int


def bias(judge: ArrayLike, votes: ArrayLike, attribute: ArrayLike, cluster: ArrayLike) -> Bias:
    """Test whether a judge prefers responses with an attribute more than people do.

    Parameters
    ----------
    judge : array_like of float, shape (n_pairs,)
        The judge's choice: 1 the response shown first, -1 the other, 0 neutral. NaN pairs are left out.
    votes : array_like of float, shape (n_pairs, n_votes)
        People's choices in the same coding; NaN if missing. Pairs with fewer than two votes are left out.
    attribute : array_like of int, shape (n_pairs,)
        1 if only the response shown first has the attribute (is the longer one, is the judge's own), -1 if only the
        other one has it, 0 if both or neither have it.
    cluster : array_like of int, shape (n_pairs,)
        Cluster of each pair, such as its topic.

    Returns
    -------
    Bias

    Raises
    ------
    BiasUndefinedError
        If there are too few clusters, no pair with the attribute on one side only, or no agreement between people to
        correct for.
    ValueError
        If the shapes differ.
    """
    y, all_votes = np.asarray(judge, dtype=np.float64), np.asarray(votes, dtype=np.float64)
    x, clusters = np.asarray(attribute, dtype=np.float64), np.asarray(cluster, dtype=np.int64)
    if all_votes.ndim != 2 or not y.shape == x.shape == clusters.shape == all_votes.shape[:1]:
        msg = f"each pair needs a choice, votes, an attribute and a cluster: {y.shape}, {all_votes.shape}, {x.shape}"
        raise ValueError(msg)
    number = np.sum(~np.isnan(all_votes), axis=1)
    kept = ~np.isnan(y) & (number > 1)
    y, x, number, all_votes = y[kept], x[kept], number[kept], all_votes[kept]
    names, index = np.unique(clusters[kept], return_inverse=True)
    if not np.any(x):
        msg = "no pair with judgments by the judge and two people differs in this respect"
        raise BiasUndefinedError(msg)
    if names.size < FEWEST_CLUSTERS:
        msg = f"a test needs at least {FEWEST_CLUSTERS} topics with pairs that the judge and two people judged"
        raise BiasUndefinedError(msg)
    total, squares = np.nansum(all_votes, axis=1), np.nansum(np.square(all_votes), axis=1)
    people = total / number
    # The mean product of two different votes: an estimate of the squared expected choice without their errors.
    product = (np.square(total) - squares) / (number * (number - 1.0))
    design = np.column_stack([people, x, np.ones_like(x)])
    moments = design.T @ design
    moments[0, 0] = product.sum()
    if not _is_positive(moments):
        msg = "people do not agree enough on these pairs to tell a bias from their errors"
        raise BiasUndefinedError(msg)
    inverse = np.linalg.inv(moments)
    coefficients = inverse @ (design.T @ y)
    scores = design * (y - design @ coefficients)[:, None]
    scores[:, 0] += coefficients[0] * (np.square(people) - product)
    influence = scores @ inverse[:, 1]
    sums = np.bincount(index, weights=influence)
    freedom = names.size - 1
    spread = float(np.sqrt(np.square(sums).sum() * names.size / freedom))
    estimate = float(coefficients[1])
    if not spread > 0:
        msg = "the judgments do not vary enough for a test"
        raise BiasUndefinedError(msg)
    reach = spread * float(scipy.special.stdtrit(freedom, 0.5 + _LEVEL / 2))
    return Bias(
        estimate=estimate / 2,
        low=(estimate - reach) / 2,
        high=(estimate + reach) / 2,
        p=float(2 * scipy.special.stdtr(freedom, -abs(estimate) / spread)),
        reliability=float(coefficients[0]),
        pairs=int(np.count_nonzero(x)),
        clusters=int(names.size),
    )


def _is_positive(moments: NDArray[np.float64]) -> bool:
    """Return whether the corrected moments are a proper second-moment matrix, well away from a singular one."""
    scale = np.sqrt(np.diag(moments), where=np.diag(moments) > 0, out=np.zeros(len(moments)))
    if not scale.all():
        return False
    values: Floats = np.linalg.eigvalsh(moments / np.outer(scale, scale))
    return bool(values[0] > 0.01)
