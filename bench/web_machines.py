"""Two web machines against one, with the same database: answers a second of people who judge.

A web machine is a web process with a folder of its own, that gets a fixed share of a core (`SHARE`). Database and load
have the rest of this machine, so that the web is the limit, as it is on machines of its own. This shows that web
processes do not wait for each other. It does not show how many of them one PostgreSQL can serve, which is why the time
that it took is printed too.
"""

from __future__ import annotations

import os
import signal
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psutil

from bench import _load, judging
from bench._system import system, web
from crowdrag.runtime.data_folder import DataFolder

#: Of a core; connections to each machine; seconds of each measurement; measurements of one and of two, in turn.
SHARE, CONNECTIONS, SECONDS, ROUNDS = 0.15, 20, 8.0, 3
TARGET = 1.8
# Seconds between two looks at the time that a process has used, and the most that it may save up while it is idle.
PERIOD, SAVED = 0.004, 0.02


def run() -> Iterator[dict]:
    """Measure once in a separate folder."""
    judging.PEOPLE = (2 * CONNECTIONS,)
    with system(WEB_WORKERS="1") as folder, ExitStack() as stack:
        here = judging._world()
        servers = []
        for _ in range(2):
            own = DataFolder(Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="crowdrag-web-"))).resolve())
            servers.append(stack.enter_context(web(own)))
        # A session of one machine is a session of the other: people are not bound to one.
        people = judging._people(here, servers[0])
        ports = [server.port for server in servers]
        for port in ports:
            _load.closed([port], people, 2.0)
        pids = [_worker(server.process.pid) for server in servers if server.process is not None]
        yield from _compared(ports, pids, people, folder)


def _compared(ports: list[int], pids: list[int], people: list[Iterator[bytes]], folder: DataFolder) -> Iterator[dict]:
    one, two, errors, database = [], [], 0, []
    with limited(pids):
        for _ in range(ROUNDS):
            for rates, used in ((one, ports[:1]), (two, ports)):
                before = _database_seconds(folder)
                seen = _load.closed(used, people[: CONNECTIONS * len(used)], SECONDS)
                rates.append(len(seen.seconds) / SECONDS)
                errors += len(seen.errors)
                database.append((_database_seconds(folder) - before) / len(seen.seconds))
    yield {
        "name": f"two web machines with {SHARE:g} of a core each, over one",
        "ratio": statistics.median(two) / statistics.median(one),
        "target": TARGET,
        "detail": f"{', '.join(f'{a:.0f}/{b:.0f}' for a, b in zip(one, two, strict=True))} requests a second in turn, "
        f"{errors} errors, PostgreSQL {statistics.median(database) * 1000:.2f} ms of a core for each, "
        f"load average {os.getloadavg()[0]:.1f}",
    }
    yield {
        "name": "answers without an error, from both machines",
        "ratio": float(not errors),
        "target": 1,
        "detail": "",
    }


def _worker(master: int) -> int:
    """Return the one process that answers requests; its parent only watches it."""
    (worker,) = psutil.Process(master).children()
    return worker.pid


def _database_seconds(folder: DataFolder) -> float:
    """Return the time of a core that all processes of the database have used."""
    seconds = 0.0
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.name() == "postgres" and Path(process.cwd()) == folder.postgres:
                seconds += sum(process.cpu_times()[:2])
    return seconds


@contextmanager
def limited(pids: list[int]) -> Iterator[None]:
    """Let processes use no more than their share of a core: stop them when they used more, and continue them later."""
    over = threading.Event()
    watcher = threading.Thread(target=_limit, args=(pids, over))
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def _limit(pids: list[int], over: threading.Event) -> None:
    def used(pid: int) -> float:
        # The clock of another process's time, as clock_getcpuclockid(3) makes it: exact, unlike /proc.
        return time.clock_gettime(~pid << 3 | 2)

    since = time.perf_counter()
    left = dict.fromkeys(pids, 0.0)
    spent = {pid: used(pid) for pid in pids}
    stopped = dict.fromkeys(pids, False)
    while not over.wait(PERIOD):
        now = time.perf_counter()
        for pid in pids:
            total = used(pid)
            left[pid] = min(SAVED, left[pid] + SHARE * (now - since) - (total - spent[pid]))
            spent[pid] = total
            if stopped[pid] != (left[pid] < 0):
                stopped[pid] = not stopped[pid]
                os.kill(pid, signal.SIGSTOP if stopped[pid] else signal.SIGCONT)
        since = now
    for pid in pids:
        os.kill(pid, signal.SIGCONT)
