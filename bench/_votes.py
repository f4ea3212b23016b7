"""Judgments for the measurements: the sample, or synthetic judgments of the same shape."""

from __future__ import annotations

import gzip
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

DIMENSIONS = (
    "correctness_topical",
    "coherence_logical",
    "coherence_stylistic",
    "coverage_broad",
    "coverage_deep",
    "consistency_internal",
    "quality_overall",
)


@dataclass(frozen=True, eq=False)
class Votes:
    """Judgments of presented pairs, with ids as in the file and as numbers."""

    source: str
    task: list[str]  # (n_judgments,)
    worker: list[str]  # (n_judgments,)
    item: NDArray[np.int64]  # (n_judgments,)
    annotator: NDArray[np.int64]  # (n_judgments,)
    label: NDArray[np.int64]  # (n_judgments, 7): 0 a, 1 n, 2 b
    topic: NDArray[np.int64]  # (n_items,)
    first: NDArray[np.int64]  # (n_items,): index of the left response within its topic
    second: NDArray[np.int64]


def load() -> Votes:
    """Return the sample's judgments if CROWDRAG_DATA is set, else synthetic ones."""
    folder = os.environ.get("CROWDRAG_DATA")
    path = Path(folder or ".") / "crowdrag25" / "raw" / "study2_responses.jsonl.gz"
    if folder and path.exists():
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        keys = ("validity", *DIMENSIONS[1:])
        table = [
            (row["query_id"], row["response_a"], row["response_b"], row["worker"], *("ANB".index(row[k]) for k in keys))
            for row in rows
        ]
        return _number(f"sample, {len(table)} judgments a dimension", table)
    return _number("synthetic (CROWDRAG_DATA is not set)", _synthetic(np.random.default_rng(0)))


def _synthetic(rng: np.random.Generator) -> list[tuple]:
    """Draw judgments: 40 topics of six responses, 21 presented pairs each, and five of 420 workers per pair."""
    spam = rng.beta(1.5, 1.0, size=420)
    table = []
    for topic in range(40):
        quality = rng.normal(size=6)
        pairs = [(a, b) for a in range(6) for b in range(a + 1, 6)]
        pairs += [(b, a) for a, b in pairs[::3]][:6]
        for a, b in pairs:
            lead = quality[b] - quality[a]
            truth = int(np.sign(lead) * (abs(lead) > 0.2)) + 1
            for worker in rng.choice(420, size=5, replace=False):
                said = np.where(rng.random(7) < spam[worker], rng.integers(0, 3, size=7), truth)
                said[6] = said[6] if said[6] != 1 else 2 * rng.integers(0, 2)
                table.append((f"t{topic}", f"t{topic}r{a}", f"t{topic}r{b}", f"w{worker}", *said.tolist()))
    return table


def _number(source: str, table: list[tuple]) -> Votes:
    items: dict[tuple, int] = {}
    workers: dict[str, int] = {}
    topics: dict[str, int] = {}
    places: dict[str, dict[str, int]] = {}
    pairs = []
    item, annotator = [], []
    for topic, a, b, worker, *_ in table:
        if (a, b) not in items:
            within = places.setdefault(topic, {})
            pairs.append((topics.setdefault(topic, len(topics)), *(within.setdefault(r, len(within)) for r in (a, b))))
        item.append(items.setdefault((a, b), len(items)))
        annotator.append(workers.setdefault(worker, len(workers)))
    topic, first, second = np.array(pairs).T
    return Votes(
        source=source,
        task=[f"{row[1]}_{row[2]}" for row in table],
        worker=[row[3] for row in table],
        item=np.array(item),
        annotator=np.array(annotator),
        label=np.array([row[4:] for row in table]),
        topic=topic,
        first=first,
        second=second,
    )


def best_time(work: Callable[[], object], repeats: int) -> float:
    """Return the shortest of several durations in seconds, the one least disturbed by other work on the machine."""
    seconds = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return min(seconds)
