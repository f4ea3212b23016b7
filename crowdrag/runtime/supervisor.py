"""The supervisor: starts all services in order, keeps them alive, stops them in order.

python -m crowdrag.runtime.supervisor --stores     PostgreSQL and Valkey alone, until no command uses them
"""

import argparse
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from types import FrameType
from typing import Self

from crowdrag.runtime import data_folder, environment
from crowdrag.runtime import processes as runtime_processes
from crowdrag.runtime.data_folder import EXIT_ALREADY_RUNNING, REPOSITORY, AlreadyRunning, DataFolder, Problem
from crowdrag.runtime.postgres import NO_SETTINGS, Postgres
from crowdrag.runtime.preloader import Preloader, start_program
from crowdrag.runtime.processes import Reaper, kill_group, reap_orphans, rotate, tail, wait_for
from crowdrag.runtime.service_monitor import Service, ServiceMonitor
from crowdrag.runtime.valkey import Valkey

TICK = 0.1
# Seconds that the stores stay after their last user, since commands often come in a row.
LINGER = 2.0
STATUS_EVERY = 1.0
SPACE_EVERY = 5.0
SPACE_LOW = 300
WAIT_FOR_COMMANDS = 120.0
# Seconds that a start waits for the code to be loaded once for all.
LOADED_WITHIN = 60.0
# Columns for the name of a service or step in the output.
TITLE_WIDTH = 38


class StopRequested(Exception):  # noqa: N818 - it is no error
    """The supervisor was asked to stop while it waited for something."""


def say(text: str) -> None:
    """Print a line; a closed terminal is no reason to exit."""
    with suppress(OSError, ValueError):
        print(text, flush=True)


