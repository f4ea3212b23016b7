"""The adversary: every few seconds it harms a part of the system, in an order that its seed decides."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil

from bench._disk import fill
from bench.chaos import system as systems
from bench.chaos.client import Journal
from bench.chaos.system import ChaosSystem, ModelServer
from crowdrag.runtime import data_folder, valkey

#: Seconds between two harms.
PAUSE = (1.5, 5.0)
#: The parts to kill, and how often each relative to the others.
PARTS = {
    "web": 3, "worker-default": 3, "worker-llm": 3, "worker-gpu": 1, "sweep": 1, "postgres": 3, "valkey": 2, "llm": 1,
    "model server": 2, "preloader": 1,
}  # fmt: skip
#: Of these, a child is killed more often than the whole part.
HAS_CHILDREN = ("web", "worker-default", "worker-llm", "postgres")
CHILD = 0.6
#: Seconds for which something is stopped, or a disk is full; and by which the clock is moved.
STOPPED, CUT, FULL = (8.0, 25.0), (8.0, 20.0), (8.0, 15.0)
CLOCK = (2 * 3600, -2 * 3600, 26 * 3600, -26 * 3600)
CLOCK_LASTS = (10.0, 20.0)
#: Each of the rarer harms comes once in so many seconds, and at least once in a run.
CYCLE = 600.0


class Adversary:
    """Harms a system until its time is up, and journals what it did."""

    def __init__(
        self, system: ChaosSystem, model: ModelServer, journal: Journal, *, disk: Path | None, backup: Path, seed: int
    ) -> None:
        self.system, self.model, self.journal = system, model, journal
        self.disk, self.backup = disk, backup
        self.rng = random.Random(f"{seed}/adversary")
        self.done: Counter[str] = Counter()
        #: The backup that was taken last: when it began and ended, by the monotonic clock.
        self.backed_up: tuple[float, float] | None = None
        self._is_saving = threading.Event()
        #: The parts whose turn is to come, so that each is killed even in a short run.
        self._turns: list[str] = []
        self._threads: list[threading.Thread] = []

    def run(self, seconds: float) -> None:
        """Harm until the time is up; everything continues at the end."""
        began = time.monotonic()
        plan = self._plan(seconds)
        while (now := time.monotonic() - began) < seconds:
            if plan and plan[0][0] <= now:
                _due, harm = plan.pop(0)
                harm()
            else:
                self.kill_something()
            time.sleep(self.rng.uniform(*PAUSE))
        for thread in self._threads:
            thread.join()
        if self.system.clock is not None:
            self.system.clock.move(0)

    def _plan(self, seconds: float) -> list[tuple[float, Callable[[], None]]]:
        """Return the rarer harms with their times, in seconds from the start."""
        rare: list[Callable[[], None]] = [self.stop_a_worker, self.cut_the_broker, self.empty_the_broker, self.save]
        if self.disk is not None:
            rare.append(self.fill_the_disk)
        if self.system.clock is not None and self.system.clock.is_movable:
            rare += [lambda by=by: self.move_the_clock(by) for by in CLOCK]
        rare.append(self.kill_the_supervisor)
        cycles = max(1, round(seconds / CYCLE))
        plan = []
        for cycle in range(cycles):
            self.rng.shuffle(rare)
            length = seconds / cycles
            plan += [(cycle * length + length * (n + 0.5) / len(rare), harm) for n, harm in enumerate(rare)]
        return plan

    def note(self, harm: str, **facts: object) -> None:
        """Journal a harm."""
        self.done[harm] += 1
        self.journal.note("harm", harm=harm, **facts)

    def kill_something(self) -> None:
        """Kill a part, or a child of it."""
        if not self._turns:
            self._turns = [part for part, times in PARTS.items() for _ in range(times)]
            self.rng.shuffle(self._turns)
        part = self._turns.pop()
        if part == "postgres" and self._is_saving.is_set():
            self._turns.insert(0, part)  # a backup that its database leaves fails, and says so
            part = "web"
        if part == "model server":
            self.model.kill()
            self._later(self.rng.uniform(0, 4), self.model.start)
            return self.note("killed model server")
        pid = self._pid(part)
        if not pid:
            return None
        victims = systems.children(pid) if part in HAS_CHILDREN and self.rng.random() < CHILD else []
        victim = self.rng.choice(victims).pid if victims else pid
        with suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)
            self.note(f"killed {part}{' (one process of it)' if victims else ''}")
        return None

    def stop_a_worker(self) -> None:
        """Stop a worker's process for longer than its lease, then let it continue."""
        pid = self._pid(self.rng.choice(("worker-default", "worker-llm")))
        victims = systems.children(pid) if pid else []
        if victims:
            self._pause(self.rng.choice(victims).pid, self.rng.uniform(*STOPPED) + 20)
            self.note("stopped a worker")

    def cut_the_broker(self) -> None:
        """Let nothing through to the broker, without closing a connection."""
        if pid := self._pid("valkey"):
            self._pause(pid, self.rng.uniform(*CUT))
            self.note("cut the broker")

    def empty_the_broker(self) -> None:
        """Make the broker forget everything."""
        with suppress(Exception), valkey.client(self.system.folder) as broker:
            broker.flushall()
            self.note("emptied the broker")

    def fill_the_disk(self) -> None:
        """Fill the disk for some seconds, and kill the web server meanwhile."""
        assert self.disk is not None
        filler = fill(self.disk)
        self.note("filled the disk")
        time.sleep(self.rng.uniform(*FULL) / 2)
        self._kill("web")
        time.sleep(self.rng.uniform(*FULL) / 2)
        filler.unlink()

    def move_the_clock(self, by: int) -> None:
        """Move the wall clock for some seconds, then back; the kills go on meanwhile."""
        clock = self.system.clock
        assert clock is not None
        clock.move(by)
        self.note(f"moved the clock by {by / 3600:+.0f} h")
        self._later(self.rng.uniform(*CLOCK_LASTS), lambda: clock.move(0))

    def save(self) -> None:
        """Take a backup while everything else goes on."""

        def make() -> None:
            self._is_saving.set()
            try:
                for _ in range(5):
                    began = time.monotonic()
                    draft = self.backup.with_suffix(".new")
                    draft.unlink(missing_ok=True)
                    process = self.system.popen("backup", str(draft))
                    said = process.communicate()
                    if process.returncode == 0:
                        draft.replace(self.backup)
                        self.backed_up = began, time.monotonic()
                        return self.note("took a backup")
                    self.note("a backup was refused", about=(said[0] + said[1])[-300:])
                    time.sleep(3)
            finally:
                self._is_saving.clear()
            return None

        self._threads.append(thread := threading.Thread(target=make))
        thread.start()

    def kill_the_supervisor(self) -> None:
        """Kill the supervisor, and start the system again, as an operator's init would."""
        while self._is_saving.is_set():
            time.sleep(0.2)
        if data_folder.is_running(self.system.folder):
            self.system.kill_supervisor()
            self.note("killed the supervisor")
        self.system.start()

    def _kill(self, part: str) -> None:
        if pid := self._pid(part):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                self.note(f"killed {part}")

    def _pid(self, part: str) -> int:
        """Return the process of a part; 0 if it does not run."""
        if part == "preloader":
            found = self.system.status.get("preloader")
        else:
            found = self.system.services().get(part, {}).get("pid")
        return found if isinstance(found, int) and found > 1 and psutil.pid_exists(found) else 0

    def _pause(self, pid: int, seconds: float) -> None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
            self._later(seconds, lambda: _continue(pid))

    def _later(self, seconds: float, act: Callable[[], None]) -> None:
        self._threads.append(timer := threading.Timer(seconds, act))
        timer.start()


def _continue(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)
