"""An index of a million made-up passages and 1,000 questions: time and memory, beside bm25s used as its README says.

Each step runs in a process of its own, so that its peak of memory is that of this step. `BENCH_PASSAGES` sets the
number of passages (1,000,000), `BENCH_SCANNED` how many of them the scan of the corpus reads (50,000); its time grows
with the number of passages, and is extrapolated. `BENCH_PLAIN=0` leaves the plain way out, which takes most memory.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

PASSAGES = int(os.environ.get("BENCH_PASSAGES", "1000000"))
SCANNED = min(int(os.environ.get("BENCH_SCANNED", "50000")), PASSAGES)
QUESTIONS, SCANNED_QUESTIONS, FOUND = 1000, 20, 100
#: Words of a passage and of a question; words are as frequent as Zipf and Mandelbrot say, stop words first.
WORDS, ASKED_WORDS, VOCABULARY, EXPONENT, SHIFT = (60, 100), (5, 12), 1_000_000, 1.15, 2.7
#: What the index of a million may take, and the questions.
MOST_SECONDS, MOST_BYTES, MOST_SECONDS_OF_QUESTIONS = 300.0, 2 << 30, 10.0
NOW = datetime(2026, 1, 1, tzinfo=UTC)
_BLOCK = 10_000


def run() -> list[dict]:
    """Measure every step; the parts of one step are printed as soon as they are there."""
    with tempfile.TemporaryDirectory(prefix="crowdrag-bench-") as data:
        folder = Path(data)
        _write(folder)
        index = _step("build", folder)
        found = _step("search", folder)
        plain = _step("plain", folder) if os.environ.get("BENCH_PLAIN", "1") != "0" else None
        scan = _step("scan", folder)
    share = PASSAGES / 1_000_000
    rows = [
        {
            "name": f"index of {PASSAGES:,} passages: {MOST_SECONDS * share:.0f} s over the time taken",
            "ratio": MOST_SECONDS * share / index["seconds"],
            "target": 1,
            "detail": f"{index['seconds']:.0f} s ({index['cpu']:.0f} s of processor time), one process; "
            f"{index['entries'] / 1e6:.1f} million entries, {index['words']:,} words, {index['bytes'] / 1e6:.0f} MB",
        },
        {
            "name": f"index of {PASSAGES:,} passages: 2 GiB over the peak of memory",
            "ratio": MOST_BYTES / index["peak"],
            "target": 1,
            "detail": f"{index['peak'] / 2**20:.0f} MiB",
        },
        {
            "name": f"{QUESTIONS:,} questions, the best {FOUND}: {MOST_SECONDS_OF_QUESTIONS:.0f} s over the time taken",
            "ratio": MOST_SECONDS_OF_QUESTIONS / found["seconds"],
            "target": 1 if PASSAGES <= 1_000_000 else 0,
            "detail": f"{found['seconds']:.2f} s, opened in {found['opened']:.2f} s, and {found['read']:.2f} s to read "
            f"the passages; {found['peak'] / 2**20:.0f} MiB at most",
        },
        {
            "name": f"the scan of the corpus, {SCANNED_QUESTIONS} questions, over the index, {QUESTIONS:,} questions",
            "ratio": scan["seconds"] * PASSAGES / SCANNED / (found["opened"] + found["seconds"]),
            "target": 10,
            "detail": f"{scan['seconds']:.0f} s for {SCANNED:,} passages, times {PASSAGES / SCANNED:g}; scores differ "
            f"from those of an index of these by {scan['difference']:.1e} at most, relatively",
        },
    ]
    if plain is not None:
        rows.append(
            {
                "name": "bm25s as in its README, all in memory, over the index: peak of memory",
                "ratio": plain["peak"] / index["peak"],
                "target": 1,
                "detail": f"{plain['peak'] / 2**20:,.0f} MiB, {plain['seconds']:.0f} s to index "
                f"({plain['seconds'] / index['seconds']:.2f} of ours), {plain['asked']:.1f} s for the questions",
            }
        )
    return rows


def _step(name: str, folder: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "bench.retrieval", name, str(folder)], capture_output=True, text=True, check=False,
        cwd=Path(__file__).parent.parent,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"{name} failed: {done.stderr[-2000:]}")
    found = json.loads(done.stdout.splitlines()[-1])
    print(f"  {name}: {found}", flush=True)
    return dict(found)


def _write(folder: Path) -> None:
    """Write the corpus, its beginning for the scan, and the questions, with words of their passages."""
    from bm25s.stopwords import STOPWORDS_EN

    rng = np.random.default_rng(0)
    words = np.array([*STOPWORDS_EN, *(_word(n) for n in range(VOCABULARY - len(STOPWORDS_EN)))], dtype=object)
    chances = np.cumsum(1 / (np.arange(VOCABULARY) + SHIFT) ** EXPONENT)
    chances /= chances[-1]
    asked = set(rng.choice(PASSAGES, size=min(QUESTIONS, PASSAGES), replace=False).tolist())
    questions = []
    with (folder / "corpus.jsonl").open("w") as corpus, (folder / "scanned.jsonl").open("w") as scanned:
        for start in range(0, PASSAGES, _BLOCK):
            lengths = rng.integers(WORDS[0], WORDS[1] + 1, min(_BLOCK, PASSAGES - start))
            drawn = words[np.searchsorted(chances, rng.random(int(lengths.sum())))]
            for n, passage in enumerate(np.split(drawn, np.cumsum(lengths)[:-1]), start):
                line = json.dumps({"id": str(n), "title": passage[0], "text": " ".join(passage[1:])}) + "\n"
                corpus.write(line)
                if n < SCANNED:
                    scanned.write(line)
                if n in asked:
                    questions.append(" ".join(rng.choice(passage, size=rng.integers(*ASKED_WORDS), replace=False)))
    (folder / "questions.json").write_text(json.dumps(questions))


def _word(number: int) -> str:
    syllables = [consonant + vowel for consonant in "bcdfghjklmnprstvwz" for vowel in "aeiou"]
    number, word = number + len(syllables), ""
    while number:
        number, rest = divmod(number, len(syllables))
        word += syllables[rest]
    return word


def _measure(name: str, folder: Path) -> dict[str, Any]:
    from analysis.rag.retrieval import engines
    from analysis.rag.retrieval.index_library import IndexLibrary

    corpus, library = folder / "corpus.jsonl", IndexLibrary(folder / "indexes")
    began, processor = time.perf_counter(), time.process_time()
    if name == "build":
        entry = library.build(library.order(engines.read("bm25"), corpus), corpus, now=NOW)
        facts = {"bytes": entry.size, **entry.facts}
    elif name == "search":
        facts = _search(folder, library)
    elif name == "plain":
        facts = _plain(folder)
    else:
        facts = _scan(folder, library)
    seconds, processor = time.perf_counter() - began, time.process_time() - processor
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return {"seconds": seconds, "cpu": processor, "peak": peak, **facts}


def _questions(folder: Path) -> list[str]:
    return list(json.loads((folder / "questions.json").read_text()))


def _search(folder: Path, library: Any) -> dict[str, Any]:
    from analysis.rag.retrieval import engines

    corpus = folder / "corpus.jsonl"
    order = library.order(engines.read("bm25"), corpus)
    began = time.perf_counter()
    with library.open(order, corpus) as (documents, searcher):
        opened = time.perf_counter()
        found = searcher.search(_questions(folder), documents, FOUND)
        searched = time.perf_counter()
        for places in found.places:
            documents.documents([place for place in places.tolist() if place >= 0])
    return {
        "opened": opened - began, "seconds": searched - opened, "read": time.perf_counter() - searched,
        "found": float((found.places >= 0).mean()),
    }  # fmt: skip


def _plain(folder: Path) -> dict[str, Any]:
    """Index the corpus as the README of bm25s does: a list of texts, tokenized and indexed as a whole, and saved."""
    import bm25s
    import Stemmer

    stemmer, began = Stemmer.Stemmer("english"), time.perf_counter()
    with (folder / "corpus.jsonl").open() as file:
        texts = ["{title} {text}".format(**json.loads(line)) for line in file]
    retriever = bm25s.BM25(k1=1.5, b=0.75)
    retriever.index(bm25s.tokenize(texts, stopwords="en", stemmer=stemmer, show_progress=False), show_progress=False)
    retriever.save(folder / "plain")
    seconds = time.perf_counter() - began
    began = time.perf_counter()
    tokens = bm25s.tokenize(_questions(folder), stopwords="en", stemmer=stemmer, show_progress=False)
    retriever.retrieve(tokens, k=FOUND, show_progress=False)
    return {"seconds": seconds, "asked": time.perf_counter() - began}


def _scan(folder: Path, library: Any) -> dict[str, Any]:
    from analysis.rag.collections.corpus import Corpus
    from analysis.rag.retrieval import engines
    from analysis.rag.retrieval.bm25 import BM25

    path, questions = folder / "scanned.jsonl", _questions(folder)[:SCANNED_QUESTIONS]
    began = time.perf_counter()
    with Corpus.open(path) as corpus:
        scanned = BM25().search(questions, corpus, FOUND)
    seconds = time.perf_counter() - began
    order = library.order(engines.read("bm25"), path)
    library.build(order, path, now=NOW)
    with library.open(order, path) as (corpus, searcher):
        found = searcher.search(questions, corpus, FOUND)
    if not np.array_equal(np.isnan(found.scores), np.isnan(scanned.scores)):
        raise AssertionError("the scan and the index find different numbers of passages")
    return {"seconds": seconds, "difference": float(np.nanmax(np.abs(found.scores / scanned.scores - 1)))}


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1], Path(sys.argv[2]))))
