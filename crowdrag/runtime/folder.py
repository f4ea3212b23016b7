"""The data folder: where everything that must be kept lies, and the addresses that follow from it."""

import hashlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from crowdrag.runtime.locks import Lock
from crowdrag.runtime.problems import Problem

REPOSITORY = Path(__file__).resolve().parents[2]
MEGABYTE = 1024 * 1024


@dataclass(frozen=True)
class Folder:
    """One data folder. Whoever copies it while nothing runs has copied the system."""

    root: Path

    @classmethod
    def chosen(cls) -> "Folder":
        """Return the folder that the environment names, or `var` in the repository."""
        return cls(Path(os.environ.get("CROWDRAG_DATA_DIR") or REPOSITORY / "var").expanduser().resolve())

    @property
    def postgres(self) -> Path:
        """PostgreSQL's data."""
        return self.root / "postgres"

    @property
    def valkey(self) -> Path:
        """Valkey's append-only file."""
        return self.root / "valkey"

    @property
    def logs(self) -> Path:
        """One log a service."""
        return self.root / "logs"

    @property
    def run(self) -> Path:
        """Locks, the status file and heartbeats: of no worth once nothing runs."""
        return self.root / "run"

    @property
    def keys(self) -> Path:
        """The keys, each in a file that only its owner reads."""
        return self.root / "keys"

    @property
    def files(self) -> Path:
        """Uploads and artifacts (MEDIA_ROOT)."""
        return self.root / "files"

    @property
    def temporary(self) -> Path:
        """Uploads on their way in; on the same disk as `files`, so that they are moved and not copied."""
        return self.root / "tmp"

    @property
    def mark(self) -> str:
        """Ten characters that tell this folder from others on the machine."""
        return hashlib.sha256(str(self.root).encode()).hexdigest()[:10]

    @property
    def sockets(self) -> Path:
        """The folder of the unix sockets: short, as a socket's path may have about 100 characters only.

        Always below /tmp and never TMPDIR: a command in another environment must find the same place.
        """
        return Path("/tmp") / f"crowdrag-{os.getuid()}-{self.mark}"

    @property
    def valkey_socket(self) -> Path:
        """Valkey's unix socket."""
        return self.sockets / "valkey.sock"

    def database_url(self, name: str = "crowdrag") -> str:
        """Return the address of the embedded PostgreSQL."""
        return f"postgresql://postgres@/{name}?host={self.sockets}"

    @property
    def broker_url(self) -> str:
        """The address of the embedded Valkey, as Celery writes it."""
        return f"redis+socket://{self.valkey_socket}"

    @property
    def supervisor_lock(self) -> Lock:
        """Held by the one supervisor of this folder."""
        return Lock(self.run / "supervisor.lock")

    @property
    def users_lock(self) -> Lock:
        """Shared by every command that uses the stores; the stores' supervisor stops when nobody holds it."""
        return Lock(self.run / "users.lock")

    def create(self) -> None:
        """Make the folders; say what to do if that is not allowed."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            for path in (self.logs, self.run, self.files, self.temporary, self.keys):
                path.mkdir(mode=0o700, exist_ok=True)  # texts and data of people pass through all of them
        except OSError as error:
            raise Problem(
                f"The data folder {self.root} cannot be written ({error.strerror}). "
                "Make it writable, or name another with CROWDRAG_DATA_DIR=/path."
            ) from error

    def free_megabytes(self) -> int:
        """Return the free space of the folder's disk."""
        existing = next(path for path in (self.root, *self.root.parents) if path.exists())
        return shutil.disk_usage(existing).free // MEGABYTE

    def check_space(self, needed: int | None = None) -> None:
        """Refuse to start on a disk that is nearly full: a database that cannot write stops in the middle of things."""
        if needed is None:
            needed = int(os.environ.get("CROWDRAG_MIN_FREE_MB", "500"))
        free = self.free_megabytes()
        if free < needed:
            raise Problem(
                f"The disk of {self.root} has {free} MB left, and {needed} MB are needed. Free some space there, "
                "or put the data elsewhere with CROWDRAG_DATA_DIR=/path (move the folder while nothing runs)."
            )
