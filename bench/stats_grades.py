"""Rao-Kupper grades of all topics and dimensions against one scipy BFGS fit each."""

from __future__ import annotations

import time

import numpy as np
from scipy.optimize import minimize

from analysis.stats import bradley_terry
from bench._votes import DIMENSIONS, best_time, load


def run() -> list[dict]:
    """Use the plurality label of each presented pair as its gold label."""
    votes = load()
    n = len(DIMENSIONS)
    counts = np.zeros((len(votes.topic), n, 3))
    for code in range(3):
        np.add.at(counts[:, :, code], votes.item, votes.label == code)
    outcome = (counts.argmax(axis=2) - 1).ravel()
    problem = (votes.topic[:, None] * n + np.arange(n)).ravel()
    first, second = np.repeat(votes.first, n), np.repeat(votes.second, n)

    def ours() -> bradley_terry.Grades:
        return bradley_terry.fit(bradley_terry.tally(problem, first, second, outcome))

    grades = ours()
    mine = best_time(ours, 10)
    apart = 0.0
    problems = grades.merit.shape[0]
    groups = [np.flatnonzero(problem == p) for p in range(problems)]
    grouped = time.perf_counter()
    for p, rows in enumerate(groups):
        size = int(max(first[rows].max(), second[rows].max())) + 1
        data = (first[rows], second[rows], outcome[rows])
        fitted = minimize(_loss, np.ones(size), data, method="BFGS")
        apart = max(apart, float(np.abs(fitted.x - grades.merit[p, :size]).max()))
    peer = time.perf_counter() - grouped
    return [
        {
            "name": f"Rao-Kupper, {problems} problems, times faster than one scipy BFGS fit each",
            "ratio": peer / mine,
            "target": 100,
            "detail": f"{peer:.2f} s / {mine * 1e3:.2f} ms; merits apart by at most {apart:.1e} (BFGS stops at a "
            f"gradient of 1e-5); {votes.source}",
        },
        {
            "name": "Rao-Kupper: 1e-8 over the largest gradient norm",
            "ratio": 1e-8 / max(float(grades.gradient_norm.max()), 1e-16),
            "target": 1,
            "detail": f"{grades.gradient_norm.max():.1e}, {grades.iterations} Newton steps",
        },
    ]


def _loss(merit: np.ndarray, first: np.ndarray, second: np.ndarray, outcome: np.ndarray) -> float:
    """Negative log-likelihood, directly from the definition, with minimal numpy overhead for one problem."""
    lead = merit[first] - merit[second]
    t = 0.05
    won, lost = -np.logaddexp(0, t - lead), -np.logaddexp(0, t + lead)
    tie = np.log(np.expm1(2 * t)) + won + lost
    votes = np.where(outcome < 0, won, np.where(outcome > 0, lost, tie)).sum()
    dummy = -np.logaddexp(0, 1 - merit).sum() - np.logaddexp(0, merit - 1).sum()
    return -(votes + 0.2 * dummy)
