"""The environment of CrowdRAG's processes: what the operator set, completed by what is embedded."""

import os

from crowdrag.runtime import keys
from crowdrag.runtime.folder import REPOSITORY, Folder

# Where services are, if the operator says so; otherwise they are ours to start.
ADDRESSES = ("DATABASE_URL", "BROKER_URL", "CROWDRAG_LLM_URL")


def embeds_postgres() -> bool:
    """Return whether PostgreSQL is ours to start."""
    return not os.environ.get("DATABASE_URL")


def embeds_valkey() -> bool:
    """Return whether Valkey is ours to start."""
    return not os.environ.get("BROKER_URL")


def embeds_llm() -> bool:
    """Return whether the local language model is ours to start."""
    return not os.environ.get("CROWDRAG_LLM_URL")


def complete(folder: Folder, *, llm_url: str = "") -> dict[str, str]:
    """Return the variables that a CrowdRAG process needs beside those that are set already."""
    found = {
        "CROWDRAG_DATA_DIR": str(folder.root),
        "DJANGO_SETTINGS_MODULE": "crowdrag.settings",
        "DATABASE_URL": folder.database_url(),
        "BROKER_URL": folder.broker_url,
        "CROWDRAG_LLM_URL": llm_url,
        # One machine speaks plain HTTP to itself; behind a proxy with TLS the operator sets HTTPS=true.
        "HTTPS": "false",
        # Cookies know no ports: two systems on localhost must not log each other out.
        "SESSION_COOKIE_NAME": f"crowdrag_session_{folder.mark}",
        "CSRF_COOKIE_NAME": f"crowdrag_csrf_{folder.mark}",
        "FILE_UPLOAD_TEMP_DIR": str(folder.temporary),
        **keys.read(folder),
    }
    return {name: os.environ.get(name) or value for name, value in found.items()}


def of_child(folder: Folder, *, llm_url: str = "") -> dict[str, str]:
    """Return a child's whole environment; the repository is importable there, installed or not."""
    path = os.pathsep.join(part for part in (str(REPOSITORY), os.environ.get("PYTHONPATH", "")) if part)
    return {**os.environ, **complete(folder, llm_url=llm_url), "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}
