"""The uncertainty of an annotator's spam probability (docs/methods/live-figures.md).

A judge answers about a dozen pairs, and their true labels are unknown. The interval of a spam probability must
therefore include the uncertainty of the labels, of the other annotators' competence, and of the spamming strategies. It
is computed from the posterior of MACE's generative model. The distribution of spam probabilities across annotators is
learnt from the same judgments. A Gibbs sampler draws five quantities in turn, each given all others. These are true
labels, spam indicators of judgments, spam probabilities, strategies, and the population distributions of the last two.

References: Hovy, Berg-Kirkpatrick, Vaswani, Hovy, Learning Whom to Trust with MACE (2013), for the generative model;
Paun et al., Comparing Bayesian models of annotation (2018), TACL 6, 571-585, for the fully Bayesian treatment; Geman
and Geman (1984) for the sampler.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from analysis.stats.bootstrap import Floats
from analysis.stats.judgments import check
from analysis.stats.mace import Mace

Ints = NDArray[np.int64]

#: Sweeps of the sampler that are discarded, and sweeps that are kept.
WARM_UP, KEPT = 150, 500
# Spam probabilities drawn in each kept sweep: extra draws from the same Beta distributions cost little.
_EACH = 4
# Candidate population distributions of spam probabilities: Beta distributions by mean and concentration.
_MEANS = np.linspace(0.025, 0.975, 39)
_CONCENTRATIONS = np.geomspace(0.5, 200, 16)
# The prior favours concentrations around 2, because published crowds are mixed. If the judgments carry little
# information, they cannot distinguish a mixed crowd from a crowd of equals. In a crowd of equals, every annotator would
# seem well known.
_EXPECTED = -0.5 * np.square(np.log(_CONCENTRATIONS / 2.0) / 0.5)
_A, _B = (_MEANS[:, None] * _CONCENTRATIONS).ravel(), ((1 - _MEANS)[:, None] * _CONCENTRATIONS).ravel()
_LOG_BETA, _PRIOR = scipy.special.betaln(_A, _B), np.tile(_EXPECTED, len(_MEANS))
# Candidate similarity of strategies: concentrations of Dirichlet distributions around the common strategy.
_ALIKE = np.geomspace(0.5, 100, 12)
_LOG_GAMMA = scipy.special.gammaln(_ALIKE)
# Keeps probabilities away from 0 and 1, where the logarithm is infinite.
_LEAST = 1e-12


@dataclass(frozen=True, eq=False)
class SpamPosterior:
    """The posterior of each annotator's spam probability.

    Attributes
    ----------
    mean : ndarray of shape (n_annotators,)
        The posterior mean.
    low, high : ndarray of shape (n_annotators,)
        The ends of the equal-tailed credible interval.
    level : float
        The probability of the interval.
    """

    mean: Floats
    low: Floats
    high: Floats
    level: float


def spam_posterior(
    model: Mace,
    item: ArrayLike,
    annotator: ArrayLike,
    label: ArrayLike,
    *,
    rng: np.random.Generator,
    fixed: ArrayLike | None = None,
    level: float = 0.95,
    warm_up: int = WARM_UP,
    draws_kept: int = KEPT,
) -> SpamPosterior:
    """Sample the posterior of spam probabilities, including the uncertainty of labels, strategies and competences.

    Parameters
    ----------
    model : Mace
        From `analysis.stats.mace.fit`: the number of items, annotators and labels, and the labels in use.
    item, annotator, label : array_like of int, shape (n_judgments,)
        The judgments on which the model was fitted. Negative labels are missing and are ignored.
    rng : numpy.random.Generator
        Source of all random draws.
    fixed : array_like of int, shape (n_items,), optional
        Known labels; negative if unknown.
    level : float
        The probability of the interval, 0.95 by default.
    warm_up, draws_kept : int
        Sweeps of the sampler that are discarded, and sweeps that are kept.

    Returns
    -------
    SpamPosterior
        Annotators without judgments get the distribution learnt from the other annotators.

    Raises
    ------
    ValueError
        If `level` is not between 0 and 1, no sweep is kept, or the judgments do not match the model's items, annotators
        or labels.
    """
    if not 0.0 < level < 1.0:
        msg = f"the level of an interval lies between 0 and 1, it is {level}"
        raise ValueError(msg)
    if draws_kept < 1 or warm_up < 0:
        msg = f"at least one sweep must be kept, not {draws_kept}"
        raise ValueError(msg)
    items, labels = model.posterior.shape
    annotators = len(model.parameters.spam)
    judged = check(item, annotator, label, units=items, coders=annotators, values=labels)
    used = np.flatnonzero(model.parameters.strategy.any(axis=0))
    position = np.full(labels + 1, -1)
    position[used] = np.arange(len(used))
    fixed_labels = np.full(items, -1) if fixed is None else np.asarray(fixed, dtype=np.int64)
    chain = _Chain(judged.unit, judged.coder, position[judged.value], position[fixed_labels], (annotators, len(used)))
    draws = np.empty((draws_kept * _EACH, annotators))
    for sweep in range(warm_up + draws_kept):
        a, b = chain.sweep(rng)
        if sweep >= warm_up:
            begin = (sweep - warm_up) * _EACH
            draws[begin : begin + _EACH] = rng.beta(a, b, (_EACH, annotators))
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(draws, [tail, 1.0 - tail], axis=0)
    return SpamPosterior(draws.mean(axis=0), low, high, level)


class _Chain:
    """State of the sampler: spam probabilities, strategies, and the population distributions of both."""

    def __init__(self, item: Ints, coder: Ints, label: Ints, fixed_labels: Ints, shape: tuple[int, int]) -> None:
        self.item, self.coder, self.label, self.fixed_labels = item, coder, label, fixed_labels
        people, labels = shape
        self.judgments = np.bincount(coder, minlength=people).astype(np.float64)
        self.judged = self.judgments > 0
        self.cell = item * labels + label
        # Start from the middle, not from a fit: a fit at a poor optimum would keep the chain near it for a long time.
        self.strategy: Floats = np.full(shape, 1.0 / labels)
        self.spam: Floats = np.full(people, 0.5)
        self.prior = (0.5, 0.5)
        self.common: Floats = np.full(labels, 1.0 / labels)
        self.alike = 10.0

    def sweep(self, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw every quantity once; return the parameters of each annotator's Beta distribution of spam probability."""
        people, labels = self.strategy.shape
        spammed = self.spam[self.coder] * self.strategy[self.coder, self.label]
        honest = 1.0 - self.spam[self.coder]
        evidence = np.bincount(
            self.cell, weights=np.log1p(honest / spammed), minlength=len(self.fixed_labels) * labels
        ).reshape(-1, labels)
        # The argmax of evidence plus Gumbel noise is a draw from the posterior.
        truth = np.argmax(evidence + rng.gumbel(size=evidence.shape), axis=1)
        truth = np.where(self.fixed_labels >= 0, self.fixed_labels, truth)
        hit = truth[self.item] == self.label
        is_spam = ~hit | (rng.random(len(hit)) * (spammed + honest) < spammed)
        counts = (
            np.bincount(self.coder[is_spam] * labels + self.label[is_spam], minlength=people * labels)
            .reshape(people, labels)
            .astype(np.float64)
        )
        number = counts.sum(axis=1)
        a, b = self.prior[0] + number, self.prior[1] + self.judgments - number
        self.spam = np.clip(rng.beta(a, b), _LEAST, 1.0 - _LEAST)
        shares = rng.standard_gamma(self.alike * self.common + counts) + _LEAST
        self.strategy = shares / shares.sum(axis=1, keepdims=True)
        self._learn_people(counts.sum(axis=0), rng)
        return a, b

    def _learn_people(self, counts: Floats, rng: np.random.Generator) -> None:
        """Draw the population distributions of spam probabilities and strategies from annotators with judgments."""
        spam, strategy = self.spam[self.judged], self.strategy[self.judged]
        density = (_A - 1) * np.log(spam).sum() + (_B - 1) * np.log1p(-spam).sum() - len(spam) * _LOG_BETA
        density += _PRIOR
        best = int(np.argmax(density + rng.gumbel(size=len(_A))))
        self.prior = (float(_A[best]), float(_B[best]))
        # The common strategy approximates the label distribution of all spammed judgments.
        self.common = rng.dirichlet(counts / max(1.0, counts.sum() / (10 * len(strategy))) + 1.0)
        around = _ALIKE[:, None] * self.common
        density = ((around - 1) * np.log(strategy).sum(axis=0)).sum(axis=1)
        density += len(strategy) * (_LOG_GAMMA - scipy.special.gammaln(around).sum(axis=1))
        self.alike = float(_ALIKE[int(np.argmax(density + rng.gumbel(size=len(_ALIKE))))])
