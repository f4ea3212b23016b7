"""Another system: a real HTTP server that keeps what comes, and answers as it is told."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Came:
    """A request as it came."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """What came, and what is answered next; when nothing is said any more, 204."""

    came: list[Came] = field(default_factory=list)
    says: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    # Seconds before each answer.
    waits: float = 0.0
    url: str = ""
    port: int = 0
    at_once: int = 0
    most_at_once: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def will(self, *statuses: int, **headers: str) -> None:
        """Answer with these, one after the other."""
        self.says += [
            (status, {name.replace("_", "-"): value for name, value in headers.items()}) for status in statuses
        ]


class Handler(BaseHTTPRequestHandler):
    """Keeps a request and answers it."""

    server: Any

    def do_POST(self) -> None:
        """Take a message."""
        there: Receiver = self.server.there
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        with there.lock:
            there.came.append(Came(self.path, {name.lower(): value for name, value in self.headers.items()}, body))
            there.at_once += 1
            there.most_at_once = max(there.most_at_once, there.at_once)
            status, headers = there.says.pop(0) if there.says else (204, {})
        time.sleep(there.waits)
        with there.lock:
            there.at_once -= 1
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- the base class's name
        """Say nothing."""


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Run a receiver."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    there = Receiver(port=server.server_address[1])
    there.url = f"http://localhost:{there.port}/hook?tenant=7"
    server.there = there  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield there
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def dripping() -> Iterator[str]:
    """Run a server that sends its answer's head a byte at a time and never ends it; its address."""
    listener = socket.create_server(("127.0.0.1", 0))
    stop = threading.Event()

    def serve() -> None:
        taken, _peer = listener.accept()
        with taken:
            taken.sendall(b"HTTP/1.1 200 OK\r\nx-slow: ")
            while not stop.wait(0.05):
                try:
                    taken.sendall(b"a")
                except OSError:
                    return

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://localhost:{listener.getsockname()[1]}/"
    finally:
        stop.set()
        listener.close()
        thread.join(2)
