"""The whole analysis of the sample: all tables and figures, 1,000 resamples, without BERTScore; by family.

The run is that of a worker: read rows, compute and store tables, then draw every figure. Without CROWDRAG_DATA, nothing
is measured.
"""

from __future__ import annotations

import os
import time

from bench._study import STUDY, peak, sample

SECONDS, BYTES = 60, 1.5 * 2**30


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
        f"{found['seconds']:.1f} s, of which {found['processor']:.1f} s of this process's processor; "
        f"{found['tables']} tables, {found['charts']} figures, {found['resamples']} resamples, {os.cpu_count()} cores, "
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
            "name": "the whole analysis of the sample: 1.5 GB over the peak memory of the process",
            "ratio": BYTES / found["bytes"],
            "target": 1,
            "detail": f"{found['bytes'] / 2**20:.0f} MB",
        },
    ]


def analyse() -> dict:
    """Analyse the imported study and draw its figures; return the duration of each part."""
    from analysis.analyses import services
    from analysis.figures import figure
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

    began, used = time.perf_counter(), time.process_time()
    run = services.start(study=study)
    unit = leases.claim(worker="bench", run=run)
    assert unit is not None
    effect = kinds.get(run.kind).work(kinds.Work(run, unit, report, lambda _effect: None))
    report(0, 0, "Storing the tables")
    leases.complete(unit, effect=effect, total=1, message="")
    report(0, 0, "Drawing the figures")
    drawn = 0
    for name in figure.FIGURES:
        try:
            figure.render(study, run, name, "light", "svg")
        except figure.EmptyChartError:
            continue
        drawn += 1
    report(0, 0, "")
    return {
        "seconds": time.perf_counter() - began,
        "processor": time.process_time() - used,
        "bytes": peak(),
        "families": spent,
        "tables": len(run_tables.names(run)),
        "charts": drawn,
        "resamples": run.parameters["resamples"],
    }
