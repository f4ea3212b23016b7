"""MACE on ten million synthetic judgments: linear in judgments, within memory."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time

import numpy as np

from analysis.stats import mace

SMALL, LARGE = 1_000_000, 10_000_000
ITERATIONS = 10
LIMIT = 4 * 2**30


def run() -> list[dict]:
    """Run each size in a separate process, so that its peak memory can be measured."""
    small, large = (_measured(size) for size in (SMALL, LARGE))
    growth = large["seconds"] / small["seconds"] / (LARGE / SMALL)
    return [
        {
            "name": "MACE on 10 million judgments: 4 GB over the peak memory of the process",
            "ratio": LIMIT / large["bytes"],
            "target": 1,
            "detail": f"{large['bytes'] / 2**30:.2f} GB, {large['seconds']:.1f} s for {ITERATIONS} iterations of one "
            f"restart; labels right {large['right']:.3f}",
        },
        {
            # Ten times the data exceed the processor's caches, so a little more than ten times the time still counts as
            # linear.
            "name": "MACE linear in judgments: 2 over the growth of the time per judgment from 1 to 10 million",
            "ratio": 2.0 / growth,
            "target": 1,
            "detail": f"{small['seconds'] / SMALL * 1e6:.3f} and {large['seconds'] / LARGE * 1e6:.3f} microseconds, "
            f"{growth:.2f} times",
        },
    ]


def _measured(size: int) -> dict:
    done = subprocess.run([sys.executable, "-m", __name__, str(size)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def _work(size: int) -> dict:
    rng = np.random.default_rng(0)
    items, annotators = size // 5, size // 100
    item = np.repeat(np.arange(items, dtype=np.int32), 5)
    # Five different annotators per item: the step between them is coprime to the number of annotators.
    annotator = ((rng.integers(0, annotators, items)[:, None] + np.arange(5) * 7919) % annotators).ravel()
    truth = rng.integers(0, 3, items)
    spam = rng.beta(1.0, 1.0, annotators)
    label = np.where(rng.random(size) < spam[annotator], rng.integers(0, 3, size), truth[item])
    began = time.perf_counter()
    model = mace.fit(item, annotator, label, rng=rng, settings=mace.MaceSettings(restarts=1, max_iter=ITERATIONS))
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return {"seconds": seconds, "bytes": peak, "right": float((model.posterior.argmax(axis=1) == truth).mean())}


if __name__ == "__main__":
    print(json.dumps(_work(int(sys.argv[1]))))
