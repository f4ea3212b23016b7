"""Connections to one server, each kept by itself.

The pool under the client looks at every connection that it has with each request and each reply, also at those that
are busy: with dozens of calls in flight that takes longer than sending. Here each connection is a pool of its own.
"""

from collections.abc import AsyncIterator, Callable

import httpx2


class Lines(httpx2.AsyncBaseTransport):
    """Sends each request on a line that no other is using; the one that was used last comes first."""

    def __init__(self, make: Callable[[], httpx2.AsyncBaseTransport]) -> None:
        self._make = make
        self._all: list[httpx2.AsyncBaseTransport] = []
        self._idle: list[httpx2.AsyncBaseTransport] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; its line is free for others when the reply's stream is closed."""
        if self._idle:
            line = self._idle.pop()
        else:
            line = self._make()
            self._all.append(line)
        try:
            response = await line.handle_async_request(request)
        except BaseException:
            self._idle.append(line)
            raise
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Stream(response.stream, lambda: self._idle.append(line))
        return response

    async def aclose(self) -> None:
        """Close all lines."""
        for line in self._all:
            await line.aclose()


class _Stream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, release: Callable[[], None]) -> None:
        self._stream = stream
        self._release: Callable[[], None] | None = release

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            yield chunk

    async def aclose(self) -> None:
        try:
            await self._stream.aclose()
        finally:
            release, self._release = self._release, None
            if release is not None:
                release()
