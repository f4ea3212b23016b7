"""Krippendorff's alpha with its interval against the krippendorff package called for 1,000 resamples of topics."""

from __future__ import annotations

import time

import krippendorff
import numpy as np

from analysis.stats import agreement
from analysis.stats.bootstrap import resample_weights
from bench._votes import best_time, load

RESAMPLES = 1000
PEER_CALLS = 50


def run() -> list[dict]:
    """Call the package on the resampled judgments, once per resample; a few calls are timed and extrapolated."""
    votes = load()
    topics = int(votes.topic.max()) + 1
    weights = resample_weights(topics, RESAMPLES, np.random.default_rng(0))

    def ours() -> object:
        return agreement.alpha_interval(votes.item, votes.annotator, votes.label[:, 0], votes.topic, values=3)

    interval = ours()
    mine = best_time(ours, 5)
    matrix = np.full((int(votes.annotator.max()) + 1, len(votes.topic)), np.nan)
    matrix[votes.annotator, votes.item] = votes.label[:, 0]
    units = [np.flatnonzero(votes.topic == topic) for topic in range(topics)]
    began = time.perf_counter()
    for row in weights[:PEER_CALLS]:
        _peer(matrix[:, _drawn(units, row)])
    peer = (time.perf_counter() - began) * RESAMPLES / PEER_CALLS
    counts = agreement.count_values(votes.item, votes.annotator, votes.label[:, 0], values=3)
    began = time.perf_counter()
    for row in weights[:PEER_CALLS]:
        krippendorff.alpha(value_counts=counts[_drawn(units, row)], level_of_measurement="ordinal")
    lean = (time.perf_counter() - began) * RESAMPLES / PEER_CALLS
    point = abs(interval.estimate - _peer(matrix))
    return [
        {
            "name": f"alpha with its interval, times faster than the krippendorff package on {RESAMPLES} resamples",
            "ratio": peer / mine,
            "target": 100,
            "detail": f"{peer:.1f} s ({PEER_CALLS} calls timed) / {mine * 1e3:.2f} ms; given value counts the package "
            f"needs {lean:.2f} s, {lean / mine:.0f} times ours; {votes.source}",
        },
        {
            "name": "alpha's point estimate: 1e-12 over the difference from the krippendorff package's",
            "ratio": 1e-12 / max(point, 1e-16),
            "target": 1,
            "detail": f"alpha {interval.estimate:.6f} [{interval.low:.3f}, {interval.high:.3f}], apart by {point:.1e}",
        },
    ]


def _drawn(units: list[np.ndarray], row: np.ndarray) -> np.ndarray:
    return np.concatenate([np.tile(units[topic], int(count)) for topic, count in enumerate(row) if count])


def _peer(matrix: np.ndarray) -> float:
    return float(krippendorff.alpha(reliability_data=matrix, level_of_measurement="ordinal"))
