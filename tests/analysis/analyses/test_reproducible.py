"""The same inputs, parameters and seed give the same bytes: in other processes, with other hashes and threads."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.extended
ROOT = Path(__file__).parents[3]
PROGRAM = """
import django, hashlib, json
django.setup()
from analysis.methods.registry import compute
from analysis.methods.settings import AnalysisSettings
from tests.analysis.analyses import synthetic_inputs

inputs = synthetic_inputs.with_texts(synthetic_inputs.study(0.08))
how = AnalysisSettings(resamples=50, restarts=3, refine=2)
found = compute(inputs, settings=how, seed=1, texts=synthetic_inputs.Texts(inputs, words=80))
for name, rows in found.tables.items():
    print(name, hashlib.sha256(json.dumps(rows).encode()).hexdigest())
print("digest", inputs.digest)
"""


def test_tables_are_the_same_bytes_whatever_the_process():
    running = []
    for seed, threads in (("1", "1"), ("2", "2")):
        environment = os.environ | {
            "DJANGO_SETTINGS_MODULE": "crowdrag.settings",
            "PYTHONHASHSEED": seed,
            "OMP_NUM_THREADS": threads,
            "OPENBLAS_NUM_THREADS": threads,
        }
        running.append(
            subprocess.Popen(
                [sys.executable, "-c", PROGRAM], env=environment, cwd=ROOT, stdout=subprocess.PIPE, text=True
            )
        )
    one, other = (process.communicate(timeout=300)[0].splitlines() for process in running)
    assert [process.returncode for process in running] == [0, 0]
    assert len(one) > 20
    assert one == other
