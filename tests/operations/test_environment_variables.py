"""Every variable of the environment that something reads is told of in the guides, and none that nothing reads."""

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


def told() -> str:
    return "".join(path.read_text() for path in sorted((REPOSITORY / "docs/guides").glob("*.md")))


def test_what_is_read_is_told_of() -> None:
    guides = told()
    found = read_somewhere()
    assert len(found) > 40, "the pattern finds what is read"
    assert sorted(name for name in found if f"`{name}" not in guides) == []


def test_the_example_says_nothing_that_nobody_reads() -> None:
    lines = Path(REPOSITORY / "docs/deployment/example.env").read_text().splitlines()
    said = {line.partition("=")[0] for line in lines if line and not line.startswith("#")}
    assert said - read_somewhere() == set()
