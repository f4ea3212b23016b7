"""Gunicorn's threads behind a buffer: a thread starts when a request is complete.

    gunicorn --worker-class crowdrag.runtime.web_worker.BufferingWorker ...

Gunicorn's own threads read requests and write responses at the client's pace, so a few slow clients stop the server
(docs/adr/0027-slow-clients.md). Here one loop handles all clients, and threads do not wait for them. Uploads are too
large to be held in memory: a few of the threads read them from the client, at a minimum speed. Large downloads
likewise.

No client is rejected because others are slow. If there are too many connections, or too many from one address, the
connection that has waited longest for the rest of its request is closed.
"""

import errno
import os
import resource
import select
import selectors
import socket
import time
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any

from gunicorn.workers.gthread import TConn, ThreadWorker

from crowdrag import client_addresses
from crowdrag.runtime.request_buffer import LARGEST_BUFFERED, RequestBuffer, RequestProgress

#: Seconds for a request's head, and for its body in addition to its length at the minimum speed.
HEAD_WITHIN = 10.0
BODY_WITHIN = 15.0
#: Bytes per second.
LOWEST_SPEED = 8 * 1024
#: Seconds that an upload waits for one of the threads that read them.
TURN_WITHIN = 60.0
#: Incomplete requests per address, or IPv6 network. Behind a proxy all have its address: the proxy counts.
PER_ADDRESS = 200
#: Bytes of requests and responses that one process holds; and of one response before its thread waits for the client.
MOST_HELD = 128 * 1024 * 1024
MOST_OF_AN_ANSWER = LARGEST_BUFFERED
#: Files that a process may have open: as many connections as it accepts, and what else it needs.
FILES = 4096
LINGER = 5.0
LINGERING = 256
_PIECE = 256 * 1024
_REFUSALS = {
    408: b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
    431: b"HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
    503: b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 30\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
}


class ClientSocket(socket.socket):
    """A client's socket as seen by a thread: reading never waits, writing hardly ever.

    Attributes
    ----------
    is_upload : bool
        whether a thread may read from the client. Otherwise there is only what was read before.
    outbox : bytearray
        data that are written and not yet sent.
    """

    is_upload = False

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.outbox = bytearray()
        self._passed = 0
        self._waited = 0.0

    def begin(self, *, is_upload: bool) -> None:
        """Start to measure: a thread takes a request."""
        self.is_upload = is_upload
        self._passed = 0
        self._waited = 0.0

    def recv(self, size: int, flags: int = 0) -> bytes:
        """Return data of an upload; end of file for everything else."""
        if not self.is_upload:
            return b""
        self._wait(select.POLLIN)
        data = super().recv(size, flags)
        self._passed += len(data)
        return data

    def read_available(self) -> bytes:
        """Return the available data, for the loop."""
        return super().recv(_PIECE)

    def sendall(self, data: Any, flags: int = 0) -> None:
        """Send what the client accepts now and keep the rest; wait only if that would be too much."""
        self.outbox += data
        self.send_available()
        while len(self.outbox) > MOST_OF_AN_ANSWER:
            self._wait(select.POLLOUT)
            self.send_available()

    def send_available(self) -> None:
        """Send as much of the outbox as the client accepts now."""
        with suppress(BlockingIOError):
            while self.outbox:
                with memoryview(self.outbox) as waiting:
                    sent = self.send(waiting[:_PIECE], socket.MSG_DONTWAIT)
                del self.outbox[:sent]
                self._passed += sent

    def _wait(self, event: int) -> None:
        """Wait for the client, unless its average speed is below the minimum."""
        began = time.monotonic()
        seconds = BODY_WITHIN + self._passed / LOWEST_SPEED - self._waited
        waiting = select.poll()
        waiting.register(self.fileno(), event)
        if seconds <= 0 or not waiting.poll(seconds * 1000):
            raise ConnectionResetError(errno.ECONNRESET, "the client is too slow")
        self._waited += time.monotonic() - began


class Connection(TConn):  # type: ignore[misc]  # gunicorn has no types
    """A client's connection and its incoming request."""

    sock: ClientSocket

    def __init__(self, cfg: Any, client: ClientSocket, address: Any, server: Any, linger: Callable[..., None]) -> None:
        super().__init__(cfg, client, address, server)
        # An IPv6 address may come with its zone (`fe80::1%eth0`).
        self.address = client_addresses.origin(address[0].partition("%")[0]) if isinstance(address, tuple) else ""
        self.request = RequestBuffer()
        self.deadline = float("inf")
        self.is_upload = False
        self.result: Future[Any] | None = None
        self._linger = linger

    def close(self, graceful: bool = False) -> None:
        """Close it; if the client still has to read a response, without waiting for that."""
        if graceful:
            self._linger(self)
        else:
            self.sock.close()

    @property
    def held(self) -> int:
        """The number of bytes held for it."""
        return len(self.request.data) + len(self.sock.outbox)


class BufferingWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """A worker process whose threads never wait for a client, except for uploads and downloads that are fast enough."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        # In order of their start: the first has waited longest.
        self._reading: dict[Connection, None] = {}
        self._writing: dict[Connection, None] = {}
        self._lingering: dict[Connection, None] = {}
        self._turns: deque[Connection] = deque()
        self._uploads = 0
        self._most_uploads = max(1, self.cfg.threads // 4)
        self._by_address: Counter[str] = Counter()
        self._counts_addresses = os.environ.get("CROWDRAG_PROXIES", "0") in ("", "0")
        self._looked_at = self._told_at = 0.0
        self._closed = 0

    def init_process(self) -> None:
        """Let the process have as many connections as it may accept."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
        if soft != resource.RLIM_INFINITY and soft < most:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        super().init_process()

    # Requests come in.

    def accept(self, listener: socket.socket) -> None:
        """Accept a connection and wait for its request, in the loop."""
        try:
            accepted, address = listener.accept()
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.ECONNABORTED, errno.EMFILE):
                raise
            return
        client = ClientSocket(accepted.family, accepted.type, accepted.proto, fileno=accepted.detach())
        connection = Connection(self.cfg, client, address, listener.getsockname(), self._linger)
        self.nr_conns += 1
        self._await_request(connection, b"")

    def enqueue_req(self, conn: Connection) -> None:
        """Start the next request with the bytes that followed the last one (gunicorn calls it after a response)."""
        self._await_request(conn, conn.parser.unreader.take_buffered())

    def on_client_socket_readable(self, conn: Connection, client: Any) -> None:
        """Start the next request on a kept-alive connection."""
        self.poller.unregister(client)
        self.keepalived_conns.remove(conn)
        self._await_request(conn, b"")

    def _await_request(self, conn: Connection, data: bytes) -> None:
        conn.sock.setblocking(False)
        conn.request = RequestBuffer()
        conn.is_upload = False
        conn.deadline = time.monotonic() + HEAD_WITHIN
        self._reading[conn] = None
        self._by_address[conn.address] += 1
        self.poller.register(conn.sock, selectors.EVENT_READ, partial(self._read, conn))
        if data:
            self._take(conn, data)
        self._make_room(conn)

    def _read(self, conn: Connection, _client: Any) -> None:
        try:
            data = conn.sock.read_available()
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._take(conn, data)
        else:
            self._drop(conn)

    def _take(self, conn: Connection, data: bytes) -> None:
        before = conn.request.progress
        progress = conn.request.feed(data)
        if progress is RequestProgress.WHOLE:
            self._dispatch(conn)
        elif progress is RequestProgress.LARGE:
            self._dispatch_upload(conn)
        elif progress is RequestProgress.TOO_LONG:
            self._drop(conn, 431)
        elif before is RequestProgress.HEAD and progress is RequestProgress.BODY:
            conn.deadline += BODY_WITHIN + conn.request.length / LOWEST_SPEED
            if conn.request.expects_continue:
                conn.sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
                conn.request.drop_expectation()

    def _stop_reading(self, conn: Connection) -> None:
        if conn in self._reading:
            del self._reading[conn]
            self._by_address[conn.address] -= 1
            if not self._by_address[conn.address]:
                del self._by_address[conn.address]
            self.poller.unregister(conn.sock)

    def _dispatch(self, conn: Connection) -> None:
        """Pass a request to a thread."""
        self._stop_reading(conn)
        conn.sock.begin(is_upload=conn.is_upload)
        conn.init()
        conn.parser.unreader.unread(bytes(conn.request.data))
        conn.request = RequestBuffer()
        super().enqueue_req(conn)

    def _dispatch_upload(self, conn: Connection) -> None:
        """Pass an upload to a thread if few are reading uploads; otherwise it waits for its turn, unread."""
        self._stop_reading(conn)
        conn.is_upload = True
        if self._uploads < self._most_uploads:
            self._uploads += 1
            self._dispatch(conn)
        else:
            conn.deadline = time.monotonic() + TURN_WITHIN
            self._turns.append(conn)

    # Answers go out.

    def handle_request(self, req: Any, conn: Connection) -> bool:
        """Close after an upload: its unread rest is not waited for."""
        if conn.is_upload:
            req.force_close()
        return bool(super().handle_request(req, conn))

    def finish_request(self, conn: Connection, fs: Future[Any]) -> None:
        """Send what the thread has left, then continue like gunicorn."""
        if conn.is_upload:
            conn.is_upload = False
            self._uploads -= 1
            if self._turns:
                self._dispatch_upload(self._turns.popleft())
        if not conn.sock.outbox or fs.cancelled() or fs.exception() is not None:
            super().finish_request(conn, fs)
            return
        conn.result = fs
        conn.sock.setblocking(False)
        conn.deadline = time.monotonic() + BODY_WITHIN + len(conn.sock.outbox) / LOWEST_SPEED
        self._writing[conn] = None
        self.poller.register(conn.sock, selectors.EVENT_WRITE, partial(self._write, conn))
        self._make_room(conn)

    def _write(self, conn: Connection, _client: Any) -> None:
        try:
            conn.sock.send_available()
        except OSError:
            self._drop(conn)
            return
        if not conn.sock.outbox:
            del self._writing[conn]
            self.poller.unregister(conn.sock)
            assert conn.result is not None
            super().finish_request(conn, conn.result)

    def _linger(self, conn: Connection) -> None:
        """Close our half, and let the loop wait until the client has closed its own.

        Closing at once would discard the response if the client is still sending.
        """
        try:
            conn.sock.setblocking(False)
            conn.sock.shutdown(socket.SHUT_WR)
            self.poller.register(conn.sock, selectors.EVENT_READ, partial(self._drain, conn))
        except (OSError, ValueError, KeyError, RuntimeError):
            conn.sock.close()
            return
        conn.deadline = time.monotonic() + LINGER
        self._lingering[conn] = None
        if len(self._lingering) > LINGERING:
            self._end_lingering(next(iter(self._lingering)))

    def _drain(self, conn: Connection, _client: Any) -> None:
        try:
            data = conn.sock.read_available()
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._end_lingering(conn)

    def _end_lingering(self, conn: Connection) -> None:
        del self._lingering[conn]
        self.poller.unregister(conn.sock)
        conn.sock.close()

    # Who takes too long, or too much.

    def murder_pending(self) -> None:
        """Close connections past their time limits (gunicorn calls it about once a second)."""
        now = time.monotonic()
        if now - self._looked_at < 0.5:
            return
        self._looked_at = now
        if not self.alive:
            # No request has begun on these: a stopping process need not wait for them.
            for conn in [conn for conn in self._reading if not conn.request.data]:
                self._drop(conn)
        for conn in [conn for conn in (*self._reading, *self._writing) if conn.deadline < now]:
            self._close_slow(conn)
        while self._turns and self._turns[0].deadline < now:
            self._drop(self._turns.popleft(), 503)
        for conn in [conn for conn in self._lingering if conn.deadline < now]:
            self._end_lingering(conn)
        if self._closed and now - self._told_at > 60:
            self.log.warning("Closed %d connections of slow clients", self._closed)
            self._closed, self._told_at = 0, now

    def _make_room(self, conn: Connection) -> None:
        """Close the longest waiting if one address or all have too many; the largest if too many bytes are held."""
        if self._counts_addresses and self._by_address[conn.address] > PER_ADDRESS:
            self._close_slow(next(other for other in self._reading if other.address == conn.address))
        if self.nr_conns >= self.worker_connections:
            if self.keepalived_conns:
                self.keepalived_conns[0].timeout = 0.0
                self.murder_keepalived()
            elif self._reading:
                self._close_slow(next(iter(self._reading)))
        if len(self._reading) + len(self._writing) > MOST_HELD // LARGEST_BUFFERED:
            held = sum(other.held for other in (*self._reading, *self._writing))
            while held > MOST_HELD:
                largest = max((*self._reading, *self._writing), key=lambda other: other.held)
                held -= largest.held
                self._close_slow(largest)

    def _close_slow(self, conn: Connection) -> None:
        self._closed += 1
        self._drop(conn, 408 if conn in self._reading and conn.request.data else None)

    def _drop(self, conn: Connection, status: int | None = None) -> None:
        """Close a connection that no thread works for, with an error response if the client can still read it."""
        self._stop_reading(conn)
        if conn in self._writing:
            del self._writing[conn]
            self.poller.unregister(conn.sock)
        self.nr_conns -= 1
        if status is not None:
            with suppress(OSError):
                conn.sock.send(_REFUSALS[status], socket.MSG_DONTWAIT)
        conn.close(graceful=status is not None)
