"""Memory and time of an uplift collection of the size of Natural Questions, from its file to what training is given.

Nothing is generated; labels are synthetic. The steps are those of a run: read, digest, split, plan, compare documents.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

#: Published sizes of train, dev and test (uplift_rag, Table 5), with ten documents of 100 words each.
PARTS = {"train": 79_168, "dev": 8_757, "test": 3_610}
DOCUMENTS, WORDS, VOCABULARY = 10, 100, 20_000
#: Share of training documents that are near-copies of test documents, with some words changed.
COPIES = 0.01
MOST_BYTES, MOST_SECONDS = 4 << 30, 600


def run() -> list[dict]:
    """Measure in a separate process, so that its peak memory is that of this work."""
    with tempfile.TemporaryDirectory(prefix="crowdrag-bench-") as data:
        own = {"CROWDRAG_DATA_DIR": data, "HTTPS": "false", "DJANGO_SETTINGS_MODULE": "crowdrag.settings"}
        # No database is used and nothing is signed or encrypted; the settings only need these keys to exist.
        keys = dict.fromkeys(("SECRET_KEY", "CROWDRAG_PSEUDONYM_KEY", "CROWDRAG_IDENTITY_KEY"), "bench")
        done = subprocess.run(
            [sys.executable, "-m", "bench.uplift_size"], capture_output=True, text=True, check=True,
            env={**os.environ, **keys, **own},
        )  # fmt: skip
    found = json.loads(done.stdout.splitlines()[-1])
    total = sum(PARTS.values())
    return [
        {
            "name": f"{MOST_BYTES >> 30} GiB over the peak of memory, {total:,} questions of {DOCUMENTS} documents",
            "ratio": MOST_BYTES / found["peak"],
            "target": 1.0,
            "detail": f"{found['peak'] / 2**30:.2f} GiB; the file has {found['file'] / 2**30:.2f} GiB",
        },
        {
            "name": f"{MOST_SECONDS} s over reading, digest, division, plan and comparing documents",
            "ratio": MOST_SECONDS / sum(found["seconds"].values()),
            "target": 1.0,
            "detail": ", ".join(f"{name} {value:.0f} s" for name, value in found["seconds"].items())
            + f"; {found['left_out']:,} near-duplicates left out",
        },
    ]


def _measure() -> dict[str, Any]:
    from analysis.experiments import question_sets
    from analysis.experiments.uplift_rag import questions, stages
    from analysis.experiments.uplift_rag.parameters import UpliftRagParameters
    from analysis.rag.collections import qa
    from analysis.rag.uplift_rag.deduplication import KnownTexts, without
    from analysis.rag.uplift_rag.uplift_labels import LabelledQuery

    own, seconds = UpliftRagParameters(), {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "nq.jsonl"
        with path.open("w", encoding="utf-8") as file:
            file.writelines(_lines())
        size = path.stat().st_size
        before = time.perf_counter()

        def took(name: str) -> None:
            nonlocal before
            now = time.perf_counter()
            seconds[name], before = now - before, now

        collection = qa.read(path)
        took("read")
        question_sets.digest(collection)
        took("digest")
        where = questions.fold_of(collection, own)
        units = sum(len([*stage.units(collection, own)]) for stage in stages.STAGES[::2])
        took(f"plan of {units:,} units")
        tested = KnownTexts(each for each in collection.queries if where[each.id] == questions.TEST)
        left_out = 0
        for query in collection.queries:
            if where[query.id] != questions.TEST:
                documents = tuple(query.documents)
                one = without(LabelledQuery(query, documents, "", ("",) * len(documents)), tested.__contains__)
                left_out += len(documents) - len(one.documents)
        took("compare")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"peak": peak, "file": size, "seconds": seconds, "left_out": left_out}


def _lines() -> Iterator[str]:
    rng = np.random.default_rng(0)
    words = [f"word{i}" for i in range(VOCABULARY)]
    copied: list[str] = []
    for part in reversed(PARTS):
        for number in range(PARTS[part]):
            documents = []
            for place, drawn in enumerate(rng.zipf(1.3, size=(DOCUMENTS, WORDS)) % VOCABULARY):
                text = " ".join(words[each] for each in drawn.tolist())
                if part == "test":
                    copied.append(text)
                elif rng.random() < COPIES:
                    text = f"some words before {copied[rng.integers(len(copied))]}"
                documents.append({"id": f"{place}", "text": text})
            row = {"id": f"{part}_{number}", "question": f"who was the {number}th of them", "split": part}
            yield json.dumps(row | {"golden_answers": ["an answer"], "documents": documents}) + "\n"


if __name__ == "__main__":
    import django

    django.setup()
    print(json.dumps(_measure()))
