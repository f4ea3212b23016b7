"""The import of the CrowdRAG-25 sample: time, memory, and what its writing logs take in the database.

It runs the researcher's command in a separate data folder; the command starts the database and broker itself. Without
CROWDRAG_DATA, nothing is measured.
"""

from __future__ import annotations

import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SECONDS, BYTES, SHARE = 60, 2**30, 0.05
COMMAND = [sys.executable, "-c", "from crowdrag.runtime.cli import main; main()"]
STORED = (
    "from django.db import connection; c = connection.cursor(); "
    "c.execute(\"SELECT sum(pg_total_relation_size(t::regclass)) FROM unnest(ARRAY['writing_logbatch',"
    "'writing_writinglog']) AS t\"); print('stored', c.fetchone()[0])"
)


def run() -> list[dict]:
    """Import once into an empty system."""
    root = os.environ.get("CROWDRAG_DATA")
    if not root:
        print("  skipped: CROWDRAG_DATA is not set")
        return []
    folder = Path(root) / "crowdrag25"
    with tempfile.TemporaryDirectory(prefix="crowdrag-bench-") as data:
        environment = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "BROKER_URL"}}
        environment |= {"CROWDRAG_DATA_DIR": data, "HTTPS": "false"}
        try:
            _call(environment, "migrate", "--verbosity", "0")
            began = time.perf_counter()
            _call(environment, "import", "crowdrag25", str(folder), "--study", "bench")
            seconds = time.perf_counter() - began
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
            said = _call(environment, "shell", "-c", STORED)
        finally:
            _call(environment, "down")
    stored = int(said.rsplit("stored", 1)[1])
    snapshots, text = _snapshots(folder)
    return [
        {
            "name": f"import of the sample with its {snapshots:,} snapshots: {SECONDS} s over the time taken",
            "ratio": SECONDS / seconds,
            "target": 1,
            "detail": f"{seconds:.1f} s, starting and stopping the stores included",
        },
        {
            "name": "import of the sample: 1 GB over the peak memory of the largest process",
            "ratio": BYTES / peak,
            "target": 1,
            "detail": f"{peak / 2**20:.0f} MB",
        },
        {
            "name": "writing logs in the database: 5 % of the snapshots' text over what is stored",
            "ratio": SHARE * text / stored,
            "target": 1,
            "detail": f"{stored / 1e6:.2f} MB with indexes and overhead, of {text / 1e6:.1f} MB: {stored / text:.2%}",
        },
    ]


def _call(environment: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [*COMMAND, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parent.parent,
    )
    if done.returncode and arguments != ("down",):
        raise RuntimeError(f"crowdrag {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def _snapshots(folder: Path) -> tuple[int, int]:
    with gzip.open(folder / "raw/study1_responses_human.jsonl.gz", "rt") as lines:
        sizes = [len(json.loads(line)["text"].encode()) for line in lines]
    return len(sizes), sum(sizes)
