"""How votes follow from leads on a leaderboard: leads give labels, and judges give labels or spam.

Two models follow one another (docs/methods/placement.md):

1. *Leads to labels.* The leaderboard counts a tie as one win of each, with a threshold close to 0. Its merits therefore
   have P(better or tie) / P(worse or tie) = e^lead. Labels follow Rao and Kupper's model with this property, and with a
   threshold t that gives the observed share of ties.
2. *Labels to votes.* A judge gives the label, or spams with probability e and a strategy (MACE). A judge who is not
   known is a random one of the study's judges.

References
----------
Rao and Kupper, Ties in paired-comparison experiments, JASA 62 (1967). Hovy et al., Learning Whom to Trust with MACE,
NAACL-HLT (2013).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from analysis.stats.bootstrap import Floats

Ints = NDArray[np.int64]

A, N, B = range(3)
_TABLE = np.linspace(-30.0, 30.0, 1201)
_LEAST_THRESHOLD: Final = 1e-3
#: Standard deviation of the prior of the factor's logarithm, and its bounds.
_FACTOR_SPREAD: Final = 0.5
_MOST_FACTOR: Final = 4.0


@dataclass(frozen=True)
class Scale:
    """How leads of leaderboard merits become labels.

    Attributes
    ----------
    threshold : float
        t of Rao and Kupper's model, above 0: the more, the more ties.
    factor : float
        By how much leads of true labels are larger than those of the leaderboard. Its labels are inferred from noisy
        votes, each pair by itself, which draws its merits together; a factor above 1 undoes this.
    """

    threshold: float
    factor: float = 1.0


@dataclass(frozen=True, eq=False)
class Crowd:
    """What is known about judges before they have judged the new system: a mixture of kinds of judges.

    Attributes
    ----------
    spam : ndarray of shape (n_kinds,)
        Probability that a judge of a kind spams a pair.
    strategy : ndarray of shape (n_kinds, 3)
        Their label probabilities of a, n and b when spamming, as presented.
    weight : ndarray of shape (n_kinds,)
        Shares of the kinds; they add up to 1.
    """

    spam: Floats
    strategy: Floats
    weight: Floats

    @classmethod
    def of_judges(
        cls, spam: ArrayLike, strategy: ArrayLike, *, judgments: ArrayLike | None = None, levels: int = 6
    ) -> Crowd:
        """Summarise the judges of a study as kinds: by their spam probability, and by the label that they spam most.

        Parameters
        ----------
        spam : array_like, shape (n_judges,)
            As estimated by MACE.
        strategy : array_like, shape (n_judges, 3)
        judgments : array_like, shape (n_judges,), optional
            The weight of each judge. Default: equal.
        levels : int
            The number of levels of spam probability, of equal weight; each has up to three kinds.

        Raises
        ------
        ValueError
            If there is no judge with a weight.
        """
        e, s = np.asarray(spam, dtype=np.float64), np.asarray(strategy, dtype=np.float64)
        w = np.ones(e.shape) if judgments is None else np.asarray(judgments, dtype=np.float64)
        used = (w > 0) & np.isfinite(e)
        if not used.any():
            raise ValueError("there is no judge whose spam probability is known")
        order = np.flatnonzero(used)[np.argsort(e[used], kind="stable")]
        share = np.cumsum(w[order]) - w[order] / 2
        level = np.minimum((share / w[order].sum() * levels).astype(np.int64), levels - 1)
        _names, kind = np.unique((B + 1) * level + s[order].argmax(axis=1), return_inverse=True)
        total = np.bincount(kind, weights=w[order])
        means = [np.bincount(kind, weights=w[order] * column) / total for column in (e[order], *s[order].T)]
        spammed = np.maximum(np.stack(means[1:], axis=1), 1e-6)
        return cls(np.clip(means[0], 1e-4, 1 - 1e-4), spammed / spammed.sum(axis=1, keepdims=True), total / total.sum())

    def chances(self, label: Ints) -> tuple[Floats, Floats]:
        """Return for each kind and vote the probability to vote so without reading, and that of reading.

        Parameters
        ----------
        label : ndarray of int, shape (n_votes,)

        Returns
        -------
        spammed : ndarray of shape (n_kinds, n_votes)
        reads : ndarray of shape (n_kinds,)
        """
        return self.spam[:, None] * self.strategy[:, label], 1.0 - self.spam


def calibrate(lead: ArrayLike, counts: ArrayLike, crowd: Crowd) -> Scale:
    """Estimate the threshold of ties and the factor of leads from votes on pairs of anchors, by maximum likelihood.

    Parameters
    ----------
    lead : array_like, shape (n,)
        Leaderboard merit of the left response's system minus that of the right one's.
    counts : array_like, shape (n, 3)
        Numbers of votes for a, n and b, as presented.
    crowd : Crowd

    Returns
    -------
    Scale
        A factor between 1/4 and 4; without votes, a factor of 1 and a threshold close to 0.

    Raises
    ------
    ValueError
        If the counts do not have three columns, one row for each lead.
    """
    d, votes = np.asarray(lead, dtype=np.float64), np.asarray(counts, dtype=np.float64)
    if votes.shape != (d.size, B + 1):
        raise ValueError(f"counts must have a row of three numbers for each of {d.size} leads: {votes.shape}")
    if not votes.sum():
        return Scale(_LEAST_THRESHOLD, 1.0)
    reads, spam = float(crowd.weight @ (1.0 - crowd.spam)), (crowd.weight * crowd.spam) @ crowd.strategy
    has_ties = bool(votes[:, N].sum())

    def loss(parameters: Floats) -> float:
        scale = _scale_of(parameters, has_ties=has_ties)
        chances = reads * label_chances(d, scale) + spam
        # A weak prior keeps the factor near 1 where leads hardly differ.
        prior = (parameters[0] / _FACTOR_SPREAD) ** 2 / 2
        return float(prior - (votes * np.log(np.maximum(chances, 1e-12))).sum())

    start = np.array([0.0, -1.0])[: 1 + has_ties]
    optimum = scipy.optimize.minimize(loss, start, method="Nelder-Mead", options={"xatol": 1e-3, "fatol": 1e-3})
    return _scale_of(optimum.x, has_ties=has_ties)


def _scale_of(parameters: Floats, *, has_ties: bool) -> Scale:
    factor = float(np.exp(np.clip(parameters[0], -np.log(_MOST_FACTOR), np.log(_MOST_FACTOR))))
    threshold = float(np.exp(np.clip(parameters[1], np.log(_LEAST_THRESHOLD), np.log(6.0)))) if has_ties else 0.0
    return Scale(max(threshold, _LEAST_THRESHOLD), factor)


def label_chances(lead: ArrayLike, scale: Scale) -> Floats:
    """Return the probabilities of the labels of a leaderboard lead of the left response.

    Parameters
    ----------
    lead : array_like of any shape
        Difference of leaderboard merits, left minus right.
    scale : Scale

    Returns
    -------
    ndarray of shape (..., 3)
        P(a), P(n), P(b), with (P(a) + P(n)) / (P(b) + P(n)) = e^(factor x lead).

    Examples
    --------
    >>> a, n, b = label_chances(1.0, Scale(0.5))
    >>> round(float((a + n) / (b + n)), 6), round(float(a + n + b), 6)
    (2.718282, 1.0)
    """
    d, threshold = scale.factor * np.asarray(lead, dtype=np.float64), scale.threshold
    # The leaderboard's lead of each latent lead, inverted by interpolation and Newton's method.
    latent = np.interp(d, _board_lead(_TABLE, threshold), _TABLE)
    for _step in range(2):
        slope = scipy.special.expit(-latent - threshold) + scipy.special.expit(latent - threshold)
        latent = latent - (_board_lead(latent, threshold) - d) / slope
    better, worse = scipy.special.expit(latent - threshold), scipy.special.expit(-latent - threshold)
    return np.stack([better, np.expm1(2.0 * threshold) * better * worse, worse], axis=-1)


def _board_lead(latent: Floats, threshold: float) -> Floats:
    """Return log P(better or tie) - log P(worse or tie) at a latent lead."""
    return np.asarray(scipy.special.log_expit(latent + threshold) - scipy.special.log_expit(threshold - latent))


def vote_information(lead: ArrayLike, crowd: Crowd, scale: Scale) -> Floats:
    """Return the expected Fisher information of one vote of a random judge about a lead, same shape as `lead`."""
    d = np.asarray(lead, dtype=np.float64)
    step = 1e-4
    upper, lower = (_vote_chances(d + each, crowd, scale) for each in (step, -step))
    slope = (upper - lower) / (2 * step)
    return np.asarray((slope**2 / ((upper + lower) / 2)).sum(axis=-1))


def _vote_chances(lead: Floats, crowd: Crowd, scale: Scale) -> Floats:
    reads = float(crowd.weight @ (1.0 - crowd.spam))
    return np.asarray(reads * label_chances(lead, scale) + (crowd.weight * crowd.spam) @ crowd.strategy)
