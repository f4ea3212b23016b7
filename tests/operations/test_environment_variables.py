"""Which variables of the environment something reads; the example file of a deployment sets no other."""

import re
from pathlib import Path

from crowdrag.runtime.data_folder import REPOSITORY

PACKAGES = ("crowdrag", "annotation", "writing", "analysis")
READ = re.compile(
    r"""(?: \benv(?:\.\w+)?\( | \benviron(?:\.get\(|\[) | \brequired\( | \bgetenv\( ) \s* ["']([A-Z][A-Z0-9_]+)["']""",
    re.VERBOSE,
)
# Other programs' own: where Python looks for modules, which browser the tests drive.
OTHERS = {"PYTHONPATH", "CHROMIUM", "PLAYWRIGHT_BROWSERS_PATH", "PYTEST_XDIST_WORKER", "DJANGO_SETTINGS_MODULE"}


def read_somewhere() -> set[str]:
    found: set[str] = set()
    for package in PACKAGES:
        for path in (REPOSITORY / package).rglob("*.py"):
            found |= set(READ.findall(path.read_text()))
    return found - OTHERS


def test_the_pattern_finds_what_is_read() -> None:
    assert len(read_somewhere()) > 40


def test_the_example_says_nothing_that_nobody_reads() -> None:
    lines = Path(REPOSITORY / "docs/deployment/example.env").read_text().splitlines()
    said = {line.partition("=")[0] for line in lines if line and not line.startswith("#")}
    assert said - read_somewhere() == set()
