"""A supervised service: start it, check it, restart it when it dies or hangs."""

import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from crowdrag.runtime import environment, processes
from crowdrag.runtime.data_folder import DataFolder
from crowdrag.runtime.preloader import Preloader, start_program
from crowdrag.runtime.processes import Process, Reaper, kill_group, rotate, tail
from crowdrag.runtime.service_account import Account


@dataclass
class Launch:
    """How to start a service this time."""

    command: list[str]
    env: dict[str, str] = field(default_factory=dict)
    account: Account | None = None
    fds: tuple[int, ...] = ()
    cwd: Path | None = None
    # Whether the preloader can become it: the command is `python -m MODULE ...` with CrowdRAG's code.
    is_preloaded: bool = False


class Service:
    """One long-running program. Subclasses define its start and its health check."""

    name = ""
    title = ""
    # How it is asked to stop, how long that may take, and the signal it gets when the supervisor has died.
    stop_signal = signal.SIGTERM
    stop_within = 10.0
    death_signal = signal.SIGKILL
    # Seconds until the first successful probe, and seconds without one after which it counts as hanging.
    start_within = 60.0
    silent_for = 45.0
    # Megabytes on the disk without which it would only fail again: it is not started with less.
    needs_megabytes = 0
    # Services of a lower tier start first and stop last.
    tier = 0
    # Whether it runs only while there is something to do: it starts when it is wanted, and ends by itself.
    is_on_demand = False

    def __init__(self, folder: DataFolder) -> None:
        self.folder = folder

    @property
    def log(self) -> Path:
        """Where its output is written."""
        return self.folder.logs / f"{self.name}.log"

    def launch(self) -> Launch:
        """Return how to start it; called before every start, on the main thread."""
        raise NotImplementedError

    def launched(self) -> None:
        """Clean up after a start, for example descriptors that the child has inherited."""

    def probe(self) -> str:
        """Return a few words for the status (such as a version), or raise if the service does not respond."""
        raise NotImplementedError

    def is_wanted(self) -> bool:
        """Return at once whether it must be started now."""
        return True

    def reap(self, failures: int) -> None:
        """Remove what a dead process left, before it is restarted."""


