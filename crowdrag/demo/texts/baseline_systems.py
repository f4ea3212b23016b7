"""Two small extractive RAG systems, which the demo study compares with human writers.

They represent imported responses and are deliberately simple: each copies whole sentences, so that their responses are
easy to check. `python -m crowdrag.demo.texts.baseline_systems` regenerates systems.jsonl from topics.jsonl.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
K1, B = 1.2, 0.75  # common parameters of BM25


@dataclass(frozen=True)
class Statement:
    """A sentence and the 0-based indices of the passages that it cites."""

    text: str
    citations: tuple[int, ...]


def sentences(text: str) -> list[str]:
    """Split a text after full stops, question and exclamation marks before a space (there are no abbreviations)."""
    return re.split(r"(?<=[.!?])\s+", text.strip())


def bm25_extract(query: str, passages: Sequence[str], *, depth: int = 12, length: int = 8) -> list[Statement]:
    """Select the best sentence by BM25 of each of the first `depth` passages; keep the `length` best, in rank order.

    Document frequencies and mean length are computed from the sentences of these passages. Ties go to the earlier
    sentence.
    """
    pool = [(rank, sentence) for rank, text in enumerate(passages[:depth]) for sentence in sentences(text)]
    bags = [Counter(_words(sentence)) for _, sentence in pool]
    mean = sum(bag.total() for bag in bags) / len(bags)
    idf = {}
    for word in set(_words(query)):
        holding = sum(word in bag for bag in bags)
        idf[word] = math.log(1 + (len(bags) - holding + 0.5) / (holding + 0.5))

    best: dict[int, tuple[float, str]] = {}
    for (rank, sentence), bag in zip(pool, bags, strict=True):
        norm = K1 * (1 - B + B * bag.total() / mean)
        score = sum(weight * bag[word] * (K1 + 1) / (bag[word] + norm) for word, weight in idf.items())
        if rank not in best or score > best[rank][0]:
            best[rank] = (score, sentence)
    kept = sorted(best, key=lambda rank: (-best[rank][0], rank))[:length]
    return [Statement(text=best[rank][1], citations=(rank,)) for rank in sorted(kept)]


def lead_summary(passages: Sequence[str], *, length: int = 10) -> list[Statement]:
    """Take the first sentence of each of the first `length` passages."""
    return [Statement(text=sentences(text)[0], citations=(rank,)) for rank, text in enumerate(passages[:length])]


def responses(topics: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the records of systems.jsonl for the records of topics.jsonl."""
    records = []
    for topic in topics:
        texts = [passage["text"] for passage in topic["passages"]]
        for run, statements in (
            ("bm25-extract", bm25_extract(topic["query"], texts)),
            ("lead-summary", lead_summary(texts)),
        ):
            parts = [{"text": statement.text, "citations": list(statement.citations)} for statement in statements]
            records.append({"topic": topic["topic"], "run": run, "style": "essay", "statements": parts})
    return records


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z]+", text.lower())


if __name__ == "__main__":
    _topics = [json.loads(line) for line in (FOLDER / "topics.jsonl").read_text("utf-8").splitlines()]
    _lines = [json.dumps(record, ensure_ascii=False) for record in responses(_topics)]
    (FOLDER / "systems.jsonl").write_text("\n".join(_lines) + "\n", "utf-8")
