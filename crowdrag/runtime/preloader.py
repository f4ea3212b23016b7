"""A process that has loaded CrowdRAG's code once and becomes the web server, the workers and the sweep by forking.

They share its memory, and a start or a restart does not load the code again. Only for one machine that runs all of them
(`crowdrag up`, `crowdrag demo`); a part in a container loads its own code.

The supervisor asks over a socket. The new process is forked twice and so handed to the supervisor, which Linux lets
adopt it: it is then a child like any other, with the same death signal, and lives on if the preloader is killed.

    python -m crowdrag.runtime.preloader DESCRIPTOR SUPERVISOR
"""

import atexit
import ctypes
import gc
import importlib
import json
import os
import runpy
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from crowdrag.runtime.data_folder import REPOSITORY, DataFolder
from crowdrag.runtime.launcher import die_with_parent
from crowdrag.runtime.processes import AdoptedProcess, Process, Reaper, open_private, spawn
from crowdrag.runtime.service_account import Account

# What the services import beside the apps and their views. Neural models are left out, as only some tasks need them,
# and so is crowdrag.wsgi, which lists the static files: they may not be collected yet.
MODULES = ("crowdrag.runtime.web_worker", "gunicorn.app.wsgiapp")
# What only workers and the sweep import: loaded while the first program runs, which prepares the database.
MODULES_OF_WORKERS = (
    "celery.apps.worker",
    "celery.bin.celery",
    "celery.concurrency.prefork",
    "celery.worker.consumer",
    "crowdrag.jobs.management.commands.sweep",
)
LARGEST_REQUEST = 1 << 20
# Descriptors below this number are free for those that a command names.
LOW_DESCRIPTORS = 64
READY = b"ready\n"
# Seconds that the supervisor waits for a new process, and that a new process waits for its adoption.
START_WITHIN = 10.0
ADOPTION_WITHIN = 5.0
PR_SET_CHILD_SUBREAPER, PR_SET_NAME = 36, 15


class Preloader:
    """The supervisor's side. Restarted when it dies; until it is ready again, programs are started without it."""

    def __init__(self, folder: DataFolder, env: dict[str, str], reaper: Reaper) -> None:
        self._reaper = reaper
        self._log = folder.logs / "preloader.log"
        self._env = env
        self._is_ready = self._was_ready = False
        self._start()

    @property
    def is_loading(self) -> bool:
        """Whether it lives and has not loaded the code yet."""
        return not self.check() and self.process.poll() is None

    @staticmethod
    def is_possible() -> bool:
        """Return whether this system can adopt processes."""
        return sys.platform.startswith("linux")

    def _start(self) -> None:
        _prctl(PR_SET_CHILD_SUBREAPER, 1)
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            descriptor = theirs.fileno()
            command = [sys.executable, "-m", "crowdrag.runtime.preloader", str(descriptor), str(os.getpid())]
            self.process = spawn(command, log=self._log, env=self._env, fds=(descriptor,), cwd=REPOSITORY)
        self._reaper.add(self.process.pid, signal.SIGKILL)

    def check(self) -> bool:
        """Return whether it has loaded the code, and start another one if it was killed."""
        if self.process.poll() is not None:
            self.close()
            if not self._was_ready:  # it cannot load the code, and would not the next time
                return False
            self._start()
        if not self._is_ready:
            self._socket.setblocking(False)
            with suppress(BlockingIOError, ConnectionError):
                self._is_ready = self._was_ready = self._socket.recv(len(READY)) == READY
        return self._is_ready

    def start(
        self,
        arguments: list[str],
        *,
        name: str,
        log: Path,
        env: dict[str, str],
        death_signal: int,
        fds: tuple[int, ...] = (),
    ) -> AdoptedProcess | None:
        """Start a module with its arguments (`["celery", "-A", ...]`); None if the preloader cannot do it now."""
        if not self.check() or any(fd >= LOW_DESCRIPTORS for fd in fds):
            return None
        # A program must not begin when nobody waits for it any more: another one has been started in its place.
        begin_before = time.monotonic() + START_WITHIN / 2
        request = {"arguments": arguments, "name": name, "env": env, "death_signal": int(death_signal), "fds": fds}
        request["begin_before"] = begin_before
        self._socket.settimeout(START_WITHIN)
        try:
            with open_private(log) as output:
                socket.send_fds(self._socket, [json.dumps(request).encode()], [output.fileno(), *fds])
            answer = self._socket.recv(100)
        except OSError:
            answer = b""
        if not answer:
            # Killed or stuck: the next check starts another one.
            self.process.kill()
            return None
        return AdoptedProcess(int(answer))

    def close(self) -> None:
        """End it."""
        self._is_ready = False
        self._socket.close()
        with suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()
        self._reaper.remove(self.process.pid)


