"""What the supervisor must know of a service to keep it alive."""

import signal
from dataclasses import dataclass, field
from pathlib import Path

from crowdrag.runtime.account import Account
from crowdrag.runtime.folder import Folder


@dataclass
class Launch:
    """How to start a service this time."""

    command: list[str]
    env: dict[str, str] = field(default_factory=dict)
    account: Account | None = None
    fds: tuple[int, ...] = ()
    cwd: Path | None = None


class Service:
    """One long-running program. Subclasses say how it starts and what a sign of life is."""

    name = ""
    title = ""
    # How it is asked to stop, how long that may take, and what it gets when the supervisor has died.
    stop_signal = signal.SIGTERM
    stop_within = 10.0
    death_signal = signal.SIGKILL
    # Seconds until the first sign of life, and without one before it counts as hanging.
    start_within = 60.0
    silent_for = 45.0
    # Megabytes on the disk without which it would only fail again: it is not started before there are so many.
    needs_megabytes = 0
    # Services of a lower tier start first and stop last.
    tier = 0

    def __init__(self, folder: Folder) -> None:
        self.folder = folder

    @property
    def log(self) -> Path:
        """Where its output goes."""
        return self.folder.logs / f"{self.name}.log"

    def launch(self) -> Launch:
        """Return how to start it; called before every start, on the main thread."""
        raise NotImplementedError

    def launched(self) -> None:
        """Tidy up after a start, such as descriptors that the child has inherited."""

    def probe(self) -> str:
        """Return a few words for the status (a version, say), or raise if the service does not answer."""
        raise NotImplementedError

    def mourn(self, failures: int) -> None:
        """Clear away what a dead one left, before it is started again."""
