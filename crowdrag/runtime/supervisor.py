"""The one process that starts everything in order, keeps it alive, and stops it in order.

python -m crowdrag.runtime.supervisor --stores     PostgreSQL and Valkey alone, until no command uses them
"""

import argparse
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from types import FrameType
from typing import Self

from crowdrag.runtime import environment, leftovers, status
from crowdrag.runtime.folder import REPOSITORY, Folder
from crowdrag.runtime.keeper import Keeper
from crowdrag.runtime.postgres import Postgres
from crowdrag.runtime.problems import ALREADY, Already, Problem
from crowdrag.runtime.processes import Reaper, kill_group, rotate, spawn, tail, wait_for
from crowdrag.runtime.service import Service
from crowdrag.runtime.valkey import Valkey

TICK = 0.1
# The stores stay this long after their last user, as commands often come in a row.
LINGER = 2.0
STATUS_EVERY = 1.0
SPACE_EVERY = 5.0
SPACE_LOW = 300
WAIT_FOR_COMMANDS = 120.0


class Stopped(Exception):  # noqa: N818 - it is no error
    """The supervisor was asked to stop while it waited for something."""


def say(text: str) -> None:
    """Print a line; a closed terminal is no reason to end."""
    with suppress(OSError, ValueError):
        print(text, flush=True)


