"""A plan's curve: ten designs around the published one, simulated and analysed in two processes."""

from __future__ import annotations

import os
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import product

import numpy as np

from analysis.stats import designs, planning

#: Designs of the published study's size and around it: judges per pair, and topics.
POINTS = list(product((3, 5), (20, 40, 60, 80, 100)))
SIMULATIONS = 20
LIMIT = 60.0


def run() -> list[dict]:
    """Measure the seconds for a curve of ten points, with 20 simulations each, on two cores."""
    began = time.perf_counter()
    with ProcessPoolExecutor(max_workers=2) as pool:
        widths = list(pool.map(_point, POINTS))
    seconds = time.perf_counter() - began
    return [
        {
            "name": "planning: a curve of ten designs, twenty simulations each, on two cores: 60 s over the seconds",
            "ratio": LIMIT / seconds,
            "target": 1,
            "detail": f"{seconds:.1f} s, load {os.getloadavg()[0]:.1f}; the interval of models less humans is from "
            f"{max(widths):.2f} down to {min(widths):.2f} grades wide",
        }
    ]


def _point(point: tuple[int, int]) -> float:
    k, topics = point
    rng = np.random.default_rng([k, topics])
    crowd = designs.competence(0.4, 0.3, dimensions=7, rng=rng)
    design = designs.Design(topics=topics, responses=6, styles=3, k=k, both_orders=0.4)
    expected = designs.Expectation(crowd, effect=2.5, spread=2.7, correlation=0.82, difficulty=0.6)
    found = planning.plan(design, expected, simulations=SIMULATIONS, rng=rng)
    return found["difference_width"].value
