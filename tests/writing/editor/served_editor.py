"""The real web server in processes of its own, to be killed; and an editor that speaks HTTP with it."""

import http.client
import json
import os
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit, urlunsplit

from crowdrag.runtime import processes
from crowdrag.runtime.data_folder import DataFolder
from crowdrag.runtime.web import Web

PATIENCE = 60.0
CSRF = "c" * 32


class Place(Protocol):
    """Where typists send what they type: a server, or a proxy before several."""

    host: str
    port: int

    def cookies(self, session: str) -> str:
        """The cookies of a browser with this session."""


class Server:
    """Gunicorn as `crowdrag up` starts it, on a socket that outlives it, as the supervisor's does."""

    def __init__(self, root: Path, database: str, **env: str) -> None:
        folder = DataFolder(root)
        folder.create()
        (root / "staticfiles").mkdir(exist_ok=True)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.host, self.port = self.listener.getsockname()[:2]
        self.web = Web(folder, self.listener, "")
        url = urlsplit(os.environ["DATABASE_URL"])
        launch = self.web.launch()
        self.env = {**os.environ, **launch.env, "DATABASE_URL": urlunsplit(url._replace(path=f"/{database}")), **env}
        self.log = root / "web.log"
        self.process: subprocess.Popen[bytes] | None = None
        self.kills = 0

    def start(self) -> None:
        """Start it; it answers soon after."""
        launch = self.web.launch()
        self.process = processes.spawn(launch.command, log=self.log, env=self.env, fds=launch.fds, cwd=launch.cwd)

    def await_answer(self) -> None:
        """Wait until it answers."""
        ends_at = time.monotonic() + PATIENCE
        while True:
            with suppress(OSError, http.client.HTTPException):
                self.web.probe()
                return
            assert time.monotonic() < ends_at, self.log.read_text()[-3000:]
            time.sleep(0.05)

    def kill(self) -> None:
        """SIGKILL all of its processes at once."""
        assert self.process is not None
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process = None
        self.kills += 1

    def close(self) -> None:
        if self.process is not None:
            self.kill()
        self.listener.close()

    def cookies(self, session: str) -> str:
        """The cookies of a browser with this session."""
        names = self.env["SESSION_COOKIE_NAME"], self.env["CSRF_COOKIE_NAME"]
        return f"{names[0]}={session}; {names[1]}={CSRF}"


class Line:
    """One browser's connection, made anew whenever it breaks."""

    def __init__(self, server: Place, *, timeout: float = 20.0) -> None:
        self.server = server
        self.timeout = timeout
        self.connection: http.client.HTTPConnection | None = None

    def post(self, path: str, body: Any, **headers: str) -> tuple[int, dict[str, Any]]:
        """Send once; OSError or HTTPException if no answer came, whether or not it arrived."""
        if self.connection is None:
            self.connection = http.client.HTTPConnection(self.server.host, self.server.port, timeout=self.timeout)
        try:
            sent = json.dumps(body).encode()
            self.connection.request(
                "POST", path, sent, {"Content-Type": "application/json", "Host": "localhost", **headers}
            )
            answer = self.connection.getresponse()
            content = answer.read()
        except (OSError, http.client.HTTPException):
            self.close()
            raise
        if answer.will_close:
            self.close()
        return answer.status, json.loads(content) if content.startswith(b"{") else {}

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None
