"""The data folder: all persistent data, its locks and status file, and its addresses."""

import errno
import fcntl
import hashlib
import json
import os
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# The exit status of a supervisor of the stores that found another one running.
EXIT_ALREADY_RUNNING = 3


class AlreadyRunning(Exception):  # noqa: N818 - it is no error
    """Another supervisor uses the folder."""


class Problem(Exception):  # noqa: N818 - it reads as what it is: a problem to be told
    """Something that a person must fix; its text says what and how."""


class FileLock:
    """A lock on a file, exclusive or shared. It never outlives its process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd: int | None = None

    def acquire(self, *, shared: bool = False, wait: float = 0.0) -> bool:
        """Take the lock; False if another process still has it after `wait` seconds."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Not inheritable, so that no child keeps the lock when its parent has died.
        fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
        deadline = time.monotonic() + wait
        while True:
            try:
                fcntl.flock(fd, kind | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    os.close(fd)
                    return False
                time.sleep(0.05)
            else:
                self._fd = fd
                return True

    def release(self) -> None:
        """Release the lock; harmless if it is not held."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def is_held_by_another(self) -> bool:
        """Return whether another process holds it now."""
        if self._fd is not None:
            return False
        if self.acquire():
            self.release()
            return False
        return True


REPOSITORY = Path(__file__).resolve().parents[2]
MEGABYTE = 1024 * 1024


def others_can_enter(path: Path) -> bool:
    """Return whether anybody but the owner has rights on a folder."""
    return bool(path.stat().st_mode & 0o077)


@dataclass(frozen=True)
class DataFolder:
    """One data folder. A copy made while nothing runs is a copy of the system."""

    root: Path

    @classmethod
    def chosen(cls) -> "DataFolder":
        """Return the folder named in the environment, or `var` in the repository."""
        return cls(Path(os.environ.get("CROWDRAG_DATA_DIR") or REPOSITORY / "var").expanduser().resolve())

    @property
    def postgres(self) -> Path:
        """PostgreSQL's data."""
        return self.root / "postgres"

    @property
    def has_database(self) -> bool:
        """Whether PostgreSQL's data have been created."""
        return (self.postgres / "PG_VERSION").exists()

    @property
    def valkey(self) -> Path:
        """Valkey's append-only file."""
        return self.root / "valkey"

    @property
    def logs(self) -> Path:
        """One log per service."""
        return self.root / "logs"

    @property
    def run(self) -> Path:
        """Locks, the status file and heartbeats: worthless once nothing runs."""
        return self.root / "run"

    @property
    def keys(self) -> Path:
        """The keys, each in a file that only its owner can read."""
        return self.root / "keys"

    @property
    def files(self) -> Path:
        """Uploads and artifacts (MEDIA_ROOT)."""
        return self.root / "files"

    @property
    def temporary(self) -> Path:
        """Uploads in progress; on the same disk as `files`, so that they are moved and not copied."""
        return self.root / "tmp"

    @property
    def mail(self) -> Path:
        """Emails as files, if there is no mail server: they contain links by which people sign in or join."""
        return self.root / "mail"

    @property
    def mark(self) -> str:
        """Ten characters that distinguish this folder from others on the machine."""
        return hashlib.sha256(str(self.root).encode()).hexdigest()[:10]

    @property
    def sockets(self) -> Path:
        """The folder of the unix sockets: short, since a socket's path may have only about 100 characters.

        Always below /tmp and never TMPDIR: a command in another environment must find the same place.
        """
        return Path("/tmp") / f"crowdrag-{os.getuid()}-{self.mark}"

    @property
    def valkey_socket(self) -> Path:
        """Valkey's unix socket."""
        return self.sockets / "valkey.sock"

    def database_url(self, name: str = "crowdrag") -> str:
        """Return the URL of the embedded PostgreSQL."""
        return f"postgresql://postgres@/{name}?host={self.sockets}"

    @property
    def broker_url(self) -> str:
        """The URL of the embedded Valkey, in Celery's form."""
        return f"redis+socket://{self.valkey_socket}"

    @property
    def supervisor_lock(self) -> FileLock:
        """Held by the one supervisor of this folder."""
        return FileLock(self.run / "supervisor.lock")

    @property
    def users_lock(self) -> FileLock:
        """Shared by every command that uses the stores; the stores' supervisor stops when nobody holds it."""
        return FileLock(self.run / "users.lock")

    def create(self) -> None:
        """Create the folders; raise a Problem that says what to do if that is not allowed."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            for path in (self.logs, self.run, self.files, self.temporary, self.keys, self.mail):
                path.mkdir(mode=0o700, exist_ok=True)  # participants' texts and data pass through all of them
            if others_can_enter(self.mail):  # earlier releases created it with the default mode
                self.mail.chmod(0o700)
        except OSError as error:
            raise Problem(
                f"The data folder {self.root} cannot be written ({error.strerror}). "
                "Make it writable, or choose another folder with CROWDRAG_DATA_DIR=/path."
            ) from error

    def free_megabytes(self) -> int:
        """Return the free space of the folder's disk."""
        existing = next(path for path in (self.root, *self.root.parents) if path.exists())
        return shutil.disk_usage(existing).free // MEGABYTE

    def check_space(self, needed: int | None = None) -> None:
        """Refuse to start on a nearly full disk: a database that cannot write stops halfway."""
        if needed is None:
            needed = int(os.environ.get("CROWDRAG_MIN_FREE_MB", "500"))
        free = self.free_megabytes()
        if free < needed:
            raise Problem(
                f"The disk of {self.root} has {free} MB left, and {needed} MB are needed. Free some space there, "
                "or put the data elsewhere with CROWDRAG_DATA_DIR=/path (move the folder while nothing runs)."
            )


#: Space reserved for the status file: especially on a full disk, it must be possible to read what is wrong.
RESERVE_BYTES = 256 * 1024


def write_status(folder: DataFolder, status: dict[str, Any]) -> None:
    """Replace the status file; if the disk is full, use the reserved space."""
    path, reserve = folder.run / "status.json", folder.run / "reserve"
    text = json.dumps(status, indent=1)
    try:
        _replace(path, text)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        reserve.unlink(missing_ok=True)
        _replace(path, text)
    else:
        with suppress(OSError):
            _keep_reserve(reserve)


def _replace(path: Path, text: str) -> None:
    draft = path.with_suffix(".new")
    try:
        draft.write_text(text)
        draft.replace(path)
    except OSError:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise


def _keep_reserve(reserve: Path) -> None:
    """Allocate the reserve, if it is not allocated and there is enough space besides."""
    if reserve.exists() and reserve.stat().st_size == RESERVE_BYTES:
        return
    disk = os.statvfs(reserve.parent)
    if disk.f_bavail * disk.f_frsize < 16 * RESERVE_BYTES:
        return
    descriptor = os.open(reserve, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        os.posix_fallocate(descriptor, 0, RESERVE_BYTES)
    finally:
        os.close(descriptor)


def read_status(folder: DataFolder) -> dict[str, Any]:
    """Return the content of the status file; its processes may have ended long ago."""
    try:
        status = json.loads((folder.run / "status.json").read_text())
    except (FileNotFoundError, ValueError):
        return {}
    return status if isinstance(status, dict) else {}


def is_running(folder: DataFolder) -> bool:
    """Return whether a supervisor is alive: it holds a lock, while the file proves nothing."""
    return folder.run.exists() and folder.supervisor_lock.is_held_by_another()
