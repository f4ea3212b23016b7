"""What models said of pairs, a model and a way of asking at a time.

A model's judgments are pools of their own (design 2): they never enter the gold labels that they are compared with.
"""

from dataclasses import dataclass, replace

import numpy as np

from analysis.stats.bootstrap import Floats, resample_weights

from ..inputs import COMBINED, INDIVIDUAL, Inputs, Ints, Pool
from . import estimates
from .estimates import Estimate, undefined
from .family import Analysed
from .interdependence import labels_of
from .settings import stream

INFERENCES = {COMBINED: "combined", INDIVIDUAL: "individual"}
#: Labels of presented pairs (places of the left and the right response), by dimension.
Gold = dict[str, dict[tuple[int, int], int]]


@dataclass(frozen=True, eq=False)
class Judged:
    """What one model said of pairs, asked in one way.

    Attributes
    ----------
    left, right, topic : ndarray of int, shape (n_pairs,)
        The presented pairs, as places in the inputs; topics as places among those that the model judged.
    labels : dict of str to ndarray of int, shape (n_pairs,)
        By dimension what it said, as presented (0, 1, 2: a, n, b); -1 where it said nothing. Only preferences.
    """

    left: Ints
    right: Ints
    topic: Ints
    labels: dict[str, Ints]

    def beside(self, labels: dict[tuple[int, int], int]) -> Ints:
        """Other labels of the same presented pairs; -1 where there is none."""
        pairs = zip(self.left.tolist(), self.right.tolist(), strict=True)
        return np.array([labels.get(pair, -1) for pair in pairs], dtype=np.int64)

    def by_pair(self, dimension: str) -> dict[tuple[int, int], int]:
        """What it said on a dimension, by presented pair."""
        said = zip(self.left.tolist(), self.right.tolist(), self.labels[dimension].tolist(), strict=True)
        return {(left, right): label for left, right, label in said if label >= 0}


@dataclass(frozen=True, eq=False)
class Judge:
    """A model as a judge: what it said, by how it was asked, and the resamples of its topics."""

    name: str
    said: dict[str, Judged]
    weights: Floats


def judges(analysed: Analysed) -> list[Judge]:
    """The models that judged pairs, in the order of their names."""
    inputs, settings = analysed.inputs, analysed.settings
    pools = {way: inputs.pools[name] for name, way in INFERENCES.items() if name in inputs.pools}
    found = []
    for name in sorted({name for pool in pools.values() for name in pool.participants}):
        said = {way: _said(inputs, pool, name) for way, pool in pools.items() if name in pool.participants}
        said = {way: judged for way, judged in said.items() if judged.labels}
        if not said:
            continue
        topics = np.unique(np.concatenate([judged.topic for judged in said.values()]))
        for way, judged in said.items():
            place = np.searchsorted(topics, judged.topic)
            said[way] = Judged(judged.left, judged.right, place, judged.labels)
        rng = stream(analysed.seed, f"topics of the model {name}")
        found.append(Judge(name, said, resample_weights(len(topics), settings.resamples, rng)))
    return found


def two_coders(first: Ints, second: Ints, topic: Ints, nothing: str) -> Estimate:
    """Krippendorff's alpha of two labels of each pair (-1: none); `nothing` says why where no pair has both."""
    there = (first >= 0) & (second >= 0)
    if not there.any():
        return undefined(nothing)
    pairs = int(there.sum())
    votes = (np.tile(np.arange(pairs), 2), np.repeat([0, 1], pairs), np.concatenate([first[there], second[there]]))
    return estimates.alpha(votes, topic[there], values=3, drawn_coders=False)


def with_gold_label(said: Ints, gold: Ints, topic: Ints, nothing: str) -> Estimate:
    """Krippendorff's alpha of a model and the gold label, without an interval.

    How good the labels are depends on which judges took part. Resampled topics do not tell that, and intervals over
    topics held the true value in 90 % of studies (docs/methods/intervals.md).
    """
    found = two_coders(said, gold, topic, nothing)
    return found if found.problem else replace(found, terms=None, has_interval=False)


def gold_labels(analysed: Analysed) -> Gold:
    """The gold label of each presented pair (places of its responses), by dimension."""
    main = analysed.main
    sides = list(zip(main.pool.left.tolist(), main.pool.right.tolist(), strict=True))
    return {
        fit.dimension.name: {
            pair: label for pair, label in zip(sides, labels_of(fit).tolist(), strict=True) if label >= 0
        }
        for fit in main.fits
    }


def _said(inputs: Inputs, pool: Pool, name: str) -> Judged:
    """What a model of a pool said. `loading` keeps the first judgment of those that were asked for twice."""
    own = (pool.coder == pool.participants.index(name)) & (pool.right[pool.unit] >= 0)
    units, unit = np.unique(pool.unit[own], return_inverse=True)
    labels = {}
    for place in np.unique(pool.dimension[own]).tolist():
        dimension = inputs.dimensions[place]
        if dimension.is_preference:
            here = pool.dimension[own] == place
            labels[dimension.name] = np.full(len(units), -1, dtype=np.int64)
            labels[dimension.name][unit[here]] = pool.value[own][here]
    return Judged(pool.left[units], pool.right[units], pool.topic[units], labels)