class Supervisor:
    """Keeps the services of one data folder."""

    def __init__(
        self, folder: Folder, *, patience: float = WAIT_FOR_COMMANDS, tell: Callable[[str], None] = say
    ) -> None:
        self.folder = folder
        self._patience = patience
        self.keepers: list[Keeper] = []
        self.facts: dict[str, object] = {}
        self.llm_url = ""
        self._tell = tell
        self._lock = folder.supervisor_lock
        self._signals = 0
        self._last_status = 0.0
        self._last_space = 0.0
        self._reaper: Reaper | None = None
        self.phase = "starting"

    def __enter__(self) -> Self:
        """Take the folder's lock and clear away what an earlier supervisor left."""
        if not self._lock.acquire(wait=0.3):
            if not self._patience:
                raise Already
            self._wait_for_lock()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._asked_to_stop)
        before = status.read(self.folder).get("services", {})
        # PostgreSQL and Valkey are asked to stop when they are started: killing them would cost a recovery.
        others = {name: entry for name, entry in before.items() if name not in ("postgres", "valkey")}
        leftovers.kill_all(leftovers.of_status(others))
        self._reaper = Reaper()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop everything and let the folder go."""
        self.stop()
        if self._reaper is not None:
            self._reaper.close()
        # Empty when all went well.
        with suppress(OSError):
            self.folder.sockets.rmdir()
        self._lock.release()

    def _wait_for_lock(self) -> None:
        found = status.read(self.folder)
        if not found.get("stores"):
            raise Problem(
                f"CrowdRAG runs already in {self.folder.root} (process {found.get('pid', 'unknown')}"
                + (f", {found['url']}" if found.get("url") else "")
                + "). Stop it with `crowdrag down`, or start another system with CROWDRAG_DATA_DIR=/path."
            )
        self._tell("Waiting for commands that use this data folder ...")
        if not self._lock.acquire(wait=self._patience):
            raise Problem(f"Commands still use {self.folder.root}. Try again when they have ended.")

    def _asked_to_stop(self, _number: int, _frame: FrameType | None) -> None:
        self._signals += 1

    @property
    def stopping(self) -> bool:
        """Whether a signal asked for the end."""
        return self._signals > 0

    def add(self, service: Service) -> Keeper:
        """Start a service and keep it from now on."""
        assert self._reaper is not None
        keeper = Keeper(service, self._reaper, self._tell, self.llm_url)
        self.keepers.append(keeper)
        keeper.start()
        return keeper

    def wait_ready(self, keepers: list[Keeper]) -> None:
        """Keep everything until these are ready; say a line for each."""
        waiting = list(keepers)
        while waiting:
            self.step()
            for keeper in list(waiting):
                if keeper.is_ready:
                    waiting.remove(keeper)
                    self._tell(
                        f"  {keeper.service.title:28}ready in {keeper.seconds_to_ready:4.1f} s   {keeper.detail}"
                    )
                elif keeper.is_hopeless:
                    raise Problem(keeper.last_words())
            time.sleep(TICK / 2)

    def run_once(self, title: str, command: list[str], *, echo: bool = False) -> None:
        """Run a command to its end while everything else is kept alive."""
        assert self._reaper is not None
        log = self.folder.logs / f"{title.lower().replace(' ', '-')}.log"
        rotate(log)
        start = log.stat().st_size if log.exists() else 0
        began = time.monotonic()
        process = spawn(command, log=log, env=environment.of_child(self.folder, llm_url=self.llm_url), cwd=REPOSITORY)
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
                # Whoever started it has read it now, and what it says may be a password.
                os.truncate(log, 0)
        if process.returncode != 0:
            raise Problem(f"{title} failed with status {process.returncode}. The end of {log}:\n{tail(log, 25)}")
        if not echo:
            self._tell(f"  {title:28}done in {time.monotonic() - began:5.1f} s")

    def _echo(self, log: os.PathLike[str], start: int) -> int:
        """Print what has been added to a log; return where it ends now."""
        with open(log, "rb") as file:  # noqa: PTH123 - a PathLike, as Path.open has no offset either
            file.seek(start)
            text = file.read()
        if text:
            self._tell(text.decode(errors="replace").rstrip("\n"))
        return start + len(text)

    def step(self) -> None:
        """Look after everything once."""
        if self.stopping:
            raise Stopped
        before = [keeper.state for keeper in self.keepers]
        for keeper in self.keepers:
            keeper.step()
        changed = before != [keeper.state for keeper in self.keepers]
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
        for keeper in self.keepers:
            rotate(keeper.service.log)
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
        """Write the status file. A full disk must not end the supervisor; the file has a reserve on it."""
        with suppress(OSError):
            status.write(
                self.folder,
                {
                    "pid": os.getpid(),
                    "phase": self.phase,
                    "written": datetime.now(UTC).isoformat(),  # noqa: TID251 - no Django here
                    "reaper": self._reaper.pid if self._reaper else None,
                    **self.facts,
                    "services": {keeper.service.name: keeper.status() for keeper in self.keepers},
                },
            )

    def keep(self, until: Callable[[], bool] = lambda: False) -> None:
        """Look after everything until a signal, or until `until` says so."""
        self.phase = "running"
        self.write_status()
        with suppress(Stopped):
            while not until():
                self.step()
                time.sleep(TICK)

    def stop(self) -> None:
        """Stop tier by tier, from the top; a second signal ends the waiting."""
        self.phase = "stopping"
        self.write_status()
        patience = self._signals
        for tier in sorted({keeper.service.tier for keeper in self.keepers}, reverse=True):
            group = [keeper for keeper in self.keepers if keeper.service.tier == tier]
            for keeper in group:
                keeper.ask_to_stop()
            deadline = time.monotonic() + max(keeper.service.stop_within for keeper in group)
            processes = [keeper.process for keeper in group if keeper.process is not None]
            while time.monotonic() < deadline and self._signals <= max(patience, 1):
                wait_for(processes, 0.1)
                if all(process.poll() is not None for process in processes):
                    break
            for keeper in group:
                keeper.bury()
                keeper.service.mourn(0)
        self.phase = "stopped"
        self.write_status()


def stores(folder: Folder, *, durable: bool = True) -> list[Service]:
    """Return the services that every command needs, as far as they are ours to start."""
    found: list[Service] = []
    if environment.embeds_postgres():
        found.append(Postgres(folder, durable=durable))
    if environment.embeds_valkey():
        found.append(Valkey(folder))
    return found


class Unused:
    """Says whether no command has used the stores for a while; keeps newcomers waiting once it has said so."""

    def __init__(self, folder: Folder) -> None:
        self._lock = folder.users_lock
        self._since: float | None = None

    def __call__(self) -> bool:
        """Return whether it is time to end."""
        if not self._lock.acquire():
            self._since = None
            return False
        now = time.monotonic()
        self._since = self._since or now
        if now - self._since < LINGER:
            self._lock.release()
            return False
        return True


def keep_stores(folder: Folder, *, durable: bool, remove: bool) -> None:
    """Keep PostgreSQL and Valkey until no command uses them."""
    folder.create()
    folder.check_space()
    with Supervisor(folder, patience=0) as supervisor, suppress(Stopped):
        supervisor.facts = {"stores": True}
        supervisor.write_status()
        supervisor.wait_ready([supervisor.add(service) for service in stores(folder, durable=durable)])
        supervisor.keep(until=Unused(folder))
    if remove:
        shutil.rmtree(folder.root, ignore_errors=True)
        shutil.rmtree(folder.sockets, ignore_errors=True)


def main() -> None:
    """Run as the stores' supervisor (embedded.py starts it so)."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stores", action="store_true", required=True)
    parser.add_argument("--volatile", action="store_true", help="trade durability for speed, for tests")
    parser.add_argument("--remove", action="store_true", help="remove the data folder at the end, for tests")
    options = parser.parse_args()
    try:
        keep_stores(Folder.chosen(), durable=not options.volatile, remove=options.remove)
    except Already:
        sys.exit(ALREADY)
    except Problem as problem:
        say(str(problem))
        sys.exit(1)


if __name__ == "__main__":
    main()
