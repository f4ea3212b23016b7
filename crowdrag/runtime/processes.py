"""Starting and ending processes, each in its own group, each bound to the life of its parent.

Processes that an earlier supervisor could not end are identified by their properties, never by process id alone.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import psutil

from crowdrag.runtime.service_account import Account

LAUNCHER = Path(__file__).with_name("launcher.py")
REAPER = Path(__file__).with_name("reaper.py")
LOG_LIMIT = 10 * 1024 * 1024
LOG_COPIES = 3


def spawn(
    command: list[str],
    *,
    log: Path,
    env: dict[str, str],
    death_signal: int = signal.SIGKILL,
    account: Account | None = None,
    fds: tuple[int, ...] = (),
    cwd: Path | None = None,
) -> subprocess.Popen[bytes]:
    """Start a program through the launcher, in its own session, with its output appended to `log`.

    Call it from the main thread: the kernel's death signal follows the thread that started a process.
    """
    with open_private(log) as output:
        return subprocess.Popen(
            bound_command(command, death_signal, account),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=env,
            cwd=cwd or "/",
            pass_fds=fds,
            start_new_session=True,
        )


def open_private(log: Path) -> BinaryIO:
    """Open a log for appending; only its owner can read it."""
    descriptor = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.fchmod(descriptor, 0o600)  # one that an earlier release created
    return os.fdopen(descriptor, "ab")


def bound_command(command: list[str], death_signal: int = signal.SIGKILL, account: Account | None = None) -> list[str]:
    """Return the command that becomes `command` and dies with this process."""
    uid, gid = (account.uid, account.gid) if account else (-1, -1)
    guard = [sys.executable, "-I", "-S", str(LAUNCHER), str(os.getpid()), str(int(death_signal)), str(uid), str(gid)]
    return [*guard, "--", *command]


class AdoptedProcess:
    """A process that the preloader has forked and that is now our child: what `subprocess.Popen` offers for its own."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return its exit status, negative for a signal; None while it lives."""
        if self.returncode is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:  # it has been reaped elsewhere
                self.returncode = -signal.SIGKILL
            else:
                self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode

    def wait(self, timeout: float) -> int:
        """Wait until it has ended.

        Raises
        ------
        subprocess.TimeoutExpired
            if it has not in `timeout` seconds.
        """
        deadline = time.monotonic() + timeout
        while (status := self.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
            time.sleep(0.01)
        return status

    def send_signal(self, number: int) -> None:
        """Send it a signal if it lives."""
        if self.poll() is None:
            os.kill(self.pid, number)


Process = subprocess.Popen[bytes] | AdoptedProcess


def kill_group(process: Process) -> None:
    """Kill a process with all of its group, and reap it."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        process.wait(5)


def rotate(log: Path) -> None:
    """Start a new log when it has grown too long; writers append, so they need not be told."""
    if not log.exists() or log.stat().st_size < LOG_LIMIT:
        return
    for number in range(LOG_COPIES - 1, 0, -1):
        older = log.with_name(f"{log.name}.{number}")
        if older.exists():
            older.replace(log.with_name(f"{log.name}.{number + 1}"))
    shutil.copy(log, log.with_name(f"{log.name}.1"))  # with its permissions
    os.truncate(log, 0)


def tail(log: Path, lines: int = 12) -> str:
    """Return the end of a log, for a message."""
    if not log.exists():
        return ""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 16_384))
        return "\n".join(file.read().decode(errors="replace").splitlines()[-lines:])


def wait_for(processes: list[Process], seconds: float) -> None:
    """Wait until all have ended, `seconds` at most."""
    deadline = time.monotonic() + seconds
    while any(process.poll() is None for process in processes) and time.monotonic() < deadline:
        time.sleep(0.02)


def reap_orphans(groups: set[int]) -> None:
    """Reap ended processes of these process groups that were left to us because their parents ended before them."""
    while True:
        try:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return
        if ended is None or ended.si_pid in groups:
            return
        try:
            # Our own children lead their groups, and whoever started them waits for them.
            if os.getpgid(ended.si_pid) not in groups:
                return
            os.waitpid(ended.si_pid, os.WNOHANG)
        except OSError:
            return


class Reaper:
    """The process that ends all others when the supervisor dies (reaper.py)."""

    def __init__(self) -> None:
        self._groups: dict[int, int] = {}
        self._process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", str(REAPER)], stdin=subprocess.PIPE, start_new_session=True, cwd="/"
        )

    @property
    def pid(self) -> int:
        """The reaper's process id."""
        return self._process.pid

    def add(self, group: int, death_signal: int) -> None:
        """Register a process group with it."""
        self._groups[group] = int(death_signal)
        self._tell(f"+ {group} {int(death_signal)}")

    def remove(self, group: int) -> None:
        """Tell it that a group has ended."""
        self._groups.pop(group, None)
        self._tell(f"- {group}")

    def check(self) -> None:
        """Start another one if it was killed."""
        if self._process.poll() is not None:
            self._process = self._start()
            for group, number in self._groups.items():
                self._tell(f"+ {group} {number}")

    def close(self) -> None:
        """Close it: it ends all groups that are still registered."""
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(20)

    def _tell(self, line: str) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.write(f"{line}\n".encode())
            self._process.stdin.flush()


def find_in_folder(path: Path, name: str = "postgres") -> list[psutil.Process]:
    """Return the processes called `name` whose working directory is `path`, as PostgreSQL's in its data folder."""
    processes = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.name() == name and process.cwd() == str(path):
                processes.append(process)
    return processes


def kill_all(processes: list[psutil.Process]) -> None:
    """Kill processes and wait until they are gone."""
    for process in processes:
        with suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(processes, timeout=5)


def stop_gracefully(processes: list[psutil.Process], number: int = signal.SIGINT, patience: float = 20.0) -> None:
    """Signal processes, give them time, kill the rest."""
    for process in processes:
        with suppress(psutil.Error):
            process.send_signal(number)
    _, alive = psutil.wait_procs(processes, timeout=patience)
    kill_all(alive)


def find_of_status(services: dict[str, dict[str, object]]) -> list[psutil.Process]:
    """Return live processes of a status file's services: same process id *and* same start time, with children."""
    processes = []
    for entry in services.values():
        pid, born = entry.get("pid"), entry.get("born")
        if not isinstance(pid, int) or not isinstance(born, float):
            continue
        with suppress(psutil.Error):
            process = psutil.Process(pid)
            if abs(process.create_time() - born) < 1.0 and process.status() != psutil.STATUS_ZOMBIE:
                processes += [process, *process.children(recursive=True)]
    return processes


def start_time(pid: int) -> float | None:
    """Return when a process was started, in seconds since 1970."""
    try:
        return float(psutil.Process(pid).create_time())
    except psutil.Error:
        return None
