"""The posterior of MACE: labels averaged over all optima by their evidence, and joint draws of them.

The likelihood of MACE has many optima, often equally good, that label the same items differently. A fit is one of
them. Gibbs sampling visits them as often as the model and its priors hold them probable. Given the labels and which
votes were spam, spam probabilities are Beta and strategies Dirichlet distributed; given these, labels and spam follow
as in the E-step. Draws of labels are joint draws: items whose labels stand or fall together do so in each.

Reference: Hovy, Berg-Kirkpatrick, Vaswani, Hovy, Learning Whom to Trust with MACE (2013), section 3; Paun et al.,
Comparing Bayesian Models of Annotation, TACL 6 (2018); Geman and Geman, IEEE PAMI 6 (1984).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from analysis.stats._mace_engine import Votes
from analysis.stats._mace_problem import Given, Problem, Settings, prepare
from analysis.stats.bootstrap import Floats

Singles = NDArray[np.float32]
# Chains run beside each other, in blocks whose largest array stays about this small.
_BLOCK_BYTES = 4 * 2**20
_EDGE = 1e-6  # spam probabilities stay this far from 0 and 1, where logarithms end


@dataclass(frozen=True)
class Effort:
    """How many draws: chains, sweeps of each that are forgotten, draws kept of each, sweeps from one to the next."""

    chains: int = 200
    warm_up: int = 100
    kept: int = 5
    thin: int = 30

    @property
    def draws(self) -> int:
        """How many draws there are of everything."""
        return self.chains * self.kept


@dataclass(frozen=True, eq=False)
class Averaged:
    """What the judgments say, whichever optimum.

    Attributes
    ----------
    posterior : ndarray of shape (n_items, n_labels)
        Probability of each label: the mean of the E-steps of all sweeps that were kept or passed between.
    spam_probability : ndarray of shape (n_annotators,)
        Posterior mean of e0; without judgments, the prior's.
    label : ndarray of int8, shape (n_items, draws)
        Joint draws of the labels. Neighbouring draws are of different chains.
    spam : ndarray of float32, shape (n_annotators, draws)
        e0 in the same draws.
    error : float
        Monte Carlo standard error of a label's probability by the spread of the chains: root mean square of all.
    """

    posterior: Floats
    spam_probability: Floats
    label: NDArray[np.int8]
    spam: NDArray[np.float32]
    error: float


def sample(
    item: ArrayLike,
    annotator: ArrayLike,
    label: ArrayLike,
    *,
    rng: np.random.Generator,
    items: int | None = None,
    annotators: int | None = None,
    labels: int | None = None,
    fixed: ArrayLike | None = None,
    settings: Settings | None = None,
    effort: Effort | None = None,
) -> Averaged:
    """Draw labels and spam probabilities from their posterior.

    Parameters
    ----------
    item, annotator, label, items, annotators, labels, fixed
        As for `analysis.stats.mace.fit`.
    rng : numpy.random.Generator
        Source of chance.
    settings : analysis.stats.mace.Settings, optional
        Whose priors are used: Beta on spamming, Dirichlet on strategies. Smoothing is a matter of fitting.
    effort : Effort, optional

    Returns
    -------
    Averaged

    Raises
    ------
    analysis.stats.mace.UnfitError, analysis.stats.judgments.RepeatedJudgmentError, ValueError
        As `analysis.stats.mace.fit`.
    """
    chosen, asked = settings or Settings(), effort or Effort()
    # The order in which judgments stand must not matter.
    order = np.lexsort((np.asarray(annotator), np.asarray(item)))
    item, annotator, label = (np.asarray(column)[order] for column in (item, annotator, label))
    given = Given(
        item=item, annotator=annotator, label=label, items=items, annotators=annotators, labels=labels, fixed=fixed
    )
    prepared = prepare(given, chosen)
    problem, used = prepared.problem, prepared.used
    units, people, _values = problem.shape
    chains = _Chains(problem, prepared.votes, chosen)
    by_chain = np.zeros((len(used), units, asked.chains))
    spam_sum = np.zeros(people)
    drawn = np.empty((units, asked.kept, asked.chains), dtype=np.int8)
    spam = np.empty((people, asked.kept, asked.chains), dtype=np.float32)
    size = max(1, _BLOCK_BYTES // (8 * max(len(problem.unit), units * len(used), 1)))
    sweeps = asked.kept * asked.thin
    for first in range(0, asked.chains, size):
        block = slice(first, min(first + size, asked.chains))
        run = chains.run(block.stop - block.start, asked.warm_up, sweeps, rng)
        for sweep, (expected, found, state) in enumerate(run):
            by_chain[:, :, block] += expected
            spam_sum += state.spam.sum(axis=1)
            if sweep % asked.thin == asked.thin - 1:
                drawn[:, sweep // asked.thin, block] = used[found]
                spam[:, sweep // asked.thin, block] = state.spam
    by_chain /= sweeps
    posterior = np.zeros((units, prepared.values))
    posterior[:, used] = by_chain.mean(axis=2).T
    error = by_chain.var(axis=2, ddof=1).mean() / asked.chains if asked.chains > 1 else np.nan
    return Averaged(
        posterior=posterior,
        spam_probability=spam_sum / (sweeps * asked.chains),
        label=drawn.reshape(units, -1),
        spam=spam.reshape(people, -1),
        error=float(np.sqrt(error)),
    )


@dataclass(frozen=True)
class _State:
    """Parameters of several chains beside each other (the last axis)."""

    spam: Singles  # (annotators, chains): e0
    strategy: Singles  # (labels, annotators, chains)


class _Chains:
    """Gibbs sampling of several chains beside each other (the last axis)."""

    def __init__(self, problem: Problem, votes: Votes, settings: Settings) -> None:
        self.problem, self.votes, self.settings = problem, votes, settings
        _units, people, labels = problem.shape
        n = len(problem.unit)
        self.cell = problem.value * people + problem.coder
        self.by_item = votes.by_item.astype(np.float32)
        self.value = problem.value.astype(np.int8)[:, None]
        ones = np.ones(n, dtype=np.float32)
        self.cells = sparse.csr_array((ones, (self.cell, np.arange(n))), shape=(labels * people, n))
        self.cast = votes.cell_counts.reshape(labels, people, 1).astype(np.float32)
        self.given = self.cast.sum(axis=0)

    def run(
        self, chains: int, warm_up: int, sweeps: int, rng: np.random.Generator
    ) -> Iterator[tuple[Singles, NDArray[np.int8], _State]]:
        """Yield, sweep by sweep, the probabilities of labels, a draw of them, and parameters drawn given these."""
        state = self.start(chains, rng)
        for sweep in range(warm_up + sweeps):
            expected, knows = self.expect(state)
            label = self.labels(expected, rng)
            state = self.parameters(label, knows, rng)
            if sweep >= warm_up:
                yield expected, label, state

    def start(self, chains: int, rng: np.random.Generator) -> _State:
        """Parameters drawn at random: uniform spam probabilities, strategies from their prior."""
        _units, people, labels = self.problem.shape
        spam = np.clip(rng.random((people, chains), dtype=np.float32), _EDGE, 1.0 - _EDGE)
        strategy = rng.standard_gamma(self.settings.strategy_prior, size=(labels, people, chains), dtype=np.float32)
        strategy /= strategy.sum(axis=0)
        return _State(spam, strategy)

    def expect(self, state: _State) -> tuple[Singles, Singles]:
        """The E-step of `Votes.posterior` in single precision and without the likelihood: twice as fast."""
        units, _people, labels = self.problem.shape
        ratio: Singles = (1.0 - state.spam) / (state.spam * state.strategy)
        evidence: Singles = (self.by_item @ np.log1p(ratio).reshape(-1, ratio.shape[2])).reshape(labels, units, -1)
        self.votes.forbid(evidence)
        evidence -= evidence.max(axis=0)
        np.exp(evidence, out=evidence)
        evidence /= evidence.sum(axis=0)
        knows: Singles = ratio / (1.0 + ratio)
        return evidence, knows

    def labels(self, expected: Singles, rng: np.random.Generator) -> NDArray[np.int8]:
        """Draw each item's label, shape (items, chains)."""
        chance = rng.random(expected.shape[1:], dtype=np.float32)
        label = np.zeros(expected.shape[1:], dtype=np.int8)
        below = np.zeros(expected.shape[1:], dtype=np.float32)
        for each in expected[:-1]:
            below += each
            label += chance > below
        return label

    def parameters(self, label: NDArray[np.int8], knows: Singles, rng: np.random.Generator) -> _State:
        """Draw which votes were knowledge, then everybody's spam probability and strategy."""
        a, b = self.settings.spam_prior
        known = label[self.problem.unit] == self.value
        known &= rng.random(known.shape, dtype=np.float32) < knows.reshape(-1, known.shape[1])[self.cell]
        knew = (self.cells @ known.astype(np.float32)).reshape(knows.shape)
        know = knew.sum(axis=0)
        spam = rng.standard_gamma(a + self.given - know, dtype=np.float32)
        spam /= spam + rng.standard_gamma(b + know, dtype=np.float32)
        spam = np.clip(spam, _EDGE, 1.0 - _EDGE)
        strategy = rng.standard_gamma(self.settings.strategy_prior + self.cast - knew, dtype=np.float32)
        strategy /= strategy.sum(axis=0)
        return _State(spam, strategy)
