"""The whole analysis of the sample, files included: 1,000 resamples, without BERTScore; by family.

The run is that of a worker: read rows, compute and store tables. Then the files of `crowdrag analyse --out` are
written; those of `--with all` are measured too, but not part of the whole. Without CROWDRAG_DATA, nothing is measured.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from pathlib import Path

from bench._study import STUDY, peak, sample

SECONDS, BYTES = 12, 1.5 * 2**30


def run() -> list[dict]:
    """Analyse once, in a separate process."""
    with sample() as study:
        if study is None:
            print("  skipped: CROWDRAG_DATA is not set")
            return []
        found = study.measure("bench.analysis_whole:analyse")
    for title, seconds in sorted(found["families"].items(), key=lambda item: -item[1]):
        print(f"    {seconds:7.2f} s  {title}")
    detail = (
        f"{found['seconds']:.1f} s, and {found['processor']:.1f} s of the processors; "
        f"{found['tables']} tables, {found['files']} files, {found['resamples']} resamples, {os.cpu_count()} cores, "
        f"all {found['all_files']} files in {found['all_files_seconds']:.1f} s more, "
        f"load {os.getloadavg()[0]:.1f}"
    )
    return [
        {
            "name": f"the whole analysis of the sample: {SECONDS} s over the time taken",
            "ratio": SECONDS / found["seconds"],
            "target": 1,
            "detail": detail,
        },
        {
            "name": "the whole analysis of the sample: 1.5 GB over the peak memory of the largest process",
            "ratio": BYTES / found["bytes"],
            "target": 1,
            "detail": f"{found['bytes'] / 2**20:.0f} MB",
        },
    ]


def analyse() -> dict:
    """Analyse the imported study and write its files; return the duration of each part."""
    from analysis.analyses import services
    from analysis.reports import exports
    from analysis.tables import run_tables
    from crowdrag.jobs import kinds, leases
    from crowdrag.studies.models import Study

    study = Study.objects.get(slug=STUDY)
    spent: dict[str, float] = {}
    at = {"title": "Reading the judgments", "since": time.perf_counter()}

    def report(_done: int, _total: int, message: str) -> None:
        now = time.perf_counter()
        spent[at["title"]] = spent.get(at["title"], 0.0) + now - at["since"]
        at.update(title=message.partition(":")[0], since=now)

    began, used = time.perf_counter(), _processor()
    run = services.start(study=study)
    unit = leases.claim(worker="bench", run=run)
    assert unit is not None
    effect = kinds.get(run.kind).work(kinds.Work(run, unit, report, lambda _effect: None))
    report(0, 0, "Storing the tables")
    leases.complete(unit, effect=effect, total=1, message="")
    report(0, 0, "Writing the files")
    run.refresh_from_db()
    with tempfile.TemporaryDirectory(prefix="crowdrag-bench-") as folder:
        files = len(exports.write(run, Path(folder), extras=()))
    report(0, 0, "")
    seconds, processor, drawing = time.perf_counter() - began, _processor() - used, time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="crowdrag-bench-") as folder:
        all_files = len(exports.write(run, Path(folder)))
    return {
        "seconds": seconds,
        "processor": processor,
        "all_files": all_files,
        "all_files_seconds": time.perf_counter() - drawing,
        "bytes": max(peak(), _peak_of_children()),
        "families": spent,
        "tables": len(run_tables.names(run)),
        "files": files,
        "resamples": run.parameters["resamples"],
    }


def _processor() -> float:
    """Processor time of this process and of those that it started and that have ended, in seconds."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _peak_of_children() -> int:
    """Peak memory of the largest process that this one started, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit
