"""The sample of crowdrag25 in a separate data folder, with commands and functions run on it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent
COMMAND = [sys.executable, "-c", "from crowdrag.runtime.cli import main; main()"]
STUDY = "bench"


class Study:
    """An imported study. `call` runs a crowdrag command, `measure` a function in a fresh process."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._environment = environment

    def call(self, *arguments: str) -> str:
        """Run a command and return its output."""
        done = subprocess.run(
            [*COMMAND, *arguments], env=self._environment, capture_output=True, text=True, check=False, cwd=ROOT
        )
        if done.returncode and arguments != ("down",):
            raise RuntimeError(f"crowdrag {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
        return done.stdout

    def measure(self, where: str) -> dict:
        """Call `module:function` in a separate process; its result must be JSON."""
        module, function = where.split(":")
        said = self.call(
            "shell", "-c", f"import json; from {module} import {function} as f; print('said', json.dumps(f()))"
        )
        return json.loads(said.rsplit("said", 1)[1])


@contextmanager
def sample() -> Iterator[Study | None]:
    """Import the sample; None if CROWDRAG_DATA is not set."""
    root = os.environ.get("CROWDRAG_DATA")
    if not root:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="crowdrag-bench-") as data:
        environment = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "BROKER_URL"}}
        study = Study(environment | {"CROWDRAG_DATA_DIR": data, "HTTPS": "false"})
        try:
            study.call("migrate", "--verbosity", "0")
            study.call("import", "crowdrag25", str(Path(root) / "crowdrag25"), "--study", STUDY)
            yield study
        finally:
            study.call("down")


def peak() -> int:
    """Peak memory of this process in bytes."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
