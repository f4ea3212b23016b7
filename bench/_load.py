"""Load for a web server over persistent connections: as many requests as possible, or a fixed rate."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle

Requests = Callable[[int], Iterator[bytes]]


@dataclass
class Seen:
    """Results: the duration of each answer in seconds, and responses with a status other than 200."""

    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


def request(path: str, body: bytes, headers: str = "", method: str = "POST") -> bytes:
    """A request as bytes; POST by default."""
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{headers}"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


class _Connection(asyncio.Protocol):
    """A persistent connection: one request at a time, parsed just enough to know where a response ends.

    The load shares the cores of what it measures, so it does as little as possible.
    """

    def __init__(self, port: int) -> None:
        self.port = port
        self.transport: asyncio.Transport | None = None
        self.received = bytearray()
        self.answered: asyncio.Future[bytes] | None = None

    def data_received(self, data: bytes) -> None:
        self.received += data
        end = self.received.find(b"\r\n\r\n")
        if end < 0 or self.answered is None:
            return
        head = bytes(self.received[:end])
        low = head.lower()
        at = low.index(b"content-length:") + len(b"content-length:")
        if len(self.received) >= end + 4 + int(low[at:].split(b"\r\n", 1)[0]):
            self.received.clear()
            if b"\r\nconnection: close" in low and self.transport:
                self.transport.close()
                self.transport = None
            self.answered.set_result(head)
            self.answered = None

    def connection_lost(self, _error: Exception | None) -> None:
        self.transport = None
        self.received.clear()
        if self.answered is not None:
            self.answered.set_exception(ConnectionResetError("closed without an answer"))
            self.answered = None

    async def send(self, sent: bytes) -> bytes:
        """Send a request and return the head of its answer. Reconnect if the server closed an idle connection."""
        loop = asyncio.get_running_loop()
        for is_fresh in (self.transport is None, True):
            if self.transport is None:
                await loop.create_connection(lambda: self, "127.0.0.1", self.port)
            assert self.transport is not None
            self.answered = loop.create_future()
            self.transport.write(sent)
            try:
                return await self.answered
            except ConnectionError:
                if is_fresh:
                    raise
        raise ConnectionError("no answer")

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport


async def _one(connection: _Connection, sent: bytes, seen: Seen, since: float) -> None:
    try:
        head = await connection.send(sent)
    except OSError as error:
        seen.errors.append(repr(error))
        return
    seen.seconds.append(time.perf_counter() - since)
    if not head.startswith(b"HTTP/1.1 200"):
        seen.errors.append(head.decode().splitlines()[0])


def closed(ports: Sequence[int], senders: list[Iterator[bytes]], seconds: float) -> Seen:
    """Closed loop: each sender sends its next request when the last one is answered.

    Senders use the ports in turn, each always the same.
    """

    async def sender(port: int, requests: Iterator[bytes], seen: Seen, ends_at: float) -> None:
        connection = _Connection(port)
        while (now := time.perf_counter()) < ends_at:
            await _one(connection, next(requests), seen, now)

    async def run() -> Seen:
        seen = Seen()
        ends_at = time.perf_counter() + seconds
        ported = zip(cycle(ports), senders, strict=False)
        await asyncio.gather(*(sender(port, requests, seen, ends_at) for port, requests in ported))
        return seen

    return asyncio.run(run())


def opened(port: int, senders: list[Iterator[bytes]], rate: float, seconds: float) -> Seen:
    """Open loop: requests are sent at a fixed rate, in turn by all senders.

    Durations count from when a request was due.
    """

    async def sender(requests: Iterator[bytes], seen: Seen, due: list[float]) -> None:
        connection = _Connection(port)
        for at in due:
            await asyncio.sleep(max(0.0, at - time.perf_counter()))
            await _one(connection, next(requests), seen, at)

    async def run() -> Seen:
        seen = Seen()
        start = time.perf_counter() + 0.1
        due = [start + i / rate for i in range(int(rate * seconds))]
        await asyncio.gather(*(sender(requests, seen, due[n :: len(senders)]) for n, requests in enumerate(senders)))
        return seen

    return asyncio.run(run())
