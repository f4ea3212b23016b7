"""Load for a web server over persistent connections: as many requests as possible, or a fixed rate."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

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


class _Connection:
    def __init__(self, port: int) -> None:
        self.port = port
        self.reader: asyncio.StreamReader | None = None
        self.writer: asyncio.StreamWriter | None = None

    async def send(self, sent: bytes) -> bytes:
        """Send a request and return the head of its answer. Reconnect if the server closed an idle connection."""
        for fresh in (False, True):
            if self.writer is None or fresh:
                self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
            self.writer.write(sent)
            try:
                head = await self.reader.readuntil(b"\r\n\r\n")
            except (asyncio.IncompleteReadError, ConnectionError):
                self.writer.close()
                self.writer = None
                if fresh:
                    raise
                continue
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            await self.reader.readexactly(length)
            if b"connection: close" in head.lower():
                self.writer.close()
                self.writer = None
            return head
        raise ConnectionError("no answer")


async def _one(connection: _Connection, sent: bytes, seen: Seen, since: float) -> None:
    try:
        head = await connection.send(sent)
    except OSError as error:
        seen.errors.append(repr(error))
        return
    seen.seconds.append(time.perf_counter() - since)
    if not head.startswith(b"HTTP/1.1 200"):
        seen.errors.append(head.decode().splitlines()[0])


def closed(port: int, senders: list[Iterator[bytes]], seconds: float) -> Seen:
    """Closed loop: each sender sends its next request when the last one is answered."""

    async def sender(requests: Iterator[bytes], seen: Seen, ends_at: float) -> None:
        connection = _Connection(port)
        while (now := time.perf_counter()) < ends_at:
            await _one(connection, next(requests), seen, now)

    async def run() -> Seen:
        seen = Seen()
        ends_at = time.perf_counter() + seconds
        await asyncio.gather(*(sender(requests, seen, ends_at) for requests in senders))
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
