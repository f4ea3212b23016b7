"""Each measurement can be run by its name, and bench/README.md describes it."""

import ast
from pathlib import Path

import pytest

import bench
from bench.__main__ import measurements

FOLDER = Path(bench.__file__).parent


def source_of(name: str) -> Path:
    """Return the file with the function run of a measurement, which may be a package."""
    module = FOLDER / f"{name}.py"
    return module if module.exists() else FOLDER / name / "__init__.py"


@pytest.mark.parametrize("name", measurements())
def test_measurement_runs_by_its_name(name):
    functions = [node.name for node in ast.parse(source_of(name).read_text()).body if isinstance(node, ast.FunctionDef)]
    assert "run" in functions


def test_readme_describes_every_measurement():
    readme = (FOLDER / "README.md").read_text()
    assert [name for name in measurements() if f"| `{name}` |" not in readme] == []
