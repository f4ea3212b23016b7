"""The client of one endpoint: it sends attempts from an event loop to its servers, and collects the outcomes.

The `openai` client is used without retries, since a hidden retry is paid twice. It uses our own transport, which
connects to checked addresses only, drops every header that we did not mean to send, and adds the key. The key is read
from the environment for the host that it was entered for, and is never stored or shown.
"""

import asyncio
import os
import re
import ssl
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from queue import Empty, SimpleQueue
from typing import Any, Self

import httpx2

from . import GatewayError, addresses, replies
from .attempts import Outcome, StartedAttempt, prefetch_limit
from .enums import AttemptState, Fault
from .models import KEY_VARIABLE, Endpoint, host_of
from .retry_policy import RetryPolicy

# While enough attempts are recorded ahead, wait this long for more replies: a transaction costs more than its contents.
GATHER_SECONDS = 0.05
CLOSE_SECONDS = 5.0
CONNECT_SECONDS = 10.0
# Names are resolved again after this time, so that a long run follows a server that moves.
FRESH_SECONDS = 60.0
# One of several servers rests after so many failures in a row; one that is not there, after the first.
FAILURES_BEFORE_REST = 3
LARGEST_REPLY = 32 * 1024 * 1024
KEPT_HEADERS = ("host", "content-type", "content-length", "accept")
# An attempt with its outcome, or None if it was not sent.
Result = tuple[StartedAttempt, Outcome | None]


class Server:
    """One of an endpoint's servers, as the event loop sees it: its connections, its calls in flight, and its rest."""

    def __init__(self, url: str, endpoint: Endpoint, resolver: addresses.Resolver) -> None:
        import openai  # 20 MB that are needed only to send

        timeout = httpx2.Timeout(endpoint.timeout, connect=min(CONNECT_SECONDS, endpoint.timeout), pool=None)
        self.transport = CheckedTransport(endpoint=endpoint, resolver=resolver, url=url)
        self.openai = openai.AsyncOpenAI(
            api_key="the-transport-adds-it",
            base_url=url,
            http_client=httpx2.AsyncClient(
                transport=self.transport, timeout=timeout, follow_redirects=False, trust_env=False
            ),
            max_retries=0,
            timeout=timeout,
        )
        self.in_flight = 0
        self.resting_until = 0.0
        self.failures = 0  # since its last answer

    def rest_seconds(self) -> float:
        """Return the seconds for which nothing is sent to this server."""
        return max(self.resting_until - time.monotonic(), 0.0)


