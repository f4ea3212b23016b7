"""Variational EM of MACE for many restarts at once, with judgments in separate components; see `analysis.stats.mace`.

Spam probability and strategy are integrated out. Consider a judge with n votes for each label, of which m match the
true label of their item. The probability of these votes is a sum over the k votes of each label that were knowledge:

    f(m)  =  sum over k <= m  of  product of C(m_l, k_l)  *  B(a + N - K, b + K) / B(a, b)  *  Dirichlet(n - k)

N and K are the sums of n and k. The sum is a product of binomial matrices, one for each label, so f is computed for all
m at once. It depends only on the counts n, so judges with the same counts share a table.

Two annotators are connected if they judged the same item, directly or through others. All parameters of MACE belong to
single annotators, so unconnected annotators are independent. The likelihood of a study is therefore a product over the
connected components of the graph of annotators and items. The best overall fit combines the best fits of the
components. Crowds judge in small groups, so there are many components: 60 among the 420 annotators of the CrowdRAG-25
sample. New judgments change only the components that they belong to.

Performance: the likelihood of an item's votes, given its true label l, is the product over its votes of ``e0 s``
(spammed), plus ``e1`` for the votes with label l. After division by the product of all ``e0 s``, only the votes with
label l remain. Each has the factor ``1 + e1 / (e0 s)``, which depends only on (annotator, label). Both halves of the
E-step are therefore products with a sparse 0/1 matrix of the votes:

    log evidence of (item, label)         =  V   @  log(1 + e1 / (e0 s)) of (annotator, label)
    true votes of (annotator, label)      =  V.T @  posterior of (item, label)

Logarithms and exponentials are computed once per (annotator, label) and (item, label), not once per vote and label.
Arrays are label-major, (labels, items or annotators, restarts), so reductions over labels run along memory. Likelihoods
are computed for each connected component (`Parts`). A component converges when its own likelihood does, independently
of the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import scipy
from numpy.typing import NDArray

from analysis.stats.bootstrap import Floats

Singles = NDArray[np.float32]
Ints = NDArray[np.int64]
#: Judges with more votes, or whose table would have more entries, have no table.
MOST, LARGEST = 200, 2048


@dataclass(frozen=True, eq=False)
class Table:
    """Quantities that depend on the counts m of a judge's true votes, at index m @ strides.

    Attributes
    ----------
    log_likelihood : ndarray of shape (size,)
        Logarithm of f, up to an additive constant.
    spam : ndarray of shape (size,)
        Expected spam probability.
    gain : ndarray of float32, shape (labels, size)
        Increase of the log likelihood if one more vote of each label is true; 0 if there is no such vote.
    strides : ndarray of int, shape (labels,)
    """

    log_likelihood: Floats
    spam: Floats
    gain: Singles
    strides: Ints


def is_small(counts: Ints) -> NDArray[np.bool_]:
    """Check which judges have a table, from their vote counts by label, shape (judges, labels)."""
    return np.asarray((counts.sum(axis=1) <= MOST) & ((counts + 1.0).prod(axis=1) <= LARGEST))


@lru_cache(maxsize=512)
def table(counts: tuple[int, ...], spam_prior: tuple[float, float], strategy_prior: float) -> Table:
    """Compute the table of judges with these vote counts by label."""
    a, b = spam_prior
    votes, labels = sum(counts), len(counts)
    counts_known = np.indices([n + 1 for n in counts])
    total = counts_known.sum(axis=0)
    log = scipy.special.betaln(a + votes - total, b + total) - scipy.special.gammaln(
        strategy_prior * labels + votes - total
    )
    for n, k in zip(counts, counts_known, strict=True):
        log = log + scipy.special.gammaln(strategy_prior + n - k)
    likelihood = np.exp(log - log.max())
    spam = likelihood * (a + votes - total) / (a + b + votes)
    for axis, n in enumerate(counts):
        ways = scipy.special.comb(np.arange(n + 1)[:, None], np.arange(n + 1))
        likelihood, spam = (
            np.moveaxis(np.tensordot(ways, strategy_counts, (1, axis)), 0, axis)
            for strategy_counts in (likelihood, spam)
        )
    log = np.log(likelihood)
    gain = np.zeros((labels, *log.shape), dtype=np.float32)
    for axis, n in enumerate(counts):
        inside = tuple(slice(0, n) if label_axis == axis else slice(None) for label_axis in range(labels))
        gain[(axis, *inside)] = np.diff(log, axis=axis)
    strides = np.array([int(np.prod([n + 1 for n in counts[axis + 1 :]])) for axis in range(labels)], dtype=np.int64)
    return Table(log.ravel(), (spam / likelihood).ravel(), gain.reshape(labels, -1), strides)


@dataclass(frozen=True, eq=False)
class Parts:
    """The connected component of each item and annotator, numbered from 0 to ``count - 1``."""

    count: int
    of_item: Ints  # (items,)
    of_annotator: Ints  # (annotators,)

    def sums(self, of_items: Floats, of_annotators: Floats) -> Floats:
        """Sum by component the values of items and annotators, shapes (items, restarts) and (annotators, restarts).

        Returns
        -------
        ndarray of shape (parts, restarts)
        """
        return np.asarray(self._items @ of_items + self._annotators @ of_annotators)

    @cached_property
    def _items(self) -> scipy.sparse.csr_array:
        return sums_by_part(self.of_item, self.count)

    @cached_property
    def _annotators(self) -> scipy.sparse.csr_array:
        return sums_by_part(self.of_annotator, self.count)


def whole(items: int, annotators: int) -> Parts:
    """Return a single component with all items and annotators."""
    return Parts(1, np.zeros(items, dtype=np.int64), np.zeros(annotators, dtype=np.int64))


def connected(item: Ints, annotator: Ints, *, items: int, annotators: int) -> Parts:
    """Find the connected components; items and annotators without judgments are single components."""
    nodes = items + annotators
    links = scipy.sparse.coo_array((np.ones(len(item), dtype=np.int8), (item, items + annotator)), shape=(nodes, nodes))
    count, part = scipy.sparse.csgraph.connected_components(links, directed=False)
    part = part.astype(np.int64)
    return Parts(int(count), part[:items], part[items:])


def sums_by_part(part: Ints, count: int) -> scipy.sparse.csr_array:
    """Build a 0/1 matrix whose product sums by component, in the order of the members."""
    order = np.argsort(part, kind="stable")
    ends = np.cumsum(np.bincount(part, minlength=count))
    return scipy.sparse.csr_array((np.ones(len(part)), order, np.r_[0, ends]), shape=(count, len(part)))


@dataclass(frozen=True)
class Priors:
    """Pseudo-counts that the M-step adds to the expected counts."""

    spam: float
    know: float
    strategy: float
    smoothing: float


@dataclass
class State:
    """Parameters of several restarts along the last axis."""

    spam: Floats  # (annotators, restarts): e0
    know: Floats  # (annotators, restarts): e1
    strategy: Floats  # (labels, annotators, restarts)

    def take(self, restarts: NDArray[np.bool_] | Ints) -> State:
        """Return the parameters of a subset of the restarts."""
        return State(self.spam[:, restarts], self.know[:, restarts], self.strategy[:, :, restarts])

    def put(self, restarts: Ints, other: State, mask_or_none: NDArray[np.bool_] | None = None) -> None:
        """Overwrite some restarts; with `mask_or_none` (annotators, restarts), only those annotators."""
        mask = True if mask_or_none is None else mask_or_none
        self.spam[:, restarts] = np.where(mask, other.spam, self.spam[:, restarts])
        self.know[:, restarts] = np.where(mask, other.know, self.know[:, restarts])
        self.strategy[:, :, restarts] = np.where(mask, other.strategy, self.strategy[:, :, restarts])


class Convergence:
    """Stateful convergence test of the likelihood of each restart (the last axis), or of each component and restart."""

    def __init__(self, tolerance: float, shape: int | tuple[int, int]) -> None:
        self.tolerance = tolerance
        self._last = np.full(shape, -np.inf)

    def __call__(self, likelihoods: Floats) -> NDArray[np.bool_]:
        """Check which likelihoods changed by less than the tolerance since the last call."""
        moved = np.abs(likelihoods - self._last)
        self._last = likelihoods
        return np.asarray(moved < self.tolerance)

    def keep(self, restarts: NDArray[np.bool_]) -> None:
        """Track only some of the restarts from now on."""
        self._last = self._last[..., restarts]


class Votes:
    """The judgments in the form that EM needs."""

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
        self.by_item = scipy.sparse.coo_array((ones, (row, column)), shape=size).tocsr()
        self.by_annotator = self.by_item.T.tocsr()
        self.cell_counts: Floats = np.bincount(column, minlength=size[1]).astype(np.float64)
        # Known items: every label except the known one is impossible. `fixed` is -1 if the label is unknown.
        fixed_items = np.flatnonzero(fixed >= 0)
        impossible = np.ones((self.labels, len(fixed_items)), dtype=bool)
        impossible[fixed[fixed_items], np.arange(len(fixed_items))] = False
        label_index, position = np.nonzero(impossible)
        self._impossible = (label_index, fixed_items[position])
        self._log_labels = float(np.log(self.labels))

    def posterior(self, state: State) -> tuple[Floats, Floats, Floats]:
        """Run the E-step.

        Returns
        -------
        posterior : ndarray of shape (labels, items, restarts)
        log_likelihood : ndarray of shape (parts, restarts)
            Log likelihood of each component's votes (and known labels), with a uniform prior over labels.
        knows : ndarray of shape (labels, annotators, restarts)
            The probability that a true vote was knowledge rather than spam.
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
        """Make all labels impossible except the known labels of known items, in place."""
        if self._impossible[0].size:
            evidence[self._impossible] = -np.inf

    def update(self, posterior: Floats, knows: Floats, offsets: Offsets) -> State:
        """Run the variational M-step: exp(digamma(count) - digamma(sum)) of the expected counts.

        A vote is either knowledge or spam, and a spammed label is the label of the vote. All counts therefore follow
        from those of knowledge, and their normalising sums follow from the number of votes.
        """
        restarts = posterior.shape[2]
        known_votes = self.by_annotator @ posterior.reshape(-1, restarts)
        known_votes = known_votes.reshape(knows.shape)
        known_votes *= knows
        counts = np.empty((self.labels + 3, self.annotators, restarts))
        know = np.add.reduce(known_votes, axis=0)
        np.subtract(offsets.spam, know, out=counts[0])
        np.add(know, offsets.know, out=counts[1])
        np.subtract(offsets.strategy, known_votes, out=counts[2:-1])
        np.subtract(offsets.strategies, know, out=counts[-1])
        scipy.special.digamma(counts, out=counts)
        counts[:2] -= offsets.digamma_votes
        counts[2:-1] -= counts[-1]
        parameters = counts[:-1]
        np.exp(parameters, out=parameters)
        return State(spam=parameters[0], know=parameters[1], strategy=parameters[2:])

    def offsets(self, priors: Priors) -> Offsets:
        """Return the constants that expected counts are added to or subtracted from, equal in all iterations."""
        counts = self.cell_counts.reshape(self.labels, self.annotators)[:, :, None]
        votes = counts.sum(axis=0)
        spam, know = priors.spam + priors.smoothing, priors.know + priors.smoothing
        strategy = counts + (priors.strategy + priors.smoothing)
        return Offsets(
            spam=votes + spam,
            know=know,
            strategy=strategy,
            strategies=strategy.sum(axis=0),
            digamma_votes=scipy.special.digamma(votes + (spam + know)),
        )