class Supervisor:
    """Keeps the services of one data folder alive."""

    def __init__(
        self, folder: DataFolder, *, patience: float = WAIT_FOR_COMMANDS, tell: Callable[[str], None] = say
    ) -> None:
        self.folder = folder
        self._patience = patience
        self.monitors: list[ServiceMonitor] = []
        self.facts: dict[str, object] = {}
        self.llm_url = ""
        self._tell = tell
        self._lock = folder.supervisor_lock
        self._signals = 0
        self._last_status = 0.0
        self._last_space = 0.0
        self._reaper: Reaper | None = None
        self._preloader: Preloader | None = None
        # The process groups of all services that were started: processes left from them are reaped here.
        self._groups: set[int] = set()
        self.phase = "starting"

    def __enter__(self) -> Self:
        """Take the folder's lock and clean up after an earlier supervisor."""
        if not self._lock.acquire(wait=0.3):
            if not self._patience:
                raise AlreadyRunning
            self._wait_for_lock()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._on_stop_signal)
        before = data_folder.read_status(self.folder).get("services", {})
        # PostgreSQL and Valkey are asked to stop when they are started: killing them would cost a recovery.
        others = {name: entry for name, entry in before.items() if name not in ("postgres", "valkey")}
        runtime_processes.kill_all(runtime_processes.find_of_status(others))
        self._reaper = Reaper()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop everything and release the folder."""
        self.stop()
        if self._reaper is not None:
            self._reaper.close()
        # Empty if all went well.
        with suppress(OSError):
            self.folder.sockets.rmdir()
        self._lock.release()

    def _wait_for_lock(self) -> None:
        status = data_folder.read_status(self.folder)
        if not status.get("stores"):
            raise Problem(
                f"CrowdRAG is already running in {self.folder.root} (process {status.get('pid', 'unknown')}"
                + (f", {status['url']}" if status.get("url") else "")
                + "). Stop it with `crowdrag down`, or start another system with CROWDRAG_DATA_DIR=/path."
            )
        self._tell("Waiting for commands that use this data folder ...")
        if not self._lock.acquire(wait=self._patience):
            raise Problem(f"Commands still use {self.folder.root}. Try again when they have finished.")

    def _on_stop_signal(self, _number: int, _frame: FrameType | None) -> None:
        self._signals += 1

    @property
    def stopping(self) -> bool:
        """Whether a signal asked to stop."""
        return self._signals > 0

    def add(self, service: Service) -> ServiceMonitor:
        """Start a service and keep it alive from now on."""
        assert self._reaper is not None
        monitor = ServiceMonitor(service, self._reaper, self._tell, self.llm_url, self._preloader)
        self.monitors.append(monitor)
        monitor.begin()
        return monitor

    def preload(self, more: dict[str, str]) -> None:
        """Load CrowdRAG's code into a process from which the services that run it are forked, where this is possible.

        `more` are variables that must be set when the code is loaded.
        """
        assert self._reaper is not None
        if Preloader.is_possible():
            env = environment.child_environment(self.folder, llm_url=self.llm_url)
            self._preloader = Preloader(self.folder, {**env, **more}, self._reaper)

    def wait_loaded(self) -> None:
        """Wait until the code is loaded, with everything kept alive; services start without it after a while."""
        deadline = time.monotonic() + LOADED_WITHIN
        while self._preloader is not None and self._preloader.is_loading and time.monotonic() < deadline:
            self.step()
            time.sleep(TICK / 2)

    def wait_ready(self, monitors: list[ServiceMonitor]) -> None:
        """Wait until these are ready, with everything kept alive; print a line for each."""
        waiting = list(monitors)
        while waiting:
            self.step()
            for monitor in list(waiting):
                if monitor.is_ready:
                    waiting.remove(monitor)
                    took = "starts for work" if monitor.is_idle else f"ready in {monitor.seconds_to_ready:4.1f} s"
                    self._tell(f"  {monitor.service.title:{TITLE_WIDTH}}{took}   {monitor.detail}")
                elif monitor.is_hopeless:
                    raise Problem(monitor.last_words())
            time.sleep(TICK / 2)

    def run_once(self, title: str, command: list[str], *, echo: bool = False) -> None:
        """Run a module (`python -m MODULE ...`) to its end while everything else is kept alive."""
        assert self._reaper is not None
        log = self.folder.logs / f"{title.lower().replace(' ', '-')}.log"
        rotate(log)
        start = log.stat().st_size if log.exists() else 0
        began = time.monotonic()
        env = environment.child_environment(self.folder, llm_url=self.llm_url)
        process = start_program(
            self._preloader, command, name=title.split(maxsplit=1)[0].lower(), log=log, env=env, cwd=REPOSITORY
        )
        self._reaper.add(process.pid, signal.SIGKILL)
        try:
            while process.poll() is None:
                self.step()
                start = self._echo(log, start) if echo else start
                time.sleep(TICK / 2)
        finally:
            kill_group(process)
            self._reaper.remove(process.pid)
        if echo:
            self._echo(log, start)
            if process.returncode == 0:
                # The caller has read it now, and it may contain a password.
                os.truncate(log, 0)
        if process.returncode != 0:
            raise Problem(f"{title} failed with status {process.returncode}. The end of {log}:\n{tail(log, 25)}")
        if not echo:
            self._tell(f"  {title:{TITLE_WIDTH}}done in {time.monotonic() - began:5.1f} s")

    def _echo(self, log: os.PathLike[str], start: int) -> int:
        """Print what was added to a log; return where it ends now."""
        with open(log, "rb") as file:  # noqa: PTH123 - a PathLike, as Path.open has no offset either
            file.seek(start)
            text = file.read()
        if text:
            self._tell(text.decode(errors="replace").rstrip("\n"))
        return start + len(text)

    def step(self) -> None:
        """Check everything once."""
        if self.stopping:
            raise StopRequested
        before = [monitor.state for monitor in self.monitors]
        for monitor in self.monitors:
            monitor.step()
        changed = before != [monitor.state for monitor in self.monitors]
        now = time.monotonic()
        if changed or now - self._last_status > STATUS_EVERY:
            self._last_status = now
            self._look_around()
        if now - self._last_space > SPACE_EVERY:
            self._last_space = now
            self._look_at_space()

    def _look_around(self) -> None:
        assert self._reaper is not None
        self._reaper.check()
        if self._preloader is not None:
            self._preloader.check()
        self._groups |= {monitor.process.pid for monitor in self.monitors if monitor.process is not None}
        reap_orphans(self._groups)
        for monitor in self.monitors:
            rotate(monitor.service.log)
        self.write_status()

    def _look_at_space(self) -> None:
        free = self.folder.free_megabytes()
        warned = "space" in self.facts
        if free < SPACE_LOW:
            self.facts["space"] = f"{free} MB left on the disk"
            if not warned:
                self._tell(
                    f"The disk of {self.folder.root} has {free} MB left: free some space, or writing will fail soon."
                )
        else:
            self.facts.pop("space", None)
        if warned != ("space" in self.facts):
            self.write_status()

    def write_status(self) -> None:
        """Write the status file. A full disk must not end the supervisor; space is reserved for the file."""
        with suppress(OSError):
            data_folder.write_status(
                self.folder,
                {
                    "pid": os.getpid(),
                    "phase": self.phase,
                    "written": datetime.now(UTC).isoformat(),  # noqa: TID251 - no Django here
                    "reaper": self._reaper.pid if self._reaper else None,
                    "preloader": self._preloader.process.pid if self._preloader else None,
                    **self.facts,
                    "services": {monitor.service.name: monitor.status() for monitor in self.monitors},
                },
            )

    def keep(self, until: Callable[[], bool] = lambda: False) -> None:
        """Keep everything alive until a signal, or until `until` returns True."""
        self.phase = "running"
        self.write_status()
        with suppress(StopRequested):
            while not until():
                self.step()
                time.sleep(TICK)

    def stop(self) -> None:
        """Stop tier by tier, from the top; a second signal ends the wait."""
        self.phase = "stopping"
        self.write_status()
        if self._preloader is not None:
            self._preloader.close()
            self._preloader = None
        patience = self._signals
        for tier in sorted({monitor.service.tier for monitor in self.monitors}, reverse=True):
            group = [monitor for monitor in self.monitors if monitor.service.tier == tier]
            for monitor in group:
                monitor.ask_to_stop()
            deadline = time.monotonic() + max(monitor.service.stop_within for monitor in group)
            processes = [monitor.process for monitor in group if monitor.process is not None]
            while time.monotonic() < deadline and self._signals <= max(patience, 1):
                wait_for(processes, 0.1)
                if all(process.poll() is not None for process in processes):
                    break
            for monitor in group:
                monitor.remove()
                monitor.service.reap(0)
        self.phase = "stopped"
        self.write_status()


def stores(folder: DataFolder, *, durable: bool = True, settings: Mapping[str, str] = NO_SETTINGS) -> list[Service]:
    """Return the services that every command needs, if they are ours to start; with settings of PostgreSQL."""
    services: list[Service] = []
    if environment.embeds_postgres():
        services.append(Postgres(folder, durable=durable, settings=settings))
    if environment.embeds_valkey():
        services.append(Valkey(folder))
    return services


class IdleStores:
    """Returns whether no command has used the stores for a while; then makes newcomers wait."""

    def __init__(self, folder: DataFolder) -> None:
        self._lock = folder.users_lock
        self._since: float | None = None

    def __call__(self) -> bool:
        """Return whether to end now."""
        if not self._lock.acquire():
            self._since = None
            return False
        now = time.monotonic()
        self._since = self._since or now
        if now - self._since < LINGER:
            self._lock.release()
            return False
        return True


def run_stores(folder: DataFolder, *, durable: bool, remove: bool) -> None:
    """Keep PostgreSQL and Valkey running until no command uses them."""
    folder.create()
    folder.check_space()
    with Supervisor(folder, patience=0) as supervisor, suppress(StopRequested):
        supervisor.facts = {"stores": True}
        supervisor.write_status()
        supervisor.wait_ready([supervisor.add(service) for service in stores(folder, durable=durable)])
        supervisor.keep(until=IdleStores(folder))
    if remove:
        shutil.rmtree(folder.root, ignore_errors=True)
        shutil.rmtree(folder.sockets, ignore_errors=True)


def main() -> None:
    """Run as the stores' supervisor (embedded_stores.py starts it so)."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stores", action="store_true", required=True)
    parser.add_argument("--volatile", action="store_true", help="reduce durability for speed (for tests)")
    parser.add_argument("--remove", action="store_true", help="remove the data folder at the end (for tests)")
    options = parser.parse_args()
    try:
        run_stores(DataFolder.chosen(), durable=not options.volatile, remove=options.remove)
    except AlreadyRunning:
        sys.exit(EXIT_ALREADY_RUNNING)
    except Problem as problem:
        say(str(problem))
        sys.exit(1)


if __name__ == "__main__":
    main()
