"""The web server: gunicorn with threads that never wait for a client, on a port that the supervisor opens and keeps."""

import errno
import http.client
import os
import shutil
import socket
import sys
import time
import urllib.parse
from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType

import psutil

from crowdrag.runtime import environment
from crowdrag.runtime.data_folder import REPOSITORY, DataFolder, Problem
from crowdrag.runtime.service_monitor import Launch, Service

# A web server whose supervisor was killed a moment ago may still hold the port.
GRACE = 2.0
# Addresses of this machine alone, and of all networks.
LOCAL = ("127.0.0.1", "::1")
EVERYWHERE = ("0.0.0.0", "::")
TRIES = 100
NO_VARIABLES: Mapping[str, str] = MappingProxyType({})


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket on exactly this port.

    The supervisor keeps it: while the web server restarts, connections wait in the queue and are not refused.
    """
    deadline = time.monotonic() + GRACE
    while True:
        try:
            return _bound(host, port)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise Problem(
                    f"Port {port} on {host} cannot be opened: {error.strerror}. Try another port: PORT=8001"
                ) from error
            if time.monotonic() > deadline:
                raise Problem(
                    f"Port {port} is taken{describe_holder(port)}. Stop that process, or choose another port: "
                    f"PORT={port + 1} crowdrag up"
                ) from error
        time.sleep(0.1)


def listen_from(host: str, port: int) -> socket.socket:
    """Return a listening socket on the first free port from `port` on."""
    for candidate in range(port, port + TRIES):
        with suppress(OSError):
            return _bound(host, candidate)
    raise Problem(f"No port from {port} to {port + TRIES - 1} is free. Choose a port: PORT=9000 crowdrag demo")


def _bound(host: str, port: int) -> socket.socket:
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        bound.listen(512)
    except OSError:
        bound.close()
        raise
    return bound


def _listed(variable: str) -> list[str]:
    return [part.strip() for part in os.environ.get(variable, "").split(",") if part.strip()]


def unreachable_by_others(host: str) -> str:
    """Return a warning if the web listens for other machines, but answers them with an error; otherwise nothing."""
    if host in (*LOCAL, "localhost") or _listed("ALLOWED_HOSTS"):
        return ""
    return (
        "Visitors from other machines get error 400: set ALLOWED_HOSTS to the names of this server, "
        "for example ALLOWED_HOSTS=study.example.org,localhost"
    )


def describe_holder(port: int) -> str:
    """Return ` by NAME (process ID)` if the system reports who listens on a port."""
    with suppress(psutil.Error, OSError):
        for connection in psutil.net_connections("tcp"):
            if (
                connection.laddr
                and connection.laddr.port == port
                and connection.status == psutil.CONN_LISTEN
                and connection.pid
            ):
                process = psutil.Process(connection.pid)
                return f" by {process.name()} (process {process.pid})"
    return ""


def count_requests_in(folder: DataFolder) -> dict[str, str]:
    """Empty the folder in which all web processes store their request counts; return the variable that names it.

    Each of them can then report for all.
    """
    counts = folder.run / "metrics"
    shutil.rmtree(counts, ignore_errors=True)
    counts.mkdir(parents=True)
    return {"PROMETHEUS_MULTIPROC_DIR": str(counts)}


class Web(Service):
    """Gunicorn."""

    name = "web"
    title = "Web"
    stop_within = 25.0
    silent_for = 60.0
    tier = 4

    def __init__(
        self,
        folder: DataFolder,
        listener: socket.socket,
        llm_url: str,
        *,
        drain: float = 0.0,
        variables: Mapping[str, str] = NO_VARIABLES,
    ) -> None:
        super().__init__(folder)
        self._variables = variables
        self.listener = listener
        self.drain = drain
        self.stop_within += drain
        self.host, self.port = listener.getsockname()[:2]
        self.llm_url = llm_url

    @property
    def url(self) -> str:
        """The address on this machine."""
        host = "localhost" if self.host in (*LOCAL, *EVERYWHERE) else self.host
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/"

    @property
    def public_url(self) -> str:
        """The address for a browser, which `ALLOWED_HOSTS` must allow."""
        names, origins = _listed("ALLOWED_HOSTS"), _listed("CSRF_TRUSTED_ORIGINS")
        host = urllib.parse.urlsplit(self.url).netloc.rpartition(":")[0]
        https = os.environ.get("HTTPS", "").strip().lower() in environment.TRUE
        if not names or (not https and {"*", host} & set(names)):
            return self.url
        if origins:
            return f"{origins[0].rstrip('/')}/"
        name = host if names[0] == "*" else names[0].removeprefix(".")
        return f"https://{name}/" if https else f"http://{name}:{self.port}/"

    def launch(self) -> Launch:
        """Return gunicorn's command."""
        workers = os.environ.get("WEB_WORKERS", "2")
        threads = os.environ.get("WEB_THREADS", "8")
        options = {
            "bind": f"fd://{self.listener.fileno()}",
            "worker-class": "crowdrag.runtime.web_worker.BufferingWorker",
            "workers": workers,
            "threads": threads,
            "timeout": "120",
            "graceful-timeout": "20",
            # A judge sends an answer every few seconds, and need not connect for each. A proxy also keeps connections,
            # and must be the one to close them: a request on a closed connection fails.
            "keep-alive": "15",
            "max-requests": "20000",
            "max-requests-jitter": "2000",
            "worker-tmp-dir": str(self.folder.temporary),
            # Only the headers named in settings.py are trusted from a proxy on this machine. Gunicorn would also take
            # the requested path from a header, which proxies pass on.
            "forwarder-headers": "",
        }
        env = {**environment.missing_variables(self.folder, llm_url=self.llm_url), **self._variables}
        if self.drain:
            options["config"] = "python:crowdrag.runtime.graceful_shutdown"
            env["CROWDRAG_DRAIN_SECONDS"] = f"{self.drain:g}"
        env |= count_requests_in(self.folder)
        # The code is loaded once and shared by the processes.
        flags = ("--preload", "--no-control-socket", "--no-sendfile")
        arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
        return Launch(
            [sys.executable, "-m", "gunicorn", "crowdrag.wsgi", *flags, *arguments],
            env=env,
            fds=(self.listener.fileno(),),
            cwd=REPOSITORY,
            is_preloaded=True,
        )

    def probe(self) -> str:
        """Request /healthz."""
        host = "127.0.0.1" if self.host == "0.0.0.0" else self.host
        connection = http.client.HTTPConnection(host, self.port, timeout=20)
        try:
            connection.request("GET", "/healthz", headers={"Host": "localhost"})
            answer = connection.getresponse()
            answer.read()
        finally:
            connection.close()
        if answer.status != http.HTTPStatus.OK:
            raise ConnectionError(f"/healthz answered {answer.status}")
        return self.url
