"""All statistics of judgments at 100 times the paper's size, and those of texts at 10: time linear, within memory.

Each size runs in a separate process, so that its peak memory can be measured. Times are processor times of one process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

from bench._study import peak

SMALL, LARGE = 10, 100
TEXTS_SMALL, TEXTS_LARGE = 1, 10
LIMIT = 4 * 2**30
#: Ten times the data exceed the processor's caches, so a little more than ten times the time still counts as linear.
GROWTH = 1.5


def run() -> list[dict]:
    """Measure judgments alone, then with texts."""
    return [
        *_rows("judgments", _measured("judgments", SMALL), _measured("judgments", LARGE)),
        *_rows("judgments and texts", _measured("texts", TEXTS_SMALL), _measured("texts", TEXTS_LARGE)),
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

    began = time.process_time()
    results = compute(inputs, settings=AnalysisSettings(), seed=0, texts=texts, report=report)
    report(0, 0, "")
    return {
        "seconds": time.process_time() - began,
        "bytes": peak(),
        "judgments": results.summary["judgments"],
        "families": spent,
    }


if __name__ == "__main__":
    print(json.dumps(_work(sys.argv[1], float(sys.argv[2]))))
