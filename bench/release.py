"""A release of 5 million events of writing and 200,000 responses, while others write: memory, one snapshot, rate.

The rate counts rows. The baseline is `COPY ... TO STDOUT` of tables with the same rows, with gzip at the same level, in
the same run. The release writes the rows three times: as JSON lines, Parquet and CSV. `BENCH_RELEASE_EVENTS` and
`BENCH_RELEASE_RESPONSES` reduce the size. `BENCH_RELEASE_LAYOUT=1` also writes the CrowdRAG-25 layout, which contains a
whole text for each event.
"""

from __future__ import annotations

import os
import tempfile

from bench._study import Study

EVENTS = int(os.environ.get("BENCH_RELEASE_EVENTS", "5000000"))
RESPONSES = int(os.environ.get("BENCH_RELEASE_RESPONSES", "200000"))
MEMORY = 300 * 10**6
RATE = 1 / 3


def run() -> list[dict]:
    """Measure once in a separate data folder."""
    with tempfile.TemporaryDirectory(prefix="crowdrag-bench-") as data:
        environment = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "BROKER_URL"}}
        study = Study(environment | {"CROWDRAG_DATA_DIR": data, "HTTPS": "false"})
        try:
            study.call("migrate", "--verbosity", "0")
            study.call("shell", "-c", f"from bench._release import fill; fill({RESPONSES}, {EVENTS})")
            found = study.measure("bench._release:measure")
        finally:
            study.call("down")
    return list(_rows(found))


def _rows(found: dict) -> list[dict]:
    rows = sum(found["rows"].values())
    ours, theirs = rows / found["seconds"], rows / found["copy_seconds"]
    what = f"a release of {found['rows']['log_events']:,} events and {found['rows']['responses']:,} responses"
    late = found["responses_now"] - found["rows"]["responses"]
    parts = ", ".join(f"{name} until {seconds:.0f} s" for name, seconds in found["parts"].items())
    return [
        {
            "name": f"{what}: 300 MB over the peak memory of its process",
            "ratio": MEMORY / found["bytes"],
            "target": 1,
            "detail": f"{found['bytes'] / 1e6:.0f} MB",
        },
        {
            "name": f"{what}: rows a second over those of COPY through gzip",
            "ratio": ours / theirs,
            "target": RATE,
            "detail": f"{found['seconds']:.1f} s ({found['cpu']:.1f} s of processor), {found['copy_seconds']:.1f} s; "
            f"{ours:,.0f} and {theirs:,.0f} rows a second; {found['held'] / 1e6:,.0f} MB of JSON lines, "
            f"{found['copy_bytes'] / 1e6:,.0f} MB copied; {parts}; load average {os.getloadavg()[0]:.1f}",
        },
        {
            "name": f"{what}: responses that others wrote meanwhile and that are not in it",
            "ratio": float(late if found["rows"]["responses"] == RESPONSES else 0),
            "target": 1,
            "detail": f"{late} written meanwhile",
        },
    ]
