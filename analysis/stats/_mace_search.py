"""Better optima than restarts find: part of a good fit is thrown away, and EM fills it in again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from analysis.stats._mace_engine import State, random_starts

_SHARE = 0.25  # of the annotators get new random parameters
_CHILDREN = 4  # perturbations of each parent


def perturb(parents: State, rng: np.random.Generator) -> State:
    """Perturbed copies of good fits: a quarter of the annotators of each copy begin anew.

    Annotators who agree on a wrong reading of some items hold each other in place; EM, which moves all a little, does
    not get out of this, but finds the better reading when enough of them are set free at once.
    """
    labels, annotators, count = parents.strategy.shape
    which = np.repeat(np.arange(count), _CHILDREN)
    fresh = random_starts((labels, annotators), len(which), rng)
    anew = rng.random((len(which), annotators)).T < _SHARE
    kept = parents.take(which)
    return State(
        spam=np.where(anew, fresh.spam, kept.spam),
        know=np.where(anew, fresh.know, kept.know),
        strategy=np.where(anew, fresh.strategy, kept.strategy),
    )


def concatenate(states: Sequence[State]) -> State:
    """Restarts of several states beside each other."""
    return State(
        spam=np.concatenate([state.spam for state in states], axis=-1),
        know=np.concatenate([state.know for state in states], axis=-1),
        strategy=np.concatenate([state.strategy for state in states], axis=-1),
    )
