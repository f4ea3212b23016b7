"""Search for the best MACE fit: random starts, followed by a search for better optima.

Each connected component of the judgments (`_mace_engine`) is searched independently, in parallel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.stats._mace_engine import Fits, Priors, State, Votes, iterate
from analysis.stats.bootstrap import Floats
from analysis.stats.random_streams import ConcatenatedRng, KeyedRng

Ints = NDArray[np.int64]

# Restarts are fitted in blocks whose largest arrays stay below this size.
_BLOCK_BYTES = 256 * 2**20
_ITERATIONS = 20  # from each perturbation
_PARENTS = 5
_CHILDREN = 4  # perturbations of each parent
_SHARE = 0.25  # of the annotators get new random parameters


@dataclass(frozen=True)
class Effort:
    """Search effort: restarts, maximum M-steps of each, convergence tolerance, and rounds of search after them."""

    restarts: int
    max_iter: int
    tolerance: float
    refine: int


def search(
    votes: Votes, priors: Priors, effort: Effort, draws: KeyedRng | ConcatenatedRng | None, start: State | None = None
) -> tuple[Fits, Fits]:
    """Return the best fit of each component, and the results of all starts: the given one first, then the random ones.

    Raises
    ------
    ValueError
        If there is nothing to start from.
    """
    states = [] if start is None else [start]
    if effort.restarts:
        assert draws is not None
        states.append(random_starts(votes.labels, effort.restarts, draws))
    if not states:
        raise ValueError("there is nothing to start from: ask for restarts, or give a start")
    ends = fit_blocks(votes, concatenate(states), priors, effort.max_iter, effort.tolerance)
    if not effort.refine:
        return top(votes, ends, 1), ends
    assert draws is not None
    pool = top(votes, ends, _PARENTS)
    for _ in range(effort.refine):
        children = fit_blocks(votes, perturb(pool.state, draws), priors, _ITERATIONS, effort.tolerance)
        pool = top(votes, stack_fits([pool, children]), _PARENTS)
    best = top(votes, pool, 1)
    polished = iterate(votes, best.state, priors, max_iter=effort.max_iter, tolerance=effort.tolerance)
    return top(votes, stack_fits([best, polished]), 1), ends


def random_starts(labels: int, restarts: int, draws: KeyedRng | ConcatenatedRng) -> State:
    """Draw random parameters: normalised uniform numbers (crowdrag25's implementation).

    Draws are made restart by restart, so the first starts of a seed do not depend on the number of restarts.
    """
    numbers = draws.uniform(restarts, 2 + labels)
    spamming = numbers[:, :, :2] / numbers[:, :, :2].sum(axis=2, keepdims=True)
    strategy = numbers[:, :, 2:] / numbers[:, :, 2:].sum(axis=2, keepdims=True)
    return State(
        spam=np.ascontiguousarray(spamming[:, :, 0].T),
        know=np.ascontiguousarray(spamming[:, :, 1].T),
        strategy=np.ascontiguousarray(strategy.transpose(2, 1, 0)),
    )


def perturb(parents: State, draws: KeyedRng | ConcatenatedRng) -> State:
    """Perturb copies of good fits: a quarter of the annotators of each copy get new random parameters.

    Annotators who agree on a wrong interpretation of some items reinforce each other. EM changes all parameters a
    little at a time, so it cannot escape such an optimum. It finds the better interpretation if enough annotators are
    reset at once.
    """
    labels, _annotators, count = parents.strategy.shape
    parent_index = np.repeat(np.arange(count), _CHILDREN)
    random_state = random_starts(labels, len(parent_index), draws)
    anew = draws.uniform(len(parent_index), 1)[:, :, 0].T < _SHARE
    parent_state = parents.take(parent_index)
    return State(
        spam=np.where(anew, random_state.spam, parent_state.spam),
        know=np.where(anew, random_state.know, parent_state.know),
        strategy=np.where(anew, random_state.strategy, parent_state.strategy),
    )


def fit_blocks(votes: Votes, starts: State, priors: Priors, max_iter: int, tolerance: float) -> Fits:
    """Fit many starts, in blocks that fit into memory."""
    return stack_fits([
        iterate(votes, starts.take(block), priors, max_iter=max_iter, tolerance=tolerance)
        for block in blocks(votes, starts.spam.shape[1])
    ])  # fmt: skip


def blocks(votes: Votes, restarts: int) -> list[Ints]:
    """Return the indices of the restarts in each block."""
    size = max(1, _BLOCK_BYTES // (8 * votes.labels * max(votes.items, votes.annotators, 1)))
    return [np.arange(first, min(first + size, restarts)) for first in range(0, restarts, size)]


def top(votes: Votes, fits: Fits, count: int) -> Fits:
    """Return the best `count` fits of each component, in order; equal fits keep their order."""
    order = np.argsort(-fits.log_likelihood, axis=1, kind="stable")[:, :count]
    of_annotator = order[votes.parts.of_annotator]
    row = np.arange(votes.annotators)[:, None]
    state = fits.state
    return Fits(
        State(state.spam[row, of_annotator], state.know[row, of_annotator], state.strategy[:, row, of_annotator]),
        np.take_along_axis(fits.log_likelihood, order, axis=1),
        np.take_along_axis(fits.iterations, order, axis=1),
        np.take_along_axis(fits.converged, order, axis=1),
    )


def stack_fits(fits: Sequence[Fits]) -> Fits:
    """Concatenate several fits along the restarts."""
    return Fits(
        concatenate([fit.state for fit in fits]),
        np.concatenate([fit.log_likelihood for fit in fits], axis=1),
        np.concatenate([fit.iterations for fit in fits], axis=1),
        np.concatenate([fit.converged for fit in fits], axis=1),
    )


def concatenate(states: Sequence[State]) -> State:
    """Concatenate several states along the restarts."""
    return State(
        spam=np.concatenate([state.spam for state in states], axis=-1),
        know=np.concatenate([state.know for state in states], axis=-1),
        strategy=np.concatenate([state.strategy for state in states], axis=-1),
    )


def agreement(votes: Votes, ends: Fits | None, label: NDArray[np.int64]) -> Floats:
    """Return the share of starts in which this label is the most probable one of each item; NaN without starts."""
    if ends is None:
        return np.full(votes.items, np.nan)
    restarts = ends.state.spam.shape[1]
    same = np.zeros(votes.items)
    for block in blocks(votes, restarts):
        same += (votes.posterior(ends.state.take(block))[0].argmax(axis=0) == label[:, None]).sum(axis=1)
    return np.asarray(same / restarts)
