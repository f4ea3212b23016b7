"""Locks that the kernel frees when their holder dies, however it dies."""

import fcntl
import os
import time
from pathlib import Path


class Lock:
    """A lock on a file. It may be held alone or shared, and never outlives its process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._fd: int | None = None

    def acquire(self, *, shared: bool = False, wait: float = 0.0) -> bool:
        """Take the lock; False if somebody else still has it after `wait` seconds."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Opened without inheritance, so that no child keeps the lock when its parent has died.
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
        """Give the lock back; harmless when it is not held."""
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