def start_program(
    preloader: Preloader | None,
    command: list[str],
    *,
    name: str,
    log: Path,
    env: dict[str, str],
    death_signal: int = signal.SIGKILL,
    account: Account | None = None,
    fds: tuple[int, ...] = (),
    cwd: Path | None = None,
) -> Process:
    """Start a program: forked from the preloader if there is one that can, otherwise by itself.

    With a preloader, the command must be `python -m MODULE ...` with CrowdRAG's code.
    """
    if preloader is not None:
        adopted = preloader.start(
            command[2:], name=f"crowdrag-{name}", log=log, env=env, death_signal=death_signal, fds=fds
        )
        if adopted is not None:
            return adopted
    return spawn(command, log=log, env=env, death_signal=death_signal, account=account, fds=fds, cwd=cwd)


def _prctl(option: int, value: Any) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def serve(connection: socket.socket, supervisor: int) -> None:
    """Fork one process for each request until the supervisor closes the socket."""
    connection.send(READY)
    is_first = True
    while True:
        message, fds, _flags, _address = socket.recv_fds(connection, LARGEST_REQUEST, 16)
        if not message:
            return
        receiving, sending = os.pipe()
        middle = os.fork()
        if middle == 0:
            if os.fork():
                os._exit(0)
            os.setsid()
            os.write(sending, str(os.getpid()).encode())
            os.close(receiving)
            os.close(sending)
            connection.close()
            _become(json.loads(message), fds, supervisor)
        os.close(sending)
        pid = os.read(receiving, 100)
        os.close(receiving)
        os.waitpid(middle, 0)  # from now on the new process is the supervisor's
        for fd in fds:
            os.close(fd)
        connection.send(pid)
        if is_first:
            is_first = False
            load_for_good(MODULES_OF_WORKERS)


def _become(request: dict[str, Any], fds: list[int], supervisor: int) -> NoReturn:
    """Run a module in this new process, as the interpreter would with `-m`; never return to the preloader's code."""
    status = 1
    try:
        deadline = time.monotonic() + ADOPTION_WITHIN
        while os.getppid() != supervisor and time.monotonic() < deadline:
            time.sleep(0.001)
        die_with_parent(supervisor, request["death_signal"])
        if time.monotonic() > request["begin_before"]:
            sys.exit(1)
        _prctl(PR_SET_NAME, request["name"].encode()[:15])
        _take_over(fds, request["fds"])
        os.environ.clear()
        os.environ.update(request["env"])
        sys.argv = list(request["arguments"])
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
        status = 0
    except SystemExit as ending:
        status = _status(ending)
    except BaseException:  # noqa: BLE001 - as the interpreter does: report it, and exit
        sys.excepthook(*sys.exc_info())
    finally:
        _leave(status)


def _take_over(received: list[int], wanted: list[int]) -> None:
    """Write to the received log; have each other descriptor at the number that the command names."""
    output, *others = received
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    # Out of the way first: a wanted number may be that of another received one.
    free = max([*received, *wanted, null]) + 1
    moved = []
    for number, fd in enumerate(others):
        os.dup2(fd, free + number, inheritable=True)
        moved.append(free + number)
    for fd in {*received, null} - {0, 1, 2}:
        os.close(fd)
    for fd, target in zip(moved, wanted, strict=True):
        os.dup2(fd, target, inheritable=True)
        os.close(fd)


def _status(ending: SystemExit) -> int:
    if ending.code is None or isinstance(ending.code, int):
        return ending.code or 0
    print(ending.code, file=sys.stderr)
    return 1


def _leave(status: int) -> NoReturn:
    """End as the interpreter does at the end of a program."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    with suppress(Exception):
        sys.stdout.flush()
    with suppress(Exception):
        sys.stderr.flush()
    os._exit(status)


def load() -> None:
    """Load the code of all apps with their views."""
    import django
    from django.urls import get_resolver

    django.setup()
    list(get_resolver().url_patterns)


def load_for_good(modules: Iterable[str], more: Callable[[], None] = lambda: None) -> None:
    """Import modules after `more`, and leave all that is loaded to be shared.

    Nearly all of it stays: looking for garbage again and again would take a seventh of the time. Collecting it later
    would touch all objects, and so copy the memory that the processes share.
    """
    gc.disable()
    with _reserved_descriptors():
        more()
        for module in modules:
            importlib.import_module(module)
    gc.collect()
    gc.freeze()
    gc.enable()


@contextmanager
def _reserved_descriptors() -> Iterator[None]:
    """Keep low descriptors free of files that the code opens while it is loaded: commands name theirs by number."""
    null = os.open(os.devnull, os.O_RDONLY)
    reserved = [null]
    while reserved[-1] < LOW_DESCRIPTORS:
        reserved.append(os.dup(null))
    try:
        yield
    finally:
        for fd in reserved:
            os.close(fd)


def main() -> None:
    """Load the code, then serve."""
    descriptor, supervisor = int(sys.argv[1]), int(sys.argv[2])
    connection = socket.socket(fileno=descriptor)
    load_for_good(MODULES, load)
    serve(connection, supervisor)


if __name__ == "__main__":
    main()
