"""An update after 100 new judgments against a full analysis of the same: times faster, and the share of equal labels.

Measured on the sample (rows are read and everything is computed; the full analysis also covers texts) and on a
synthetic study of the paper's size. The last 100 judgments are held out at first. Processor time excludes other work on
the machine.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from bench._study import STUDY, sample

NEW = 100
FASTER, EQUAL = 20, 0.995
REPEATS = 3


def run() -> list[dict]:
    """Measure both studies."""
    with sample() as study:
        if study is None:
            print("  the sample is skipped: CROWDRAG_DATA is not set")
            return _rows("synthetic, the paper's size", synthetic_study())
        found = _rows("the sample", study.measure("bench.analysis_live:sample_study"))
        return found + _rows("synthetic, the paper's size", study.measure("bench.analysis_live:synthetic_study"))


def _rows(name: str, found: dict) -> list[dict]:
    return [
        {
            "name": f"an update after {NEW} new judgments, times faster than a full analysis: {name}",
            "ratio": found["full"] / found["update"],
            "target": FASTER,
            "detail": f"{found['full']:.2f} s / {found['update']:.3f} s of processor time, "
            f"{found['judgments']:,} judgments; load {os.getloadavg()[0]:.1f}",
        },
        {
            "name": f"labels of the update equal to the full analysis's, of {EQUAL:.1%} asked: {name}",
            "ratio": found["equal"] / EQUAL,
            "target": 1,
            "detail": f"{found['equal']:.2%} of {found['labels']:,}; equal tables: {', '.join(found['tables'])}",
        },
    ]


def sample_study() -> dict:
    """Measure the sample, read from the database each time."""
    from analysis.inputs import queries
    from analysis.inputs.texts import Texts
    from crowdrag.studies.models import Study

    study = Study.objects.get(slug=STUDY)
    return _measured(lambda: queries.load(study), lambda inputs: Texts(study, inputs))


def synthetic_study() -> dict:
    """Measure a synthetic study with texts."""
    from tests.analysis.analyses import synthetic_inputs

    whole = synthetic_inputs.with_texts(synthetic_inputs.study())
    texts = list(synthetic_inputs.Texts(whole))
    return _measured(lambda: whole, lambda _inputs: texts)


def _measured(load: Callable[[], Any], texts: Callable[[Any], Any]) -> dict:
    from analysis.inputs.arrays import unpack
    from analysis.methods.registry import compute
    from analysis.methods.reusable_fits import ReusableFits
    from analysis.methods.settings import AnalysisSettings
    from tests.analysis.analyses import synthetic_inputs

    settings = AnalysisSettings()
    before = synthetic_inputs.without_last(load(), NEW)
    base = compute(before, settings=settings, seed=0, texts=texts(before))
    packed = before.pack()

    def full() -> Any:
        inputs = load()
        return compute(inputs, settings=settings, seed=0, texts=texts(inputs)), inputs.pack()

    def update() -> Any:
        earlier = ReusableFits(unpack(packed), base.fits, base.tables)
        inputs = load()
        return compute(inputs, settings=settings, seed=0, earlier=earlier), inputs.pack()

    (whole, _), slow = _processor(full, 1)
    (part, _), quick = _processor(update, REPEATS)
    labels = [
        row["label"] == other["label"] for row, other in zip(part.tables["gold"], whole.tables["gold"], strict=True)
    ]
    return {
        "full": slow,
        "update": quick,
        "equal": sum(labels) / len(labels),
        "labels": len(labels),
        "judgments": part.summary["judgments"],
        "tables": [name for name, rows in part.tables.items() if rows == whole.tables[name]],
    }


def _processor(work: Callable[[], Any], repeats: int) -> tuple[Any, float]:
    """Return the result of the work and the shortest of its processor times."""
    times = []
    for _ in range(repeats):
        began = time.process_time()
        found = work()
        times.append(time.process_time() - began)
    return found, min(times)
