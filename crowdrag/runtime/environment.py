"""The environment of CrowdRAG's processes: what the operator set, completed by what is embedded, and the system's keys.

Keys are made once, kept in files that only their owner reads, never in the database.
"""

import base64
import os
import secrets
from pathlib import Path

from crowdrag.runtime.data_folder import REPOSITORY, DataFolder, Problem

# The environment's name of each key, and its file.
KEYS = {
    "SECRET_KEY": "secret_key",
    "CROWDRAG_PSEUDONYM_KEY": "pseudonym_key",
    "CROWDRAG_IDENTITY_KEY": "identity_key",
}


def read_keys(folder: DataFolder) -> dict[str, str]:
    """Return the keys by their environment names; one that is set in the environment goes before its file."""
    return {name: os.environ.get(name) or _read_or_make(folder.keys / file) for name, file in KEYS.items()}


def _read_or_make(path: Path) -> str:
    """Return the key in a file, which is made if it is not there; of several processes at once one wins."""
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(fd, "w") as file:
            file.write(_new_key(path.name))
            file.flush()
            os.fsync(file.fileno())
        try:
            # A link never replaces: the key that is there first stays.
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text().strip()


def _new_key(name: str) -> str:
    """Return a new key: 32 random bytes as Fernet writes them; Django wants its own longer."""
    return base64.urlsafe_b64encode(secrets.token_bytes(48 if name == "secret_key" else 32)).decode()


# Where services are, if the operator says so; otherwise they are ours to start.
ADDRESSES = ("DATABASE_URL", "BROKER_URL", "CROWDRAG_LLM_URL")
# What nobody may make up where several machines are one system.
SHARED = ("DATABASE_URL", "BROKER_URL", *KEYS)
# Variables whose value may lie in a file, as containers are given secrets: NAME_FILE says where.
FILE_SUFFIX = "_FILE"
SECRET = (*SHARED, "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "EMAIL_URL")


def embeds_postgres() -> bool:
    """Return whether PostgreSQL is ours to start."""
    return not os.environ.get("DATABASE_URL")


def embeds_valkey() -> bool:
    """Return whether Valkey is ours to start."""
    return not os.environ.get("BROKER_URL")


def embeds_llm() -> bool:
    """Return whether the local language model is ours to start."""
    return not os.environ.get("CROWDRAG_LLM_URL")


def read_secret_files() -> None:
    """Set each variable NAME that is not set from the file that NAME_FILE names."""
    for name, path in list(os.environ.items()):
        variable = name.removesuffix(FILE_SUFFIX)
        ours = variable in SECRET or variable.startswith("CROWDRAG_")
        if variable != name and ours and path and not os.environ.get(variable):
            try:
                os.environ[variable] = Path(path).read_text().strip()
            except OSError as error:
                raise Problem(f"{name} names {path}, which cannot be read: {error.strerror}") from error


def require_explicit() -> None:
    """Refuse to run where an address or a key would be made up here: other machines would have another."""
    if missing := [name for name in SHARED if not os.environ.get(name)]:
        raise Problem(
            f"{', '.join(missing)} must be set: this is one of several processes that are one system, and they share "
            "them. docs/guides/deployment.md says where they come from. One machine alone: crowdrag up"
        )


def missing_variables(folder: DataFolder, *, llm_url: str = "") -> dict[str, str]:
    """Return the variables that a CrowdRAG process needs beside those that are set already."""
    variables = {
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
        **read_keys(folder),
    }
    return {name: os.environ.get(name) or value for name, value in variables.items()}


def child_environment(folder: DataFolder, *, llm_url: str = "") -> dict[str, str]:
    """Return a child's whole environment; the repository is importable there, installed or not."""
    path = os.pathsep.join(part for part in (str(REPOSITORY), os.environ.get("PYTHONPATH", "")) if part)
    return {**os.environ, **missing_variables(folder, llm_url=llm_url), "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}
