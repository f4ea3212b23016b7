"""Names of modules and variables follow the rules of CONTRIBUTING as far as a test can see it."""

import ast
import re
import subprocess
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
APPS = ("crowdrag", "writing", "annotation", "analysis")
#: File names that every feature may have.
STANDARD = {
    "__init__", "models", "services", "queries", "forms", "views", "api", "urls", "tasks", "apps", "admin", "enums",
    "tables", "figures", "compute", "experiment", "stages", "parameters", "types", "errors", "costs", "erasure",
    "methods_paragraph", "problems", "formats",
}  # fmt: skip
#: Words that end in -ing and are nouns of the field.
NOUNS = {"judging", "planning", "polling", "screening", "string", "training", "wording", "writing"}
#: Names that say nothing of what they hold, and how many functions still use each. These numbers only fall.
VAGUE = {
    "found": 4, "said": 3, "told": 3, "mine": 1, "own": 1, "there": 0, "given": 1, "made": 1, "place": 5, "wanted": 2,
    "asked": 4,
}  # fmt: skip


def modules() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", *APPS], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = (Path(line) for line in listed.splitlines() if line.endswith(".py"))
    return [path for path in paths if "migrations" not in path.parts and (ROOT / path).exists()]


def app_of(path: Path) -> str:
    """The app: of `crowdrag`, which is several, the package below it."""
    return "/".join(path.parts[:2]) if path.parts[0] == "crowdrag" else path.parts[0]


def test_modules_are_nouns() -> None:
    gerunds = [
        str(path)
        for path in modules()
        for word in path.stem.split("_")
        if re.fullmatch(r"[a-z]+ing", word) and word not in NOUNS
    ]
    assert gerunds == []


def test_no_two_modules_of_an_app_have_one_name() -> None:
    named = [path for path in modules() if path.stem not in STANDARD and "commands" not in path.parts]
    names = Counter((app_of(path), path.stem) for path in named)
    assert [f"{app}: {name}" for (app, name), n in names.items() if n > 1] == []


def test_vague_names_get_fewer() -> None:
    counts: Counter[str] = Counter()
    for path in modules():
        for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in VAGUE:
                counts[node.id] += 1
    assert {name: counts[name] for name in VAGUE if counts[name] > VAGUE[name]} == {}
