"""The golden files: how outputs are kept in `expected/`, compared with what is there, and accepted."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.golden.comparison import MISSING, differences

EXPECTED = Path(__file__).parent / "expected"
ACCEPT = "--accept-golden"
HOW_TO_ACCEPT = f"If this is meant, run `make golden` and commit what it writes to {EXPECTED.name}/."
#: JSON that takes no more columns than this stands on one line.
WIDTH = 120

#: Outputs by their path: a text for .csv, .tex, .txt and the like, anything else for .json.
Outputs = Mapping[str, Any]


def compare(study: str, part: str, outputs: Outputs) -> list[str]:
    """Return how the outputs of a part of a study differ from its golden files, files that lack or are new included."""
    folder = EXPECTED / study / part
    stored = {path: read(folder / path) for path in _files(folder)}
    found = []
    for path in sorted(stored.keys() | outputs.keys()):
        name = f"{study}/{part}/{path}"
        if path not in outputs:
            found.append(f"{name}: expected a file, actual {MISSING}")
        elif path not in stored:
            found.append(f"{name}: expected {MISSING}, actual a file")
        else:
            found += differences(stored[path], outputs[path], name)
    return found


def accept(study: str, part: str, outputs: Outputs) -> None:
    """Make the outputs the golden files. Files that differ by rounding errors alone stay as they are."""
    folder = EXPECTED / study / part
    for path in _files(folder):
        if path not in outputs:
            (folder / path).unlink()
    for path, value in outputs.items():
        target = folder / path
        if not target.exists() or differences(read(target), value):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(written(path, value), encoding="utf-8", newline="")


def read(path: Path) -> Any:
    """Read a golden file."""
    with path.open(encoding="utf-8", newline="") as file:
        text = file.read()
    return json.loads(text) if path.suffix == ".json" else text


def written(path: str, value: Any) -> str:
    """Write an output as its file holds it."""
    return pretty(value) + "\n" if path.endswith(".json") else value


def pretty(value: Any, indent: int = 0, *, is_row: bool = False) -> str:
    """Write JSON for reading: what is short on one line, and each row of a table on one line however long it is."""
    line = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if not isinstance(value, dict | list) or not value or is_row or indent + len(line) <= WIDTH:
        return line
    margin = " " * (indent + 1)
    if isinstance(value, list):
        parts = [pretty(each, indent + 1, is_row=_is_flat(each)) for each in value]
        begin, end = "[", "]"
    else:
        parts = [f"{json.dumps(key, ensure_ascii=False)}: {pretty(each, indent + 1)}" for key, each in value.items()]
        begin, end = "{", "}"
    inside = f",\n{margin}".join(parts)
    return f"{begin}\n{margin}{inside}\n{' ' * indent}{end}"


def _is_flat(value: Any) -> bool:
    """Whether this is a row: a dict that holds no other dict."""
    return isinstance(value, dict) and not any(isinstance(each, dict) for each in value.values())


def _files(folder: Path) -> list[str]:
    if not folder.is_dir():
        return []
    return sorted(str(path.relative_to(folder).as_posix()) for path in folder.rglob("*") if path.is_file())
