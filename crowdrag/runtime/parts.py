"""`crowdrag serve PART`: one part in the foreground, for containers and systemd units.

It prepares nothing and repairs nothing: it starts the part, passes its signals on, and ends when the part ends or
hangs, with a status other than 0, so that the caller (an orchestrator, systemd) restarts it. Restarting is the caller's
task; detecting that something hangs is ours, since the caller would only see a live process.
"""

import os
import signal
import subprocess
import time
from types import FrameType

from crowdrag.runtime import environment, web
from crowdrag.runtime.data_folder import DataFolder, Problem
from crowdrag.runtime.processes import bound_command, kill_group
from crowdrag.runtime.service_monitor import HealthProbe, Service
from crowdrag.runtime.supervisor import say
from crowdrag.runtime.web import Web
from crowdrag.runtime.workers import QUEUES, Sweep, Worker

TICK = 0.1
# Seconds that a stopping web server continues to serve, until its proxy notices.
DRAIN = 10.0
# Seconds that a part may take to start. `crowdrag up` starts one tier after another and is less patient; here all parts
# of a machine start at once, and restarting a slow part would make all of them slower.
START_WITHIN = 300.0
EXIT_HANGS = 70  # EX_SOFTWARE


def serve(folder: DataFolder, part: str, host: str, port: int) -> int:
    """Run a part until it ends; return the exit status."""
    folder.create()
    environment.note_identity_key(folder)
    if part == "web":
        if warning := web.unreachable_by_others(host):
            say(warning)
        return PartRunner(ForegroundWeb(folder, web.listen(host, port), _llm_url(), drain=_drain())).run()
    return PartRunner(_worker(folder, part)).run()


def check(folder: DataFolder, part: str, port: int) -> str:
    """Return a few words if the part that runs in this folder is healthy.

    Raises
    ------
    Problem
        if it is not.
    """
    service = _worker(folder, part) if part != "web" else ExternalWeb(folder, port)
    try:
        return service.probe() or "well"
    except Exception as error:
        raise Problem(f"{part}: {str(error).strip() or type(error).__name__}") from error


class ForegroundWeb(Web):
    """A web server that alone has its socket: if it closes it, connections are refused, and a proxy goes elsewhere."""

    def launched(self) -> None:
        """Close our copy of the socket."""
        self.listener.close()


class ExternalWeb(Web):
    """A web server of another process on this machine: only probed."""

    def __init__(self, folder: DataFolder, port: int) -> None:
        Service.__init__(self, folder)
        self.host, self.port = "127.0.0.1", port


class PartRunner:
    """One service, started once."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.process: subprocess.Popen[bytes] | None = None
        self._asked_at: float | None = None
        self._watch = HealthProbe(service)

    def run(self) -> int:
        """Start it, wait until it has ended, and return its status; `HANGS` if it had to be killed."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._pass_on)
        launch = self.service.launch()
        env = {**environment.child_environment(self.service.folder, llm_url=_llm_url()), **launch.env}
        began = time.monotonic()
        self.process = subprocess.Popen(
            bound_command(launch.command), env=env, pass_fds=launch.fds, cwd=launch.cwd, start_new_session=True
        )
        if self._asked_at is not None:  # while it was being started
            self.process.send_signal(self.service.stop_signal)
        self.service.launched()
        self._watch.start()
        try:
            return self._stay(began)
        finally:
            kill_group(self.process)

    def _stay(self, began: float) -> int:
        assert self.process is not None
        while (status := self.process.poll()) is None:
            if reason := self._hangs(began, time.monotonic()):
                say(f"{self.service.title}: {reason}")
                return EXIT_HANGS
            time.sleep(TICK)
        if self._asked_at is None:
            # Nobody asked it to end: whatever its own status, it must be restarted.
            return status if status > 0 else EXIT_HANGS
        return 0 if status in (0, -self.service.stop_signal) else abs(status)

    def _hangs(self, began: float, now: float) -> str:
        """Return why it must be killed, or nothing."""
        if self._asked_at is not None:
            late = now - self._asked_at > self.service.stop_within
            return f"did not stop within {self.service.stop_within:.0f} s" if late else ""
        last = self._watch.last_sign
        if last is None:
            late = now - began > START_WITHIN
            return f"did not come up within {START_WITHIN:.0f} s ({self._watch.complaint})" if late else ""
        late = now - last > self.service.silent_for
        return f"no sign of life for {now - last:.0f} s ({self._watch.complaint})" if late else ""

    def _pass_on(self, _number: int, _frame: FrameType | None) -> None:
        self._asked_at = self._asked_at or time.monotonic()
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(self.service.stop_signal)


def _worker(folder: DataFolder, part: str) -> Service:
    if part == "sweep":
        return Sweep(folder, _llm_url())
    (queue,) = [queue for queue in QUEUES if part == f"worker-{queue.name}"]
    return Worker(folder, queue, _llm_url())


def _llm_url() -> str:
    return os.environ.get("CROWDRAG_LLM_URL", "")


def _drain() -> float:
    text = os.environ.get("CROWDRAG_DRAIN_SECONDS", "") or str(DRAIN)
    try:
        return float(text)
    except ValueError:
        raise Problem(f"CROWDRAG_DRAIN_SECONDS={text} is not valid. Use a number of seconds.") from None
