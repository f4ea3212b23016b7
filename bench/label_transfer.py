"""Labels by a judge trained on the sample's own votes: how well it predicts votes on topics that it has not seen.

Surface features of the responses (`analysis.text.surface`) and a pairwise regression, cross-validated by topic.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from analysis.stats.pairwise_regression import transfer
from analysis.text.surface import features
from bench import _votes


def run() -> list[dict]:
    """Compare the log loss of held-out votes with that of the labels' shares alone; and labels with majorities."""
    folder = Path(os.environ.get("CROWDRAG_DATA", "")) / "crowdrag25" / "raw"
    if not folder.exists():
        return []
    votes = _votes.load()
    texts = _texts(folder)
    task = dict(zip(votes.item.tolist(), votes.task, strict=True))
    sides = [task[item].split("_") for item in range(len(votes.topic))]
    known = {name: np.array(features(*texts[name])) for pair in sides for name in pair}
    difference = np.array([known[left] - known[right] for left, right in sides])
    rows = []
    for d, dimension in enumerate(_votes.DIMENSIONS):
        counts = np.zeros((len(sides), 3))
        np.add.at(counts, (votes.item, votes.label[:, d]), 1)
        done = transfer(difference, counts, votes.topic, difference, votes.topic, rng=np.random.default_rng(d))
        clear = np.abs(counts[:, 0] - counts[:, 2]) >= 1
        right = (done.chances[:, 0] > done.chances[:, 2]) == (counts[:, 0] > counts[:, 2])
        rows.append(
            {
                "name": f"{dimension}: log loss of the shares of labels over that of the trained judge",
                "ratio": done.baseline / done.loss,
                "target": 1.0,
                "detail": f"{done.loss:.4f} against {done.baseline:.4f}; prefers the same response as most people in "
                f"{right[clear].mean():.1%} of {int(clear.sum())} pairs",
            }
        )
    return rows


def _texts(folder: Path) -> dict[str, tuple[str, str]]:
    """Return the text and the query of each response; of people, the last snapshot is the text."""
    query = {row["topic"]: row["query"] for row in _lines(folder / "study1_retrieval.jsonl.gz")}
    texts = {}
    for name in ("llm", "human"):
        for row in _lines(folder / f"study1_responses_{name}.jsonl.gz"):
            texts[row["response"]] = (row["text"], query[row["topic"]])
    return texts


def _lines(path: Path) -> Iterator[dict]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)
