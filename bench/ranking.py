"""Plackett-Luce sampling with all exposure metrics: against a plain loop of the paper's procedure."""

from __future__ import annotations

import os
import time

import numpy as np

from analysis.ranking.exposure import attributed_disparity, exposure, measure
from analysis.ranking.plackett_luce import logits, sample

QUERIES, ITEMS, SAMPLES, CUT, ALPHA = 1000, 100, 100, 5, 2.0
LOOPED = 20  # queries for the plain loop, whose time grows linearly with them
TARGET = 50.0
Found = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def run() -> list[dict]:
    """Time sampling and metrics against a loop on some of the queries, and compare the metrics on equal rankings."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(QUERIES, ITEMS))
    useful = rng.random((QUERIES, ITEMS)) < 0.2
    said = rng.random((QUERIES, SAMPLES, CUT)) < 0.5
    ours = min(_timed(lambda: _ours(scores, useful, said))[0] for _ in range(3))
    looped, _ = _timed(lambda: _loop(scores[:LOOPED], useful[:LOOPED], said[:LOOPED]))
    drawn = sample(logits(scores, ALPHA), samples=SAMPLES, k=CUT, rng=np.random.default_rng(1))
    far = max(
        float(np.nanmax(np.abs(a[:LOOPED] - b)))
        for a, b in zip(_measured(drawn, useful, said), _measured_in_loop(drawn[:LOOPED], useful, said), strict=True)
    )
    ratio = looped / LOOPED * QUERIES / ours
    load = f"load average {os.getloadavg()[0]:.1f}"
    return [
        {
            "name": f"sampling and metrics, {QUERIES} queries, n = {ITEMS}, N = {SAMPLES}, k = {CUT}, over a loop",
            "ratio": ratio,
            "target": TARGET,
            "detail": f"{ours:.2f} s, the loop {looped:.2f} s for {LOOPED} of them, {load}",
        },
        {
            "name": "metrics on the same rankings: 1e-9 over the largest difference",
            "ratio": 1e-9 / max(far, 1e-16),
            "target": 1.0,
            "detail": f"largest difference {far:.1e}",
        },
    ]


def _timed(function) -> tuple[float, Found]:
    began = time.perf_counter()
    found = function()
    return time.perf_counter() - began, found


def _ours(scores: np.ndarray, useful: np.ndarray, said: np.ndarray) -> Found:
    drawn = sample(logits(scores, ALPHA), samples=SAMPLES, k=CUT, rng=np.random.default_rng(1))
    return _measured(drawn, useful, said)


def _measured(drawn: np.ndarray, useful: np.ndarray, said: np.ndarray) -> Found:
    found = measure(exposure(drawn, ITEMS), useful, CUT)
    spread = attributed_disparity(exposure(drawn, ITEMS, counted=said))
    return found.disparity_normalised, found.relevance_normalised, found.distance, spread


def _loop(scores: np.ndarray, useful: np.ndarray, said: np.ndarray) -> Found:
    """Process each query separately, each ranking item by item: draw, set the probability to 0, renormalise."""
    rng = np.random.default_rng(1)
    drawn = np.empty((len(scores), SAMPLES, CUT), dtype=np.int64)
    for query, own in enumerate(scores):
        low, high = own.min(), own.max()
        weight = np.exp((1 + (own - low) / (high - low)) ** ALPHA)
        for row in range(SAMPLES):
            left = weight.copy()
            for place in range(CUT):
                drawn[query, row, place] = rng.choice(ITEMS, p=left / left.sum())
                left[drawn[query, row, place]] = 0.0
    return _measured_in_loop(drawn, useful, said)


def _measured_in_loop(drawn: np.ndarray, useful: np.ndarray, said: np.ndarray) -> Found:
    rows = []
    for query, rankings in enumerate(drawn):
        shown, attributed = [0.0] * ITEMS, [0.0] * ITEMS
        for ranking, keep in zip(rankings, said[query], strict=True):
            for item, counts in zip(ranking, keep, strict=True):
                shown[item] += 1 / SAMPLES
                attributed[item] += float(counts) / SAMPLES
        m = int(useful[query].sum())
        best = 1.0 if m <= CUT else CUT / m
        spare = (CUT - m) / (ITEMS - m) if m < CUT else 0.0
        wanted = [best if each else spare for each in useful[query]]
        disparity = sum(e * e for e in shown)
        relevance = sum(e * w for e, w in zip(shown, wanted, strict=True))
        most = m + (CUT - m) ** 2 / (ITEMS - m) if m <= CUT else CUT**2 / m
        total = sum(attributed)
        least = total**2 / ITEMS
        rows.append((
            (disparity - CUT**2 / ITEMS) / (CUT - CUT**2 / ITEMS),
            relevance / most,
            disparity - 2 * relevance + sum(w * w for w in wanted),
            (sum(e * e for e in attributed) - least) / (total - least),
        ))  # fmt: skip
    a, b, c, d = (np.array(column) for column in zip(*rows, strict=True))
    return a, b, c, d
