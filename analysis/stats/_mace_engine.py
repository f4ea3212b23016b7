"""The variational EM of MACE for many restarts at once; `analysis.stats.mace` is its front.

Why it is fast. The likelihood of an item's votes, given its true label l, is the product over its votes of
``e0 s`` (spammed), plus ``e1`` for the votes that say l. Divided by the product of all ``e0 s``, only the votes that
say l remain, each with the factor ``1 + e1 / (e0 s)``, which depends on nothing but (annotator, label). So both
halves of the E-step are one product with a sparse 0/1 matrix of the votes:

    log evidence of (item, label)         =  V   @  log(1 + e1 / (e0 s)) of (annotator, label)
    true votes of (annotator, label)      =  V.T @  posterior of (item, label)

and logarithms and exponentials are taken once per (annotator, label) and (item, label), not once per vote and label.
Arrays are label-major, (labels, items or annotators, restarts), so that reductions over labels run along memory.
Likelihoods are those of the parts of the judgments that have nothing to do with each other (`_mace_parts`): each part
settles when its own likelihood does, whatever the others do beside it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import digamma

from analysis.stats._mace_parts import Parts, whole
from analysis.stats.bootstrap import Floats

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Priors:
    """What is added to the expected counts in the M-step."""

    spam: float
    know: float
    strategy: float
    smoothing: float


@dataclass
class State:
    """Parameters of several restarts beside each other (the last axis)."""

    spam: Floats  # (annotators, restarts): e0
    know: Floats  # (annotators, restarts): e1
    strategy: Floats  # (labels, annotators, restarts)

    def take(self, restarts: NDArray[np.bool_] | Ints) -> State:
        """The parameters of some of the restarts."""
        return State(self.spam[:, restarts], self.know[:, restarts], self.strategy[:, :, restarts])

    def put(self, restarts: Ints, other: State, which: NDArray[np.bool_] | None = None) -> None:
        """Overwrite the parameters of some restarts; of `which` annotators (annotators, restarts) only, if told."""
        told = True if which is None else which
        self.spam[:, restarts] = np.where(told, other.spam, self.spam[:, restarts])
        self.know[:, restarts] = np.where(told, other.know, self.know[:, restarts])
        self.strategy[:, :, restarts] = np.where(told, other.strategy, self.strategy[:, :, restarts])


class Settled:
    """Convergence as an object: has the likelihood of each restart (the last axis) stopped moving, or each part's?"""

    def __init__(self, tolerance: float, shape: int | tuple[int, int]) -> None:
        self.tolerance = tolerance
        self._last = np.full(shape, -np.inf)

    def __call__(self, likelihoods: Floats) -> NDArray[np.bool_]:
        """Whether each likelihood moved by less than the tolerance since the last call."""
        moved = np.abs(likelihoods - self._last)
        self._last = likelihoods
        return np.asarray(moved < self.tolerance)

    def keep(self, restarts: NDArray[np.bool_]) -> None:
        """Watch only some of the restarts from now on."""
        self._last = self._last[..., restarts]


