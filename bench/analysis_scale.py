"""All statistics of judgments at 100 times the paper's size, and those of texts at 10: time linear, within memory.

An update after 1,000 new judgments is measured at 20 times the paper's size, a million judgments. Judgments are made as
arrays, as a run has them after reading. Each size runs in a separate process, so that its peak memory can be measured.
Times are processor times of one process. Environment variable: CROWDRAG_BENCH_TIMES, the larger size (100; 212 are ten
million judgments).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from bench._study import peak

if TYPE_CHECKING:
    from analysis.inputs.arrays import Inputs
    from analysis.methods.registry import Report

SMALL, LARGE = 10, float(os.environ.get("CROWDRAG_BENCH_TIMES", "100"))
UPDATED, NEW, UPDATE_SECONDS = 21.2, 1000, 10
TEXTS_SMALL, TEXTS_LARGE = 1, 10
LIMIT = 4 * 2**30
#: Ten times the data exceed the processor's caches, so a little more than ten times the time still counts as linear.
GROWTH = 1.5


def run() -> list[dict]:
    """Measure judgments alone, then with texts, then an update."""
    return [
        *_rows("judgments", _measured("judgments", SMALL), _measured("judgments", LARGE)),
        *_rows("judgments and texts", _measured("texts", TEXTS_SMALL), _measured("texts", TEXTS_LARGE)),
        _update_row(_measured("update", UPDATED)),
    ]


def _rows(what: str, small: dict, large: dict) -> list[dict]:
    growth = large["seconds"] / small["seconds"] / (large["judgments"] / small["judgments"])
    for title, seconds in sorted(large["families"].items(), key=lambda item: -item[1])[:8]:
        print(f"    {seconds:7.1f} s  {title}")
    about = f"{large['judgments']:,} judgments"
    return [
        {
            "name": f"all statistics of {what}, {about}: {GROWTH} over the growth of the time per judgment",
            "ratio": GROWTH / growth,
            "target": 1,
            "detail": f"{small['seconds']:.1f} s and {large['seconds']:.1f} s, {growth:.2f} times; "
            f"load {os.getloadavg()[0]:.1f}",
        },
        {
            "name": f"all statistics of {what}, {about}: 4 GB over the peak memory of the process",
            "ratio": LIMIT / large["bytes"],
            "target": 1,
            "detail": f"{large['bytes'] / 2**30:.2f} GB",
        },
    ]


def _update_row(found: dict) -> dict:
    for title, seconds in sorted(found["families"].items(), key=lambda item: -item[1])[:8]:
        print(f"    {seconds:7.1f} s  {title}")
    return {
        "name": f"an update after {NEW:,} new judgments of {found['judgments']:,}: {UPDATE_SECONDS} s over its time",
        "ratio": UPDATE_SECONDS / found["seconds"],
        "target": 1,
        "detail": f"{found['seconds']:.1f} s; the full analysis {found['full']:.1f} s; "
        f"tables that differ from those of a full analysis: {', '.join(found['different']) or 'none'}",
    }


def _measured(what: str, size: float) -> dict:
    done = subprocess.run(
        [sys.executable, "-m", __name__, what, str(size)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def _work(what: str, size: float) -> dict:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crowdrag.settings")
    import django

    django.setup()
    from analysis.methods.registry import compute
    from analysis.methods.settings import AnalysisSettings
    from tests.analysis.analyses import synthetic_inputs

    inputs = synthetic_inputs.study(size)
    texts: object = ()
    if what == "texts":
        inputs = synthetic_inputs.with_texts(inputs)
        texts = synthetic_inputs.Texts(inputs)
    spent: dict[str, float] = {}
    at = {"title": "", "since": time.process_time()}

    def report(_done: int, _total: int, message: str) -> None:
        now = time.process_time()
        spent[at["title"]] = spent.get(at["title"], 0.0) + now - at["since"]
        at.update(title=message.partition(":")[0], since=now)

    if what == "update":
        return _updated(inputs, report) | {"families": spent}
    began = time.process_time()
    results = compute(inputs, settings=AnalysisSettings(), seed=0, texts=texts, report=report)
    report(0, 0, "")
    return {
        "seconds": time.process_time() - began,
        "bytes": peak(),
        "judgments": results.summary["judgments"],
        "families": spent,
    }


def _updated(inputs: Inputs, report: Report) -> dict:
    """Analyse the judgments without the last ones, update, and compare with a full analysis of all of them."""
    from analysis.inputs.arrays import unpack
    from analysis.methods.registry import compute
    from analysis.methods.reusable_fits import ReusableFits
    from analysis.methods.settings import AnalysisSettings
    from tests.analysis.analyses import synthetic_inputs

    settings = AnalysisSettings()
    before = synthetic_inputs.without_last(inputs, NEW)
    base = compute(before, settings=settings, seed=0)
    packed, stored = before.pack(), json.dumps(base.fits)
    began = time.process_time()
    earlier = ReusableFits(unpack(packed), json.loads(stored))
    update = compute(inputs, settings=settings, seed=0, earlier=earlier, report=report)
    report(0, 0, "")
    inputs.pack()
    seconds, began = time.process_time() - began, time.process_time()
    full = compute(inputs, settings=settings, seed=0)
    return {
        "seconds": seconds,
        "full": time.process_time() - began,
        "judgments": update.summary["judgments"],
        "different": [name for name, rows in update.tables.items() if rows != full.tables[name] and name != "mace"],
    }


if __name__ == "__main__":
    print(json.dumps(_work(sys.argv[1], float(sys.argv[2]))))