# States of a service that needs no attention.
HEALTHY = frozenset({"ready", "idle"})
# How often to probe a service, and one that is starting.
INTERVAL = 3.0
INTERVAL_STARTING = 0.1
# The wait before the second, third, ... start in a row; the first is immediate.
BACKOFF = (0.0, 0.3, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
# How often to check for free space on a full disk.
ROTATE_EVERY = 2.0
# After this many healthy seconds its failures are forgotten.
FORGIVEN_AFTER = 60.0
# A service that fails this often before it was ever healthy will not recover by itself.
HOPELESS_FAILURES = 5


class HealthProbe(threading.Thread):
    """Probes one service, on its own thread so that a hanging one blocks nobody."""

    def __init__(self, service: Service) -> None:
        super().__init__(daemon=True, name=f"watch-{service.name}")
        self._service = service
        self._lock = threading.Lock()
        self._round = 0
        self._new_round = threading.Event()
        self.last_sign: float | None = None
        self.detail = ""
        self.complaint = ""

    def reset(self) -> None:
        """Forget earlier results: the process is a new one."""
        with self._lock:
            self._round += 1
            self.last_sign = None
            self.complaint = ""
        self._new_round.set()

    def run(self) -> None:
        """Probe, record, wait, for ever (the thread ends with its process)."""
        while True:
            began = self._round
            try:
                detail, complaint = self._service.probe(), ""
            except Exception as error:  # noqa: BLE001 - whatever it is, it is no sign of life
                # Some errors have no words, and are no sign of life either.
                detail, complaint = "", str(error).strip().split("\n")[0] or type(error).__name__
            with self._lock:
                if began == self._round:
                    self.complaint = complaint
                    if not complaint:
                        self.detail = detail
                        self.last_sign = time.monotonic()
            self._new_round.wait(INTERVAL if self.last_sign and not complaint else INTERVAL_STARTING)
            self._new_round.clear()


class ServiceMonitor:
    """Keeps one service alive. `step` is called often, from the main thread, and never waits long."""

    def __init__(
        self,
        service: Service,
        reaper: Reaper,
        say: Callable[[str], None],
        llm_url: str = "",
        preloader: Preloader | None = None,
    ) -> None:
        self.service = service
        self.process: Process | None = None
        self._preloader = preloader
        self.state = "waiting"
        self.reason = ""
        self.restarts = 0
        self._failures = 0
        self._ever_ready = False
        self._reaper = reaper
        self._say = say
        self._llm_url = llm_url
        self._watch = HealthProbe(service)
        self._started = 0.0
        self._ready_since = 0.0
        self._next_start = 0.0

    @property
    def is_ready(self) -> bool:
        """Whether it responds, or would be started if it were wanted."""
        return self.state in HEALTHY

    @property
    def is_idle(self) -> bool:
        """Whether it does not run, as nobody wants it."""
        return self.state == "idle"

    @property
    def is_hopeless(self) -> bool:
        """Whether it has failed again and again without ever being healthy."""
        return not self._ever_ready and self._failures >= HOPELESS_FAILURES

    @property
    def seconds_to_ready(self) -> float:
        """How long the last start took."""
        return self._ready_since - self._started

    @property
    def detail(self) -> str:
        """The service's own status text."""
        return self._watch.detail

    def begin(self) -> None:
        """Start the service now, or when it is wanted."""
        if self.service.is_on_demand:
            self.state = "idle"
        else:
            self.start()

    def start(self) -> None:
        """Start the service now."""
        rotate(self.service.log)
        launch = self.service.launch()
        env = environment.child_environment(self.service.folder, llm_url=self._llm_url)
        self.process = self._launch(launch, {**env, **launch.env})
        self._reaper.add(self.process.pid, self.service.death_signal)
        self.service.launched()
        self.state = "starting"
        self._started = time.monotonic()
        self._watch.reset()
        if not self._watch.is_alive():
            self._watch.start()

    def _launch(self, launch: Launch, env: dict[str, str]) -> Process:
        return start_program(
            self._preloader if launch.is_preloaded else None,
            launch.command,
            name=self.service.name,
            log=self.service.log,
            env=env,
            death_signal=self.service.death_signal,
            account=launch.account,
            fds=launch.fds,
            cwd=launch.cwd,
        )

    def step(self) -> None:
        """Check the process and its probes; restart it if necessary."""
        now = time.monotonic()
        if self.process is None:
            is_due = self.state == "down" and now >= self._next_start
            if (is_due or (self.is_idle and self.service.is_wanted())) and self._has_room(now):
                self.start()
            return
        code = self.process.poll()
        if code == 0 and self.service.is_on_demand:
            self.remove()
            self.state = "idle"
        elif code is not None:
            self._fell(f"ended with {_outcome(code)}")
        elif self._watch.last_sign is None:
            if now - self._started > self.service.start_within:
                self._fell(f"did not come up in {self.service.start_within:.0f} s ({self._watch.complaint})")
        else:
            self._well(now, self._watch.last_sign)

    def _has_room(self, now: float) -> bool:
        """Return whether the disk has enough space for it; if not, check again later, and report it."""
        free, needed = self.service.folder.free_megabytes(), self.service.needs_megabytes
        if free >= needed:
            return True
        waits = "waits for room on the disk"
        if waits not in self.reason:
            self._say(f"{self.service.title}: {waits}: {free} MB are left, {needed} MB are needed")
        self.reason = f"{waits}: {free} MB are left, {needed} MB are needed"
        self._next_start = now + ROTATE_EVERY
        return False

    def _well(self, now: float, last_sign: float) -> None:
        if self.state == "starting":
            self.state = "ready"
            self._ready_since = now
            if self._ever_ready:
                self._say(f"{self.service.title}: back after {now - self._started:.1f} s")
            self._ever_ready = True
        if now - last_sign > self.service.silent_for:
            self._fell(f"did not answer for {now - last_sign:.0f} s ({self._watch.complaint})")
        elif self._failures and now - self._ready_since > FORGIVEN_AFTER:
            self._failures = 0

    def _fell(self, reason: str) -> None:
        """Clean up after it and schedule its next start."""
        self.remove()
        wait = BACKOFF[min(self._failures, len(BACKOFF) - 1)]
        self._failures += 1
        self.restarts += 1
        self.state = "down"
        self.reason = reason
        self._next_start = time.monotonic() + wait
        self.service.reap(self._failures)
        if self._ever_ready:
            self._say(f"{self.service.title}: {reason}; starting it again" + (f" in {wait:.0f} s" if wait >= 1 else ""))

    def ask_to_stop(self) -> None:
        """Send the service its stop signal."""
        if self.process is not None and self.process.poll() is None:
            with suppress(ProcessLookupError):
                self.process.send_signal(self.service.stop_signal)

    def remove(self) -> None:
        """Kill the rest of the service's group."""
        if self.process is not None:
            kill_group(self.process)
            self._reaper.remove(self.process.pid)
            self.process = None
        self.state = "stopped"

    def status(self) -> dict[str, object]:
        """Return its entry in the status file."""
        pid = self.process.pid if self.process else None
        return {
            "title": self.service.title,
            "state": self.state,
            "pid": pid,
            "born": processes.start_time(pid) if pid else None,
            "restarts": self.restarts,
            "reason": self.reason,
            "detail": self.detail,
            "log": str(self.service.log),
        }

    def last_words(self) -> str:
        """Return the reason of the last failure with the end of the log."""
        return f"{self.service.title}: {self.reason}. The end of {self.service.log}:\n{tail(self.service.log)}"


def _outcome(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"status {code}"
