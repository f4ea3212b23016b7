"""The environment of CrowdRAG's processes: the operator's variables, plus embedded services and the system's keys.

Keys are generated once and stored in files that only their owner can read, never in the database.
"""

import base64
import hashlib
import os
import secrets
from pathlib import Path

from crowdrag.runtime.data_folder import REPOSITORY, DataFolder, Problem

# The environment variable of each key, and its file.
KEYS = {
    "SECRET_KEY": "secret_key",
    "CROWDRAG_PSEUDONYM_KEY": "pseudonym_key",
    "CROWDRAG_IDENTITY_KEY": "identity_key",
}


def read_keys(folder: DataFolder) -> dict[str, str]:
    """Return the keys by their environment variables; a variable that is set takes precedence over its file."""
    return {name: os.environ.get(name) or _read_or_make(folder.keys / file) for name, file in KEYS.items()}


def missing_keys(folder: DataFolder) -> list[str]:
    """Return the keys that are neither set nor stored."""
    return [name for name, file in KEYS.items() if not os.environ.get(name) and not (folder.keys / file).exists()]


def _read_or_make(path: Path) -> str:
    """Return the key in a file, which is created if missing; of several simultaneous processes one wins."""
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(fd, "w") as file:
            file.write(_new_key(path.name))
            file.flush()
            os.fsync(file.fileno())
        try:
            # A link never replaces a file: the first key stays.
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text().strip()


def _new_key(name: str) -> str:
    """Return a new key: 32 random bytes in Fernet's format; Django's own key is longer."""
    return base64.urlsafe_b64encode(secrets.token_bytes(48 if name == "secret_key" else 32)).decode()


# Addresses of services, if the operator sets them; otherwise we start the services.
ADDRESSES = ("DATABASE_URL", "BROKER_URL", "CROWDRAG_LLM_URL")
# Variables without defaults where several machines form one system.
SHARED = ("DATABASE_URL", "BROKER_URL", *KEYS)
# Variables whose value may be in a file, as containers pass secrets: NAME_FILE is its path.
FILE_SUFFIX = "_FILE"
# The words that django-environ takes for true.
TRUE = frozenset({"true", "on", "ok", "y", "yes", "1"})
SECRET = (*SHARED, "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "EMAIL_URL")


def embeds_postgres() -> bool:
    """Return whether we start PostgreSQL."""
    return not os.environ.get("DATABASE_URL")


def embeds_valkey() -> bool:
    """Return whether we start Valkey."""
    return not os.environ.get("BROKER_URL")


def embeds_llm() -> bool:
    """Return whether we start the local language model."""
    return not os.environ.get("CROWDRAG_LLM_URL")


def fingerprint(key: str) -> str:
    """Return a few characters that distinguish keys and reveal nothing about them."""
    return hashlib.sha256(b"crowdrag key " + key.encode()).hexdigest()[:12]


def _identity_note(folder: DataFolder) -> Path:
    return folder.keys / "identity_key.fingerprint"


def note_identity_key(folder: DataFolder, mark: str = "") -> None:
    """Note the fingerprint of the key that the system encrypts with (`mark`, or that of the current key)."""
    _identity_note(folder).write_text((mark or fingerprint(read_keys(folder)["CROWDRAG_IDENTITY_KEY"])) + "\n")


def refuse_other_identity_key(folder: DataFolder) -> None:
    """Refuse a key other than the one that the system encrypts with: nothing encrypted before could be read."""
    note, file = _identity_note(folder), folder.keys / KEYS["CROWDRAG_IDENTITY_KEY"]
    stored = file.read_text().strip() if file.exists() else ""
    known = note.read_text().strip() if note.exists() else ""
    if not known and stored and embeds_postgres() and folder.has_database:
        known = fingerprint(stored)
    key = os.environ.get("CROWDRAG_IDENTITY_KEY") or stored
    if key and known and fingerprint(key) != known:
        raise Problem(
            f"CROWDRAG_IDENTITY_KEY is not the key of the system in {folder.root} (fingerprint {known}): stored "
            "platform IDs and addresses could not be read. Set the earlier key. For another system, set another "
            f"CROWDRAG_DATA_DIR. If this key is the right one, delete {note if note.exists() else file}."
        )


def mail_folder(folder: DataFolder) -> Path | None:
    """Return the folder to which emails are written; None if they are sent or printed."""
    url = os.environ.get("EMAIL_URL")
    if not url:
        return folder.mail
    return Path(url.partition(":///")[2]) if url.startswith("filemail:///") else None


def read_secret_files() -> None:
    """Set each unset variable NAME from the file in NAME_FILE."""
    for name, path in list(os.environ.items()):
        variable = name.removesuffix(FILE_SUFFIX)
        ours = variable in SECRET or variable.startswith("CROWDRAG_")
        if variable != name and ours and path and not os.environ.get(variable):
            try:
                os.environ[variable] = Path(path).read_text().strip()
            except OSError as error:
                raise Problem(f"{name} names {path}, which cannot be read: {error.strerror}") from error


def require_explicit() -> None:
    """Refuse to run if an address or a key would be generated here: other machines would have different ones."""
    if missing := [name for name in SHARED if not os.environ.get(name)]:
        raise Problem(
            f"{', '.join(missing)} must be set: all processes of one system need the same values. "
            "docs/guides/deployment.md says where they come from. On a single machine, run `crowdrag up` instead."
        )


def missing_variables(folder: DataFolder, *, llm_url: str = "") -> dict[str, str]:
    """Return the variables that a CrowdRAG process needs besides those that are already set."""
    keys = read_keys(folder)
    # Cookies ignore ports: two systems on localhost must not log each other out. The machines of one system have the
    # same keys, and must have the same cookies, wherever their folders are.
    system = fingerprint(keys["SECRET_KEY"])
    variables = {
        "CROWDRAG_DATA_DIR": str(folder.root),
        "DJANGO_SETTINGS_MODULE": "crowdrag.settings",
        "DATABASE_URL": folder.database_url(),
        "BROKER_URL": folder.broker_url,
        "CROWDRAG_LLM_URL": llm_url,
        # One machine uses plain HTTP locally; behind a proxy with TLS the operator sets HTTPS=true.
        "HTTPS": "false",
        "SESSION_COOKIE_NAME": f"crowdrag_session_{system}",
        "CSRF_COOKIE_NAME": f"crowdrag_csrf_{system}",
        "FILE_UPLOAD_TEMP_DIR": str(folder.temporary),
        **keys,
    }
    return {name: os.environ.get(name) or value for name, value in variables.items()}


def child_environment(folder: DataFolder, *, llm_url: str = "") -> dict[str, str]:
    """Return a child's complete environment; the repository is importable there, installed or not."""
    path = os.pathsep.join(part for part in (str(REPOSITORY), os.environ.get("PYTHONPATH", "")) if part)
    return {**os.environ, **missing_variables(folder, llm_url=llm_url), "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}
