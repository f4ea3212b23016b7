"""How sure one can be of somebody's spam probability (docs/methods/live-figures.md).

A judge answers a dozen pairs, of which nobody knows the true labels. So the interval of a spam probability must hold
what is not known of the labels, of what everybody else's judgments are worth, and of what spammers answer. It is the
posterior of MACE's generative story, with the distribution of spam probabilities between people learnt from the same
judgments, by Gibbs sampling: true labels, which judgments were spammed, spam probabilities, strategies, and how both
differ between people are drawn in turn, each given all others.

References: Hovy, Berg-Kirkpatrick, Vaswani, Hovy, Learning Whom to Trust with MACE (2013), for the story; Paun et
al., Comparing Bayesian models of annotation (2018), TACL 6, 571-585, for its fully Bayesian treatment; Geman and
Geman (1984) for the sampler.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln, gammaln

from analysis.stats.bootstrap import Floats
from analysis.stats.judgments import check
from analysis.stats.mace import Mace

Ints = NDArray[np.int64]

#: Sweeps of the sampler that are thrown away, and that are kept.
WARM_UP, KEPT = 150, 500
# Spam probabilities drawn in each kept sweep: they differ by chance alone, and cost little.
_EACH = 4
# What spam probabilities may be distributed as between people: Beta distributions by their mean and concentration,
_MEANS = np.linspace(0.025, 0.975, 39)
_CONCENTRATIONS = np.geomspace(0.5, 200, 16)
# of which those with concentrations about 2 are expected beforehand: published crowds hold people of every kind. Where
# judgments say little, they could not tell such a crowd from one of equals, of whom each would seem well known.
_EXPECTED = -0.5 * np.square(np.log(_CONCENTRATIONS / 2.0) / 0.5)
# and how alike people's strategies are: Dirichlet distributions around the common one, by their concentration.
_ALIKE = np.geomspace(0.5, 100, 12)
# Probabilities are kept so far from 0 and 1, where logarithms end.
_LEAST = 1e-12


@dataclass(frozen=True, eq=False)
class SpamPosterior:
    """The posterior of each annotator's spam probability.

    Attributes
    ----------
    mean : ndarray of shape (n_annotators,)
        The posterior mean.
    low, high : ndarray of shape (n_annotators,)
        The ends of the interval of equal tails.
    level : float
        The probability within.
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
    """The posterior of spam probabilities, with labels, strategies and everybody's competence as uncertain as they are.

    Parameters
    ----------
    model : Mace
        From `analysis.stats.mace.fit`: how many items, annotators and labels there are, and which labels are in use.
    item, annotator, label : array_like of int, shape (n_judgments,)
        The judgments to which it was fitted. A negative label is missing and left out.
    rng : numpy.random.Generator
        Source of all draws.
    fixed : array_like of int, shape (n_items,), optional
        Labels known beforehand; negative where not known.
    level : float
        The probability within the interval, 0.95 by default.
    warm_up, kept : int
        Sweeps of the sampler that are thrown away, and that are kept.

    Returns
    -------
    Spamming
        Annotators without judgments have what the others say of people.

    Raises
    ------
    ValueError
        If `level` is not between 0 and 1, no sweep is kept, or the judgments are of other items, annotators or labels
        than the model's.
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
    """What the sampler holds: spam probabilities, strategies, and how both differ between people."""

    def __init__(self, item: Ints, coder: Ints, label: Ints, fixed_labels: Ints, shape: tuple[int, int]) -> None:
        self.item, self.coder, self.label, self.fixed_labels = item, coder, label, fixed_labels
        people, labels = shape
        self.judgments = np.bincount(coder, minlength=people).astype(np.float64)
        self.judged = self.judgments > 0
        self.cell = item * labels + label
        # From the middle, not from a fit: one that found a poor optimum would hold the chain near it for long.
        self.strategy: Floats = np.full(shape, 1.0 / labels)
        self.spam: Floats = np.full(people, 0.5)
        self.prior = (0.5, 0.5)
        self.common: Floats = np.full(labels, 1.0 / labels)
        self.alike = 10.0

    def sweep(self, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw everything once; the Beta distribution of each person's spam probability, given all else."""
        people, labels = self.strategy.shape
        spammed = self.spam[self.coder] * self.strategy[self.coder, self.label]
        honest = 1.0 - self.spam[self.coder]
        evidence = np.bincount(
            self.cell, weights=np.log1p(honest / spammed), minlength=len(self.fixed_labels) * labels
        ).reshape(-1, labels)
        # The largest of evidence plus Gumbel noise is a draw from the posterior.
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
        """Draw how spam probabilities and strategies differ between those who judged."""
        spam, strategy = self.spam[self.judged], self.strategy[self.judged]
        a = (_MEANS[:, None] * _CONCENTRATIONS).ravel()
        b = ((1 - _MEANS)[:, None] * _CONCENTRATIONS).ravel()
        density = (a - 1) * np.log(spam).sum() + (b - 1) * np.log1p(-spam).sum() - len(spam) * betaln(a, b)
        density += np.tile(_EXPECTED, len(_MEANS))
        best = int(np.argmax(density + rng.gumbel(size=len(a))))
        self.prior = (float(a[best]), float(b[best]))
        # The common strategy is about what all spammed judgments say.
        self.common = rng.dirichlet(counts / max(1.0, counts.sum() / (10 * len(strategy))) + 1.0)
        around = _ALIKE[:, None] * self.common
        density = ((around - 1) * np.log(strategy).sum(axis=0)).sum(axis=1)
        density += len(strategy) * (gammaln(_ALIKE) - gammaln(around).sum(axis=1))
        self.alike = float(_ALIKE[int(np.argmax(density + rng.gumbel(size=len(_ALIKE))))])
