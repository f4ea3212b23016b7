"""What made a result: the code and what it stood on."""

import platform
import subprocess
from functools import lru_cache
from importlib import metadata
from typing import Any

from django.conf import settings


@lru_cache(maxsize=1)
def code_version() -> str:
    """Return the version of this code, and the commit it stands at where git knows it."""
    commit = _git("describe", "--always", "--dirty", "--abbrev=12")
    return f"{settings.VERSION}+{commit}" if commit else settings.VERSION


@lru_cache(maxsize=1)
def _environment() -> tuple[tuple[str, str], ...]:
    found = {dist.metadata["Name"]: dist.version for dist in metadata.distributions() if dist.metadata["Name"]}
    return tuple(sorted(found.items(), key=lambda item: item[0].lower()))


def environment() -> dict[str, Any]:
    """Return Python, platform and the version of every installed package."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": dict(_environment()),
    }


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(settings.BASE_DIR), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=5, check=True).stdout.strip()  # noqa: S603 -- fixed words
    except (OSError, subprocess.SubprocessError):
        return ""