class Client:
    """Sends attempts to one endpoint, within its concurrency; results are returned to the calling thread.

    The event loop runs in its own thread, since the calling thread has the connection to the database. It is a daemon
    and closing does not wait for replies, so that an interrupted process can end.

    If the endpoint has several servers, an attempt goes to the one with the most free slots. A server that fails rests,
    and the others continue.
    """

    def __init__(self, *, endpoint: Endpoint, policy: RetryPolicy, resolver: addresses.Resolver) -> None:
        self._endpoint = endpoint
        self._policy = policy
        self._servers = [Server(url, endpoint, resolver) for url in endpoint.server_urls]
        self._results: SimpleQueue[Result | None] = SimpleQueue()
        self._waiting: deque[StartedAttempt] = deque()
        self._tasks: dict[str, asyncio.Task[Outcome]] = {}  # by digest
        self._closing = asyncio.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run_loop, name="llm-gateway", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join(CLOSE_SECONDS)

    def send(self, attempts: Sequence[StartedAttempt]) -> None:
        """Send recorded attempts, each as soon as a server has a free slot."""
        if attempts:
            self._loop.call_soon_threadsafe(self._start, list(attempts))

    def results(self, timeout: float) -> list[Result]:
        """Return the results that have arrived, and wait for them if necessary; `wake` ends the wait."""
        try:
            results = [self._results.get(timeout=max(timeout, 0.001))]
        except Empty:
            return []
        if len(self._waiting) > prefetch_limit(self._endpoint.slots) // 2:
            time.sleep(GATHER_SECONDS)
        while not self._results.empty():
            results.append(self._results.get())
        return [result for result in results if result is not None]

    def wake(self) -> None:
        """Let a thread that waits for results return."""
        self._results.put(None)

    def rest_seconds(self) -> float:
        """Return the seconds for which no server accepts calls."""
        return min(server.rest_seconds() for server in self._servers)

    def hold_back(self, attempts: Sequence[StartedAttempt]) -> None:
        """Do not send these attempts, if they are not in flight yet."""
        self._loop.call_soon_threadsafe(self._hold_back, {started.question.digest for started in attempts})

    def cut_off(self, attempts: Sequence[StartedAttempt]) -> None:
        """Stop waiting for these attempts: the outcome of those in flight is unknown."""
        digests = [started.question.digest for started in attempts]
        self._loop.call_soon_threadsafe(
            lambda: [self._tasks[digest].cancel() for digest in digests if digest in self._tasks]
        )

    def _start(self, attempts: list[StartedAttempt]) -> None:
        self._waiting.extend(attempts)
        self._fill_slots()

    def _hold_back(self, digests: set[str]) -> None:
        for started in [started for started in self._waiting if started.question.digest in digests]:
            self._waiting.remove(started)
            self._results.put((started, None))

    def _fill_slots(self) -> None:
        """Send waiting attempts as long as a server has a free slot; if all servers rest, give them back."""
        while self._waiting:
            awake = [server for server in self._servers if not server.rest_seconds()]
            if not awake:
                self._hold_back({started.question.digest for started in self._waiting})
                return
            server = min(awake, key=lambda server: server.in_flight)
            if server.in_flight >= self._endpoint.concurrency:
                return
            started = self._waiting.popleft()
            server.in_flight += 1
            task = self._loop.create_task(self._send(server, started.body))
            self._tasks[started.question.digest] = task
            task.add_done_callback(partial(self._hand_over, server, started))

    def _hand_over(self, server: Server, started: StartedAttempt, task: asyncio.Task[Outcome]) -> None:
        server.in_flight -= 1
        del self._tasks[started.question.digest]
        self._results.put((started, None if task.cancelled() else task.result()))
        self._fill_slots()

    async def _send(self, server: Server, body: dict[str, Any]) -> Outcome:
        began = time.monotonic()
        outcome = replace(await self._post(server, body), latency=time.monotonic() - began)
        if seconds := self._rest_after(server, outcome):
            server.resting_until = max(server.resting_until, time.monotonic() + seconds)
            self._loop.call_later(seconds, self._fill_slots)
        return replace(outcome, error=replies.clean(scrub_key(outcome.error, key=server.transport.key)))

    def _rest_after(self, server: Server, outcome: Outcome) -> float:
        """Return for how long nothing is sent to a server, including recorded attempts."""
        if outcome.retry_after:
            return min(outcome.retry_after, self._policy.longest_wait)
        if not outcome.is_transient:
            server.failures = 0
        elif len(self._servers) > 1 and not server.rest_seconds():  # what was in flight when it failed counts once
            server.failures += 1
            if outcome.fault == Fault.UNREACHABLE or server.failures >= FAILURES_BEFORE_REST:
                return self._policy.delay(failures=server.failures, retry_after=None)
        return 0.0

    async def _post(self, server: Server, body: dict[str, Any]) -> Outcome:
        """Send one request; any response or failure is an outcome.

        The body is sent unchanged through the client's own connection, not through its method for chat completions: the
        arguments that it would check were checked before, and its parsed reply is not used.
        """
        import openai

        try:
            # The client's own timeouts apply to each read; this one applies to the whole call.
            async with asyncio.timeout(self._endpoint.timeout):
                try:
                    response = await server.openai.post("/chat/completions", body=body, cast_to=httpx2.Response)
                except openai.APIStatusError as error:
                    response = error.response
            return replies.read_response(response)
        except asyncio.CancelledError:
            reason = "The job was cancelled before the answer arrived."
            return Outcome(AttemptState.UNKNOWN, Fault.CUT, reason, is_transient=True)
        except Exception as error:  # noqa: BLE001 - whatever it was, the attempt must be booked
            return replies.read_failure(error, timeout=self._endpoint.timeout)

    def _run_loop(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        await self._closing.wait()
        self._waiting.clear()
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for server in self._servers:
            await server.openai.close()


class CheckedTransport(httpx2.AsyncBaseTransport):
    """Sends requests to a server's checked addresses, even if its name resolves differently a moment later.

    Each call in flight has a connection of its own: a pool of hundreds takes longer than the calls, since it looks
    through all of them with every request.
    """

    def __init__(self, *, endpoint: Endpoint, resolver: addresses.Resolver, url: str = "") -> None:
        url = url or endpoint.base_url
        self._is_local = endpoint.is_local
        self._host, self._port = addresses.check_url(url, is_local=endpoint.is_local)
        self.key = read_key(endpoint, url)
        self._resolver = resolver
        self._addresses: list[str] = []
        self._resolved_at = float("-inf")
        self._resolving = asyncio.Lock()
        self._idle: list[httpx2.AsyncBaseTransport] = []
        self._addressed_urls: dict[tuple[httpx2.URL, str], httpx2.URL] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request to the first checked address that accepts the connection."""
        url = request.url
        port = url.port or (443 if url.scheme == "https" else 80)
        if (url.host.lower(), port) != (self._host, self._port):
            raise addresses.BlockedAddressError("A request went to an address other than its endpoint.")
        body = await request.aread()
        failure: Exception | None = None
        for address in await self._checked():
            connection = self._idle.pop() if self._idle else _new_connection()
            try:
                response = await connection.handle_async_request(self._addressed(request, address, body))
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                failure = error
                continue
            except BaseException:
                self._idle.append(connection)
                raise
            # A compressed reply could expand without limit; we requested a plain one.
            response.headers["content-encoding"] = "identity"
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            response.stream = LimitedStream(response.stream, on_close=partial(self._idle.append, connection))
            return response
        self._resolved_at = float("-inf")
        raise failure or httpx2.ConnectError(f"{self._host} has no address.")

    async def aclose(self) -> None:
        """Close all connections."""
        for connection in self._idle:
            await connection.aclose()

    async def _checked(self) -> list[str]:
        async with self._resolving:  # simultaneous requests resolve the name once
            if time.monotonic() - self._resolved_at > FRESH_SECONDS:
                try:
                    self._addresses = await asyncio.to_thread(
                        addresses.resolve, self._host, self._port, is_local=self._is_local, resolver=self._resolver
                    )
                except ConnectionError as error:
                    raise httpx2.ConnectError(str(error)) from error
                self._resolved_at = time.monotonic()
            return self._addresses

    def _addressed(self, request: httpx2.Request, address: str, body: bytes) -> httpx2.Request:
        """Return the request with the address in its URL, and the name in the host header and for the certificate."""
        headers = {name: request.headers[name] for name in KEPT_HEADERS if name in request.headers}
        headers |= {"user-agent": "CrowdRAG", "accept-encoding": "identity"}
        if self.key is not None:
            headers["authorization"] = f"Bearer {self.key}"
        extensions = {**request.extensions, "sni_hostname": self._host}
        key = (request.url, address)
        if (url := self._addressed_urls.get(key)) is None:
            url = self._addressed_urls[key] = request.url.copy_with(host=address)
        return httpx2.Request(request.method, url, headers=headers, content=body, extensions=extensions)


class LimitedStream(httpx2.AsyncByteStream):
    """The body of a response, aborted when it grows too large."""

    def __init__(self, stream: httpx2.AsyncByteStream, *, on_close: Callable[[], None]) -> None:
        self._stream = stream
        self._on_close = on_close

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > LARGEST_REPLY:
                raise httpx2.ReadError("The reply is too large.")
            yield chunk

    async def aclose(self) -> None:
        """Close the underlying stream; then its connection can be used again."""
        try:
            await self._stream.aclose()
        finally:
            self._on_close()


def _new_connection() -> httpx2.AsyncBaseTransport:
    return httpx2.AsyncHTTPTransport(verify=_tls(), trust_env=False, limits=httpx2.Limits())


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    # Reading the system's certificates takes tens of milliseconds: once per process is enough.
    return httpx2.create_ssl_context(trust_env=False)


HIDDEN = "[key]"
# Looks like a key but is not a known one: a server may echo a part of a key, or somebody else's.
_LIKE_A_KEY = re.compile(r"(?i)\bbearer\s+\S{6,}|\bapi[-_]?key[\"']?\s*[:=]\s*\S+|\b(sk|pk|hf|gsk|xai)[-_][\w*.-]{6,}")


class KeyMissingError(GatewayError):
    """The variable for an endpoint's key is not set, or the key is not for this host."""


def read_key(endpoint: Endpoint, url: str = "") -> str | None:
    """Return an endpoint's key for one of its servers (by default the first), or None if it needs none.

    Only for the hosts that it was entered for.
    """
    if not endpoint.key_variable:
        return None
    if not re.match(KEY_VARIABLE, endpoint.key_variable):
        raise KeyMissingError("The name of a key variable must start with CROWDRAG_LLM_KEY_.")
    host = host_of(url or endpoint.base_url)
    if host not in endpoint.key_hosts:
        raise KeyMissingError(
            f"The key of “{endpoint}” is for {endpoint.key_host} and is not sent to {host}. "
            "An operator can change the host of the key."
        )
    key = os.environ.get(endpoint.key_variable, "").strip()
    if not key:
        raise KeyMissingError(
            f"The environment variable {endpoint.key_variable} with the key of “{endpoint}” is not set. "
            "Set it and restart."
        )
    return key


def scrub_key(text: str, *, key: str | None, longest: int = 500) -> str:
    """Return a text without the key or anything that looks like one, cut to the maximum length."""
    if key:
        text = text.replace(key, HIDDEN)
    return _LIKE_A_KEY.sub(HIDDEN, text)[:longest]
