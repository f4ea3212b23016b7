"""The web's port: taken at once and for good, or a message that says by whom it is taken."""

import errno
import socket
import time
from contextlib import suppress

import psutil

from crowdrag.runtime.problems import Problem

# A web server whose supervisor was killed a moment ago may still be letting go.
GRACE = 2.0
TRIES = 100


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
                    f"Port {port} on {host} cannot be opened: {error.strerror}. Another: PORT=8001"
                ) from error
            if time.monotonic() > deadline:
                raise Problem(
                    f"Port {port} is taken{holder(port)}. Stop that, or take another port: PORT={port + 1} crowdrag up"
                ) from error
        time.sleep(0.1)


def listen_from(host: str, port: int) -> socket.socket:
    """Return a listening socket on the first free port from `port` on."""
    for candidate in range(port, port + TRIES):
        with suppress(OSError):
            return _bound(host, candidate)
    raise Problem(f"No port from {port} to {port + TRIES - 1} is free. Name one: PORT=9000 crowdrag demo")


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


def holder(port: int) -> str:
    """Return ` by NAME (process ID)` if the system tells who listens on a port."""
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
