"""MACE refitted in every resample of topics and workers, many resamples at once.

A topic that is drawn twice adds its items twice, with the same judgments. Both copies have the same posterior, and each
counts when annotator parameters are estimated. An annotator who is drawn twice acts as two people with the same
judgments. Both get the same parameters, and the posterior of their items uses their votes twice. Topic weights
therefore enter only the M-step, and worker weights only the E-step. A resample is one column of the same arrays, so it
costs as much as a restart of `analysis.stats.mace`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from analysis.stats._mace_engine import Convergence, Offsets, Priors, State, Votes
from analysis.stats.bootstrap import Floats
from analysis.stats.judgments import Ints, check
from analysis.stats.labels import TIE_ORDER
from analysis.stats.mace import Mace, MaceParameters, MaceSettings

# Approximate block size. Resamples are fitted in blocks, because small arrays are faster to read repeatedly.
_BLOCK_BYTES = 2 * 2**20

#: Convergence tolerance of a refit. Labels stop changing long before the log likelihood changes by less than this.
TOLERANCE = 1e-3


@dataclass(frozen=True, eq=False)
class Resampled:
    """MACE results of each resample.

    Attributes
    ----------
    label : ndarray of int8, shape (n_items, resamples)
        The most probable label of each item, including items whose topic was not drawn. Equal probabilities are
        resolved as in `analysis.stats.labels.gold`.
    spam_probability : ndarray of float32, shape (n_annotators, resamples)
        e0. Annotators who were not drawn, or none of whose topics was drawn, get the value of the priors.
    converged : ndarray of bool, shape (resamples,)
        Always true without a refit.
    iterations : int
        M-steps of the slowest resample.
    """

    label: NDArray[np.int8]
    spam_probability: NDArray[np.float32]
    converged: NDArray[np.bool_]
    iterations: int


def resample(
    model: Mace,
    item: ArrayLike,
    annotator: ArrayLike,
    label: ArrayLike,
    *,
    item_weights: Floats,
    annotator_weights: Floats | None = None,
    refit: bool = True,
    fixed: ArrayLike | None = None,
    settings: MaceSettings | None = None,
    tolerance: float = TOLERANCE,
    report: Callable[[int], None] = lambda _done: None,
) -> Resampled:
    """Refit MACE in every resample, starting from the fit of all judgments.

    Parameters
    ----------
    model : Mace
        The fit of these judgments. Every resample starts from its parameters, and keeps them if `refit` is false. A
        resample therefore ends near this fit's optimum; the restarts of the fit show whether there are others.
    item, annotator, label, fixed
        As for `analysis.stats.mace.fit`.
    item_weights : ndarray of shape (resamples, n_items)
        How often the topic of each item was drawn in each resample.
    annotator_weights : ndarray of shape (resamples, n_annotators), optional
        How often each annotator was drawn. Default: once.
    refit : bool
        Whether to refit the competences. If false, labels follow from the drawn votes and the fitted competences.
    settings : analysis.stats.mace.MaceSettings, optional
        Priors and maximum number of iterations; by default those of the model.
    tolerance : float
        A resample has converged when its log likelihood changes by less than this in one iteration.
    report : callable
        Called between blocks with the number of finished resamples.

    Returns
    -------
    Resampled

    Raises
    ------
    ValueError
        If shapes do not match, and for all errors of `analysis.stats.judgments.check`.

    References
    ----------
    Owen, The pigeonhole bootstrap (2007). Annals of Applied Statistics 1, 386-411: resamples both factors at once, with
    product weights.
    """
    options = settings if settings is not None else model.settings
    items, annotators = len(model.posterior), len(model.parameters.spam)
    judged = check(item, annotator, label, units=items, coders=annotators, values=model.posterior.shape[1])
    used = np.flatnonzero(model.parameters.strategy.sum(axis=0) > 0)
    position = np.full(judged.values + 1, -1)
    position[used] = np.arange(len(used))
    fixed_labels = np.full(items, -1) if fixed is None else np.asarray(fixed, dtype=np.int64)
    shape = (items, annotators, len(used))
    votes = Votes(judged.unit, judged.coder, position[judged.value], shape=shape, fixed=position[fixed_labels])
    smoothing = options.smoothing if options.smoothing is not None else 0.1 / len(used)
    priors = Priors(*options.spam_prior, options.strategy_prior, smoothing)
    resamples = len(item_weights)
    if item_weights.shape != (resamples, items):
        msg = f"there must be a weight for each of {items} items in every resample, not {item_weights.shape}"
        raise ValueError(msg)
    size = max(1, _BLOCK_BYTES // (8 * len(used) * max(items, annotators)))
    labels = np.empty((items, resamples), dtype=np.int8)
    spam = np.empty((annotators, resamples), dtype=np.float32)
    converged = np.ones(resamples, dtype=bool)
    iterations = 0
    for first in range(0, resamples, size):
        block = slice(first, min(first + size, resamples))
        weights = None if annotator_weights is None else np.tile(annotator_weights[block].T, (len(used), 1))
        work = _Block(votes, item_weights[block].T, weights, priors)
        state = _repeat(model.parameters, used, block.stop - block.start)
        if refit:
            state, converged[block], steps = work.iterate(state, max_iter=options.max_iter, tolerance=tolerance)
            iterations = max(iterations, steps)
        labels[:, block] = _gold(work.expect(state)[0], used, judged.values)
        spam[:, block] = state.spam
        report(block.stop)
    return Resampled(labels, spam, converged, iterations)


class _Block:
    """EM with different weights of items and annotators in each column."""

    def __init__(
        self, votes: Votes, items: Floats, annotator_weights: Floats | None, priors: Priors, cells: Floats | None = None
    ) -> None:
        self.votes, self.items, self.annotator_weights, self.priors = (
            votes,
            np.ascontiguousarray(items),
            annotator_weights,
            priors,
        )
        # The number of votes of each annotator for each label on the drawn items.
        votes_per_cell = votes.by_annotator @ np.tile(self.items, (votes.labels, 1)) if cells is None else cells
        self.cells: Floats = np.asarray(votes_per_cell)
        self.weighted_votes: Floats = self.cells if annotator_weights is None else self.cells * annotator_weights

    def expect(self, state: State) -> tuple[Floats, Floats, Floats]:
        """Run the E-step: posterior of the items, log likelihood of the columns, probability of knowledge."""
        votes, columns = self.votes, state.spam.shape[1]
        spammed = state.spam * state.strategy
        true = spammed + state.know
        log_spammed = np.log(spammed).reshape(-1, columns)
        gain = np.log(true).reshape(-1, columns) - log_spammed
        if self.annotator_weights is not None:
            gain *= self.annotator_weights
        evidence = (votes.by_item @ gain).reshape(votes.labels, votes.items, columns)
        votes.forbid(evidence)
        top = evidence.max(axis=0)
        evidence -= top
        np.exp(evidence, out=evidence)
        total = evidence.sum(axis=0)
        evidence /= total
        likelihood = (self.items * (np.log(total) + top)).sum(axis=0) + (self.weighted_votes * log_spammed).sum(axis=0)
        return evidence, likelihood, state.know / true

    def iterate(self, state: State, *, max_iter: int, tolerance: float) -> tuple[State, NDArray[np.bool_], int]:
        """Run EM until every column has converged; converged columns leave the computation."""
        columns = state.spam.shape[1]
        final = State(state.spam.copy(), state.know.copy(), state.strategy.copy())
        converged = np.zeros(columns, dtype=bool)
        running, part, settled = np.arange(columns), self, Convergence(tolerance, columns)
        steps = 0
        while True:
            posterior, likelihood, knows = part.expect(state)
            is_settled = settled(likelihood)
            is_finished = np.ones_like(is_settled) if steps == max_iter else is_settled
            if is_finished.any():
                final.put(running[is_finished], state.take(is_finished))
                converged[running[is_settled]] = True
                if is_finished.all():
                    return final, converged, steps
                settled.keep(~is_finished)
                running, state, part = running[~is_finished], state.take(~is_finished), part.take(~is_finished)
                posterior, knows = posterior[:, :, ~is_finished], knows[:, :, ~is_finished]
            state = part.votes.update(posterior * part.items, knows, part.offsets)
            steps += 1

    def take(self, columns: NDArray[np.bool_]) -> _Block:
        """Return the same block for a subset of the columns."""
        annotator_weights = None if self.annotator_weights is None else self.annotator_weights[:, columns]
        return _Block(self.votes, self.items[:, columns], annotator_weights, self.priors, self.cells[:, columns])

    @cached_property
    def offsets(self) -> Offsets:
        """Constant parts of the expected counts, as in `Votes.offsets`, for the drawn items."""
        counts = self.cells.reshape(self.votes.labels, self.votes.annotators, -1)
        votes_total = counts.sum(axis=0)
        spam, know = self.priors.spam + self.priors.smoothing, self.priors.know + self.priors.smoothing
        strategy = counts + (self.priors.strategy + self.priors.smoothing)
        return Offsets(
            spam=votes_total + spam,
            know=know,
            strategy=strategy,
            strategies=strategy.sum(axis=0),
            digamma_votes=scipy.special.digamma(votes_total + (spam + know)),
        )


def _repeat(parameters: MaceParameters, used: Ints, columns: int) -> State:
    """Return the fit's parameters as the starting values of every column."""
    return State(
        spam=np.repeat(parameters.spam[:, None], columns, axis=1),
        know=np.repeat(parameters.know[:, None], columns, axis=1),
        strategy=np.repeat(parameters.strategy[:, used].T[:, :, None], columns, axis=2),
    )


def _gold(posterior: Floats, used: Ints, values: int) -> NDArray[np.int8]:
    """Return the most probable label of each item and column; tied preferences resolve to a before b before n."""
    order = TIE_ORDER if values == len(TIE_ORDER) else range(values)
    places = np.array([index for label in order for index in np.flatnonzero(used == label)])
    return np.asarray(used[places][np.argmax(posterior[places], axis=0)], dtype=np.int8)
