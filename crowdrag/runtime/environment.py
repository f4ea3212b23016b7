"""The environment of CrowdRAG's processes: what the operator set, completed by what is embedded."""

import os
from pathlib import Path

from crowdrag.runtime import keys
from crowdrag.runtime.folder import REPOSITORY, Folder
from crowdrag.runtime.problems import Problem

# Where services are, if the operator says so; otherwise they are ours to start.
ADDRESSES = ("DATABASE_URL", "BROKER_URL", "CROWDRAG_LLM_URL")
# What nobody may make up where several machines are one system.
SHARED = ("DATABASE_URL", "BROKER_URL", *keys.KEYS)
# Variables whose value may lie in a file, as containers are given secrets: NAME_FILE says where.
OF_FILES = "_FILE"
SECRET = (*SHARED, "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")


def embeds_postgres() -> bool:
    """Return whether PostgreSQL is ours to start."""
    return not os.environ.get("DATABASE_URL")


def embeds_valkey() -> bool:
    """Return whether Valkey is ours to start."""
    return not os.environ.get("BROKER_URL")


def embeds_llm() -> bool:
    """Return whether the local language model is ours to start."""
    return not os.environ.get("CROWDRAG_LLM_URL")


def read_files() -> None:
    """Set each variable NAME that is not set from the file that NAME_FILE names."""
    for name, path in list(os.environ.items()):
        wanted = name.removesuffix(OF_FILES)
        ours = wanted in SECRET or wanted.startswith("CROWDRAG_")
        if wanted != name and ours and path and not os.environ.get(wanted):
            try:
                os.environ[wanted] = Path(path).read_text().strip()
            except OSError as error:
                raise Problem(f"{name} names {path}, which cannot be read: {error.strerror}") from error


def refuse_to_make_up() -> None:
    """Refuse to run where an address or a key would be made up here: other machines would have another."""
    if missing := [name for name in SHARED if not os.environ.get(name)]:
        raise Problem(
            f"{', '.join(missing)} must be set: this is one of several processes that are one system, and they share "
            "them. docs/guides/deployment.md says where they come from. One machine alone: crowdrag up"
        )


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
