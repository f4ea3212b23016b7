"""The system's keys: made once, kept in files that only their owner reads, never in the database."""

import base64
import os
import secrets
from pathlib import Path

from crowdrag.runtime.folder import Folder

# The environment's name of each key, and its file.
KEYS = {
    "SECRET_KEY": "secret_key",
    "CROWDRAG_PSEUDONYM_KEY": "pseudonym_key",
    "CROWDRAG_IDENTITY_KEY": "identity_key",
}


def read(folder: Folder) -> dict[str, str]:
    """Return the keys by their environment names; one that is set in the environment goes before its file."""
    return {name: os.environ.get(name) or _kept(folder.keys / file) for name, file in KEYS.items()}


def _kept(path: Path) -> str:
    """Return the key in a file, which is made if it is not there; of several processes at once one wins."""
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = path.with_name(f".{path.name}.{os.getpid()}")
        fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(fd, "w") as file:
            file.write(_fresh(path.name))
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


def _fresh(name: str) -> str:
    """Return a new key: 32 random bytes as Fernet writes them; Django wants its own longer."""
    return base64.urlsafe_b64encode(secrets.token_bytes(48 if name == "secret_key" else 32)).decode()