@dataclass(frozen=True)
class Offsets:
    """Votes and priors in the M-step: the value of each count if no vote were knowledge."""

    spam: Floats  # (annotators, 1)
    know: float
    strategy: Floats  # (labels, annotators, 1)
    strategies: Floats  # (annotators, 1): the sum over labels
    digamma_votes: Floats  # (annotators, 1): of the sum of spamming and knowing counts


@dataclass(frozen=True)
class Fits:
    """Result of each restart, by component."""

    state: State
    log_likelihood: Floats  # (parts, restarts)
    iterations: Ints  # (parts, restarts): M-steps taken
    converged: NDArray[np.bool_]  # (parts, restarts)


def iterate(votes: Votes, start: State, priors: Priors, *, max_iter: int, tolerance: float) -> Fits:
    """Run EM from each start until each component's likelihood converges or `max_iter` M-steps are done.

    A converged component keeps its parameters. Restarts whose components have all converged leave the computation. The
    reported likelihood belongs to the reported parameters.
    """
    shape = (votes.parts.count, start.spam.shape[1])
    final = State(start.spam.copy(), start.know.copy(), start.strategy.copy())
    likelihood = np.full(shape, -np.inf)
    iterations = np.zeros(shape, dtype=np.int64)
    converged = np.zeros(shape, dtype=bool)
    ended = np.zeros(shape, dtype=bool)
    settled = Convergence(tolerance, shape)
    running = np.arange(shape[1])
    state = start
    offsets = votes.offsets(priors)
    iteration = 0
    while True:
        posterior, now, knows = votes.posterior(state)
        is_settled = settled(now)
        is_last = iteration == max_iter
        ends = ~ended[:, running] & (is_settled | is_last)
        if ends.any():
            part, restart = np.nonzero(ends)
            cells = (part, running[restart])
            likelihood[cells], iterations[cells], ended[cells] = now[ends], iteration, True
            converged[cells] = is_settled[ends]
            final.put(running, state, ends[votes.parts.of_annotator])
            is_finished = np.asarray(ended[:, running].all(axis=0))
            if is_finished.all():
                break
            if is_finished.any():
                settled.keep(~is_finished)
                running, state = running[~is_finished], state.take(~is_finished)
                posterior, knows = posterior[:, :, ~is_finished], knows[:, :, ~is_finished]
        state = votes.update(posterior, knows, offsets)
        iteration += 1
    return Fits(final, likelihood, iterations, converged)
