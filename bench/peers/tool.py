"""What every compared tool can do: install, open a project, let annotators judge, export, be killed, start again.

Each tool is one value of `Tool`, in a module of its own. A `Site` is one project of it on a running server.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Protocol

from bench.peers.browser import Browser
from crowdrag.runtime import processes
from crowdrag.runtime.data_folder import DataFolder

#: Choices of an annotator: the first response, the second, neither.
CHOICES = ("a", "b", "neither")
#: Seconds until a server must answer.
PATIENCE = 120.0


def cache() -> Path:
    """Return the folder of the peers' virtual environments: `CROWDRAG_PEERS`, otherwise one in the user's cache."""
    return Path(os.environ.get("CROWDRAG_PEERS") or Path.home() / ".cache" / "crowdrag-peers").resolve()


@dataclass(frozen=True)
class Project:
    """Texts to compare in pairs, k annotations for each pair, by annotators who get `each` at a time (None: all)."""

    name: str
    #: Topics with the texts of each; all pairs of one topic are compared.
    texts: tuple[tuple[str, ...], ...]
    k: int
    annotators: int
    each: int | None = None

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Return all pairs; their numbers count from 0."""
        return [pair for topic in self.texts for pair in combinations(topic, 2)]


@dataclass(frozen=True)
class Page:
    """A judge's page: its address, the cookies of a judge who is signed in, and the control that must be visible."""

    url: str
    cookies: dict[str, str]
    ready: str


@dataclass(frozen=True)
class Exported:
    """An export: its bytes, and how often it has an answer of each annotator (a number) to each pair (a number)."""

    size: int
    answers: Counter[tuple[int, int]]


class RefusedError(Exception):
    """The server did not acknowledge an answer, or gave none."""


class Annotator(ABC):
    """Somebody who judges, as their browser does: the same requests, without images, styles and scripts."""

    def __init__(self, number: int, browser: Browser) -> None:
        self.number = number
        self.browser = browser

    @abstractmethod
    def sign_in(self) -> None:
        """Sign in, and open the project."""

    @abstractmethod
    def next(self) -> int | None:
        """Return the number of the next pair to judge; None if there is nothing (left) for this annotator."""

    @abstractmethod
    def submit(self, pair: int, choice: str) -> None:
        """Submit an answer; return when it is acknowledged, else raise `RefusedError` or OSError. May be repeated."""

    def finish(self) -> None:  # noqa: B027 -- most have nothing to do
        """Hand in what is answered, where that is a separate step."""


class RunningServer(Protocol):
    """The server of a tool: a `Process`, or CrowdRAG's own."""

    port: int

    def start(self) -> None: ...

    def kill(self) -> None: ...


class Site(ABC):
    """A project on a running server."""

    def __init__(self, project: Project, server: RunningServer) -> None:
        self.project = project
        self.server = server

    @property
    def port(self) -> int:
        """The port of the server on this machine."""
        return self.server.port

    def start(self) -> None:
        """Start the server, if it does not run; return when it answers."""
        self.server.start()

    def kill(self) -> None:
        """SIGKILL all processes of the server; databases keep running."""
        self.server.kill()

    @abstractmethod
    def annotator(self, number: int) -> Annotator:
        """Return an annotator who has not signed in yet; numbers count from 0."""

    @abstractmethod
    def export(self) -> Exported:
        """Export all answers as the tool's users do."""

    @abstractmethod
    def page(self, number: int) -> Page:
        """Return the judging page of an annotator."""

    def close(self) -> None:  # noqa: B027 -- of those with a server for each project
        """Stop what only this project needs."""


@dataclass(frozen=True)
class Stores:
    """The database server that the tools share, each with a database of its own, and a folder for their files."""

    folder: DataFolder
    home: Path

    def database(self, name: str) -> Path:
        """Create an empty database; return the folder of the server's socket."""
        import psycopg

        with psycopg.connect(self.folder.database_url("postgres"), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"')
        return Path(self.folder.sockets)


class Tool(ABC):
    """A tool to compare."""

    #: Its name as in the table, and in rows.
    title: str
    version: str
    #: How it was set up, for the documentation.
    setup: str
    #: What it offers for k annotations per item, for the documentation.
    assignment: str
    #: Whether it ever says that nothing is left.
    has_quota = True
    #: Pinned packages, installed into an environment of their own; none for ourselves.
    packages: tuple[str, ...] = ()

    @property
    def environment(self) -> Path:
        """The folder of its virtual environment."""
        return cache() / f"{self.title.lower().replace(' ', '-')}-{self.version}"

    def install(self) -> None:
        """Create its virtual environment, unless it is there with these packages.

        Raises
        ------
        subprocess.CalledProcessError
            if pip cannot install the packages.
        """
        marker = self.environment / "installed.json"
        if not self.packages or (marker.exists() and json.loads(marker.read_text()) == list(self.packages)):
            return
        shutil.rmtree(self.environment, ignore_errors=True)
        self.environment.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-m", "venv", str(self.environment)], check=True)
        pip = [str(self.program("python")), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
        subprocess.run([*pip, *self.packages], check=True)
        marker.write_text(json.dumps(self.packages))

    def program(self, name: str) -> Path:
        """Return the path of a program in its environment."""
        return self.environment / "bin" / name

    @abstractmethod
    def open(self, project: Project, stores: Stores) -> Site:
        """Make a project with its annotators, on a server that answers."""

    def close(self) -> None:  # noqa: B027 -- of those with one server for all projects
        """Stop all that is left of it."""


class Process:
    """A server in processes of its own, which end with this one."""

    def __init__(self, command: list[str], *, home: Path, port: int, ready: str = "/", **env: str) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self.command, self.home, self.port, self.ready = command, home, port, ready
        self.log = home / "server.log"
        # Nothing of our own settings, and no file outside of its folder.
        self.env = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", "NO_PROXY": "*", **env}
        self.process: processes.Process | None = None

    def run(self, *command: str) -> str:
        """Run a command in the same environment, and return its output."""
        done = subprocess.run(command, check=False, env=self.env, cwd=self.home, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
        return done.stdout

    def spawn(self) -> None:
        """Start it."""
        self.process = processes.spawn(self.command, log=self.log, env=self.env, cwd=self.home)

    def start(self) -> None:
        """Start it, unless it runs; return when it answers with any page."""
        if self.process is not None:
            return
        self.spawn()
        await_answer(self.port, self.ready, lambda: processes.tail(self.log, 40))

    def kill(self) -> None:
        """SIGKILL the whole group."""
        if self.process is not None:
            processes.kill_group(self.process)
            self.process = None


def await_answer(port: int, path: str, log: Callable[[], str]) -> None:
    """Wait until a server answers a path with less than 500."""
    ends_at = time.monotonic() + PATIENCE
    while True:
        with suppress(OSError):
            if Browser(port).get(path).status < 500:
                return
        assert time.monotonic() < ends_at, log()
        time.sleep(0.05)


def free_port() -> int:
    """Return a free port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])
