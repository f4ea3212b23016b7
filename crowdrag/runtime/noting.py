"""Tell the system that a backup was made, or a restore rehearsed: its operator's page shows when it was last."""

import json
import subprocess
import sys
from typing import Any

from crowdrag.runtime import embedded, environment, keys
from crowdrag.runtime.folder import REPOSITORY, Folder


def note(folder: Folder, facts: dict[str, Any]) -> str:
    """Have it noted; return what went wrong, or nothing. A backup is no worse for not being noted."""
    with embedded.lent(folder) as env:
        made = subprocess.run(
            [sys.executable, "-m", "django", "note_backup"],
            input=json.dumps(facts),
            env={**environment.of_child(folder), **env, **keys.read(folder)},
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            check=False,
        )
    return (
        ""
        if made.returncode == 0
        else f"It could not be noted: {(made.stderr.strip() or 'no reason').splitlines()[-1]}"
    )
