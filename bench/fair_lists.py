"""Generator calls of fair RAG: labels and distinct top-k lists, beside one call a sampled ranking."""

from __future__ import annotations

import os
import time

import numpy as np

from analysis.rag.fair import measuring, utility
from analysis.rag.fair.prompts import Asking, prompt
from analysis.rag.fair.ranking import rank
from analysis.rag.shapes import Document, Prompt, Query
from analysis.stats.chance import stream

QUERIES, ITEMS, SAMPLES, CUT, ALPHAS = 40, 12, 100, 5, (1.0, 2.0, 4.0, 8.0)
RETRIEVERS = ("one", "two", "three")


def run() -> list[dict]:
    """Rank and prompt as a run does, and count what a generator would be asked; nothing is generated."""
    rng = np.random.default_rng(0)
    asked: set[Prompt] = set()
    labels = calls = distinct = sampled = 0
    began = time.perf_counter()
    for number in range(QUERIES):
        query = _query(number)
        own = utility.prompts(query, Asking())
        asked.update(own)
        labels += len(own)
        scores = {name: rng.normal(size=ITEMS) for name in RETRIEVERS}
        useful = rng.random(ITEMS) < 0.3
        ranked = rank(
            scores, useful, ALPHAS, samples=SAMPLES, k=CUT, budget=None,
            chance=lambda name, about=number: stream(about, name),
        )  # fmt: skip
        prompts = [
            prompt(query, [query.documents[place] for place in each], Asking())
            for each in measuring.to_generate(ranked)
        ]
        asked.update(prompts)
        calls += len(prompts)
        distinct += len({tuple(row) for each in ranked for row in each.rankings.tolist()})
        sampled += sum(len(each.rankings) for each in ranked)
    seconds = time.perf_counter() - began
    load = f"load average {os.getloadavg()[0]:.1f}"
    return [
        {
            "name": f"distinct lists over calls, {QUERIES} queries, {len(RETRIEVERS)} retrievers, n = {ITEMS}",
            "ratio": distinct / calls,
            "target": 1.0,
            "detail": f"{calls:,} calls for {sampled:,} rankings ({calls / sampled:.0%}), {seconds:.1f} s, {load}",
        },
        {
            "name": "Q x (D + 1) over calls for utility labels",
            "ratio": QUERIES * (ITEMS + 1) / labels,
            "target": 1.0,
            "detail": f"{labels:,} calls",
        },
        {
            "name": "labels and distinct lists over distinct prompts",
            "ratio": (labels + distinct) / len(asked),
            "target": 1.0,
            "detail": f"{len(asked):,} prompts",
        },
    ]


def _query(number: int) -> Query:
    documents = tuple(Document(f"d{place}", f"document {place} of {number}") for place in range(ITEMS))
    return Query(f"q{number}", f"question {number}?", ("answer",), documents)