class Votes:
    """The judgments in the form in which EM needs them."""

    def __init__(
        self,
        item: Ints,
        annotator: Ints,
        label: Ints,
        *,
        shape: tuple[int, int, int],
        fixed: Ints,
        parts: Parts | None = None,
    ) -> None:
        self.items, self.annotators, self.labels = shape
        self.parts = parts if parts is not None else whole(self.items, self.annotators)
        row = label * self.items + item
        column = label * self.annotators + annotator
        ones = np.ones(len(item))
        size = (self.labels * self.items, self.labels * self.annotators)
        self.by_item = sparse.coo_array((ones, (row, column)), shape=size).tocsr()
        self.by_annotator = self.by_item.T.tocsr()
        self.cell_counts: Floats = np.bincount(column, minlength=size[1]).astype(np.float64)
        # Known items: every label but the known one is impossible. fixed is -1 where nothing is known.
        known = np.flatnonzero(fixed >= 0)
        impossible = np.ones((self.labels, len(known)), dtype=bool)
        impossible[fixed[known], np.arange(len(known))] = False
        label_index, position = np.nonzero(impossible)
        self._impossible = (label_index, known[position])
        self._log_labels = float(np.log(self.labels))

    def posterior(self, state: State) -> tuple[Floats, Floats, Floats]:
        """The E-step: what the votes say under the parameters.

        Returns
        -------
        posterior : ndarray of shape (labels, items, restarts)
        log_likelihood : ndarray of shape (parts, restarts)
            Of each part's votes (and known labels) under the parameters, with a uniform prior over labels.
        knows : ndarray of shape (labels, annotators, restarts)
            The probability that a vote was knowledge and not spam, given that it is true.
        """
        restarts = state.spam.shape[1]
        spammed = state.spam * state.strategy
        true = spammed + state.know
        log_spammed = np.log(spammed).reshape(-1, restarts)
        gain = np.log(true).reshape(-1, restarts)
        gain -= log_spammed
        evidence = (self.by_item @ gain).reshape(self.labels, self.items, restarts)
        self.forbid(evidence)
        top = np.maximum.reduce(evidence, axis=0)
        evidence -= top
        np.exp(evidence, out=evidence)
        total = np.add.reduce(evidence, axis=0)
        evidence /= total
        np.log(total, out=total)
        total += top - self._log_labels
        log_spammed *= self.cell_counts[:, None]
        of_annotators = np.add.reduce(log_spammed.reshape(self.labels, self.annotators, restarts), axis=0)
        log_likelihood = self.parts.sums(total, of_annotators)
        return evidence, log_likelihood, np.divide(state.know, true, out=true)

    def forbid(self, evidence: NDArray[np.floating]) -> None:
        """Make all but the known labels of known items impossible, in place."""
        if self._impossible[0].size:
            evidence[self._impossible] = -np.inf

    def update(self, posterior: Floats, knows: Floats, offsets: Offsets) -> State:
        """The variational M-step: exp(digamma(count) - digamma(sum)) of the expected counts.

        A vote is either knowledge or spam, and spam says what the vote says: so all counts follow from those of
        knowledge, and the sums that normalise them from the number of votes.
        """
        restarts = posterior.shape[2]
        known = self.by_annotator @ posterior.reshape(-1, restarts)
        known = known.reshape(knows.shape)
        known *= knows
        counts = np.empty((self.labels + 3, self.annotators, restarts))
        know = np.add.reduce(known, axis=0)
        np.subtract(offsets.spam, know, out=counts[0])
        np.add(know, offsets.know, out=counts[1])
        np.subtract(offsets.strategy, known, out=counts[2:-1])
        np.subtract(offsets.strategies, know, out=counts[-1])
        digamma(counts, out=counts)
        counts[:2] -= offsets.digamma_votes
        counts[2:-1] -= counts[-1]
        parameters = counts[:-1]
        np.exp(parameters, out=parameters)
        return State(spam=parameters[0], know=parameters[1], strategy=parameters[2:])

    def offsets(self, priors: Priors) -> Offsets:
        """What the expected counts are added to or taken from, the same in every iteration."""
        counts = self.cell_counts.reshape(self.labels, self.annotators)[:, :, None]
        votes = counts.sum(axis=0)
        spam, know = priors.spam + priors.smoothing, priors.know + priors.smoothing
        strategy = counts + (priors.strategy + priors.smoothing)
        return Offsets(
            spam=votes + spam,
            know=know,
            strategy=strategy,
            strategies=strategy.sum(axis=0),
            digamma_votes=digamma(votes + (spam + know)),
        )


@dataclass(frozen=True)
class Offsets:
    """Votes and priors in the M-step: what each count would be if nobody knew anything."""

    spam: Floats  # (annotators, 1)
    know: float
    strategy: Floats  # (labels, annotators, 1)
    strategies: Floats  # (annotators, 1): the sum over labels
    digamma_votes: Floats  # (annotators, 1): of the counts of spamming and knowing together


@dataclass(frozen=True)
class Fits:
    """Where each restart ended, by part."""

    state: State
    log_likelihood: Floats  # (parts, restarts)
    iterations: Ints  # (parts, restarts): M-steps taken
    converged: NDArray[np.bool_]  # (parts, restarts)


def iterate(votes: Votes, start: State, priors: Priors, *, max_iter: int, tolerance: float) -> Fits:
    """Run EM from each start until the likelihood of each part settles or `max_iter` M-steps are taken.

    A part that has settled keeps what it settled at; restarts all of whose parts have leave the computation. The
    likelihood reported is that of the parameters reported.
    """
    shape = (votes.parts.count, start.spam.shape[1])
    final = State(start.spam.copy(), start.know.copy(), start.strategy.copy())
    likelihood = np.full(shape, -np.inf)
    iterations = np.zeros(shape, dtype=np.int64)
    converged = np.zeros(shape, dtype=bool)
    ended = np.zeros(shape, dtype=bool)
    settled = Settled(tolerance, shape)
    running = np.arange(shape[1])
    state = start
    offsets = votes.offsets(priors)
    iteration = 0
    while True:
        posterior, now, knows = votes.posterior(state)
        done = settled(now)
        is_last = iteration == max_iter
        ends = ~ended[:, running] & (done | is_last)
        if ends.any():
            part, restart = np.nonzero(ends)
            where = (part, running[restart])
            likelihood[where], iterations[where], ended[where] = now[ends], iteration, True
            converged[where] = done[ends]
            final.put(running, state, ends[votes.parts.of_annotator])
            left = np.asarray(ended[:, running].all(axis=0))
            if left.all():
                break
            if left.any():
                settled.keep(~left)
                running, state = running[~left], state.take(~left)
                posterior, knows = posterior[:, :, ~left], knows[:, :, ~left]
        state = votes.update(posterior, knows, offsets)
        iteration += 1
    return Fits(final, likelihood, iterations, converged)
