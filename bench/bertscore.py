"""BERTScore of all candidates and references of a study against bert-score called a pair at a time."""

from __future__ import annotations

import gzip
import json
import os
import time
from itertools import combinations
from pathlib import Path

import numpy as np

from analysis.rag import checkpoints, encoders
from analysis.text.bertscore import scores
from analysis.text.statements import without_markers

#: Seconds for which the peer is called; ours scores the topics that the peer finished in this time.
SECONDS = float(os.environ.get("BENCH_BERTSCORE_SECONDS", "60"))
Topic = tuple[list[str], list[tuple[int, int]]]


def run() -> list[dict]:
    """Compare with the same model, layer and device, loaded before the measurement."""
    from bert_score import BERTScorer  # the peer, a development dependency

    encoder = encoders.load()
    package = BERTScorer(
        model_type=str(checkpoints.find().folder), num_layers=encoder.layer, device=str(encoder.device), nthreads=0
    )
    topics, source = _topics()
    package.score(["Warm"], ["up"])
    encoder.encode(["Warm up"])

    theirs: list[list[float]] = []
    began = time.perf_counter()
    calls = 0
    for texts, pairs in topics:
        theirs.append([float(package.score([texts[c]], [texts[r]])[2][0]) for c, r in pairs])
        calls += len(pairs)
        if time.perf_counter() - began > SECONDS:
            break
    peer = time.perf_counter() - began

    began = time.perf_counter()
    ours = [_study(encoder, texts, pairs) for texts, pairs in topics[: len(theirs)]]
    mine = time.perf_counter() - began
    apart = max(float(np.abs(np.subtract(one, other)).max()) for one, other in zip(ours, theirs, strict=True))
    texts = sum(len(texts) for texts, _pairs in topics[: len(theirs)])
    load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, {encoder.device}"
    return [
        {
            "name": f"BERTScore of {len(theirs)} topics, times faster than bert-score a pair at a time",
            "ratio": peer / mine,
            "target": 10,
            "detail": f"{calls} calls of a candidate and a reference in {peer:.1f} s / {texts} texts and all their "
            f"pairs in {mine:.1f} s; {encoder.identity.model}, layer {encoder.layer}; {source}; {load}",
        },
        {
            "name": "BERTScore: 1e-5 over the largest difference of an F1",
            "ratio": 1e-5 / max(apart, 1e-12),
            "target": 1,
            "detail": f"{apart:.1e}",
        },
    ]


def _study(encoder: encoders.Encoder, texts: list[str], pairs: list[tuple[int, int]]) -> list[float]:
    """Score each text and each pair once, as a run does, then return the scores in the requested order."""
    every = list(combinations(range(len(texts)), 2))
    found = dict(zip(every, scores(encoder.encode(texts), every), strict=True))
    return [found[min(pair), max(pair)].f1 for pair in pairs]


def _topics() -> tuple[list[Topic], str]:
    """Return the judged responses of each topic.

    Each is a candidate for every other one, since any may be graded best.
    """
    data = os.environ.get("CROWDRAG_DATA")
    texts = _sample(Path(data, "crowdrag25")) if data else _made_up()
    source = "CrowdRAG-25 sample" if data else "made-up texts"
    return [
        (written, [(c, r) for r in range(len(written)) for c in range(len(written)) if c != r]) for written in texts
    ], source


def _sample(folder: Path) -> list[list[str]]:
    def lines(name: str) -> list[dict]:
        with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    texts = {row["response"]: row["text"] for row in lines("raw/study1_responses_llm")}
    last: dict[str, int] = {}
    for row in lines("raw/study1_responses_human"):
        if row["timestamp"] >= last.get(row["response"], 0):
            last[row["response"]] = row["timestamp"]
            texts[row["response"]] = row["text"]
    topics: dict[str, set[str]] = {}
    for row in lines("artifacts/ratings"):
        topics.setdefault(row["query_id"], set()).update((row["response_a"], row["response_b"]))
    return [[without_markers(texts[name]) for name in sorted(names)] for _topic, names in sorted(topics.items())]


def _made_up() -> list[list[str]]:
    rng = np.random.default_rng(0)
    words = np.array(["the", "of", "water", "cell", "city", "study", "year", "people", "light", "often", "found"])
    return [[" ".join(rng.choice(words, 250)) for _ in range(6)] for _ in range(40)]
