"""The client of one endpoint: it sends attempts from an event loop, to checked addresses only, and collects replies.

The `openai` client is used without retries: a hidden retry is paid twice. Under it lies a transport of our own. It
connects to the addresses that were checked, drops every header that we did not mean to send, and adds the key, which is
read from the environment for the host that it was entered for, and is stored and shown nowhere.
"""

import asyncio
import os
import re
import ssl
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import lru_cache, partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Self

import httpx2
from django.utils.translation import gettext as _

from . import addresses, replies
from .attempts import StartedAttempt, prefetch_limit
from .enums import AttemptState, Fault
from .errors import GatewayError
from .models import KEY_VARIABLE, Endpoint
from .replies import SendResult
from .requests import Question
from .retry_policy import RetryPolicy

if TYPE_CHECKING:
    import openai

# While enough attempts are written ahead, more replies are waited for so long: a transaction costs more than what is
# in it.
GATHER_SECONDS = 0.02
CLOSE_SECONDS = 5.0
# An attempt with what became of it, or nothing where it was not sent; a question whose pause is over; a failed pause.
Result = tuple[StartedAttempt, SendResult | None] | Question | Exception


class Client:
    """Sends attempts to one endpoint, no more at once than it takes; their results come to the thread that asks.

    The event loop runs in a thread of its own, since the thread that asks holds the connection to the database. It is
    a daemon and closing does not wait for replies, so an interrupted process can end.
    """

    def __init__(
        self,
        *,
        endpoint: Endpoint,
        policy: RetryPolicy,
        resolver: addresses.Resolver = addresses.system_resolver,
    ) -> None:
        self._endpoint = endpoint
        self._policy = policy
        self._key = read_key(endpoint)
        self._openai = make_client(endpoint=endpoint, resolver=resolver)
        self._results: SimpleQueue[Result] = SimpleQueue()
        self._slots = asyncio.Semaphore(endpoint.concurrency)
        self._written_ahead = 0
        self._is_stopped = False
        self._resting_until: datetime | None = None
        self._tasks: set[asyncio.Task[None]] = set()
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
        """Send attempts that are on record, each as soon as the endpoint takes it."""
        for started in attempts:
            self._loop.call_soon_threadsafe(partial(self._start, started))

    def hand_back_later(self, question: Question, seconds: float) -> None:
        """Return a question among the results after a pause."""
        self._loop.call_soon_threadsafe(lambda: self._spawn(self._pause(question, seconds)))

    def results(self, timeout: float) -> list[Result]:
        """Return what has come, and wait for it if need be."""
        try:
            results = [self._results.get(timeout=max(timeout, 0.001))]
        except Empty:
            return []
        if self._written_ahead > prefetch_limit(self._endpoint.concurrency) // 2:
            time.sleep(GATHER_SECONDS)
        while not self._results.empty():
            results.append(self._results.get())
        return results

    def rest_seconds(self) -> float:
        """Return for how long the endpoint has asked to be sent nothing."""
        if self._resting_until is None:
            return 0.0
        return max((self._resting_until - self._policy.clock()).total_seconds(), 0.0)

    def stop(self) -> None:
        """Send nothing more; what is in flight goes on."""
        self._is_stopped = True

    def cut_off(self) -> None:
        """Wait no longer for what is in flight: its outcome is unknown."""
        self._loop.call_soon_threadsafe(lambda: [task.cancel() for task in self._tasks])

    async def _send(self, started: StartedAttempt) -> None:
        sent = None
        try:
            self._written_ahead += 1
            try:
                await self._slots.acquire()
            finally:
                self._written_ahead -= 1
            try:
                if not self._is_stopped and not self.rest_seconds():
                    sent = await self._post(started.body)
                    if sent.fault and sent.retry_after:
                        self._rest(sent.retry_after)
            finally:
                self._slots.release()
        finally:
            self._results.put((started, sent))

    async def _post(self, body: dict[str, Any]) -> SendResult:
        """Send one request; whatever a server or a network does is a result.

        The body goes through the client's own connection as it is, not through its method for chat completions: what
        that checks of the arguments was checked before, and what it makes of the reply is not used.
        """
        import openai  # 20 MB that only those need who send

        now, began = self._policy.clock(), time.monotonic()
        try:
            # The client's own limits count each read; this one counts them all.
            async with asyncio.timeout(self._endpoint.timeout):
                response = await self._openai.post("/chat/completions", body=body, cast_to=httpx2.Response)
        except openai.APIStatusError as error:
            response = error.response
        except asyncio.CancelledError:
            reason = _("The job was cancelled before the answer came.")
            return SendResult(AttemptState.UNKNOWN, time.monotonic() - began, Fault.CUT, reason, again=True)
        except Exception as error:  # noqa: BLE001 - whatever it was, the attempt must be booked
            latency = time.monotonic() - began
            return self._without_key(replies.read_failure(error, timeout=self._endpoint.timeout, latency=latency))
        latency = time.monotonic() - began
        return self._without_key(
            replies.read_response(response.status_code, response.headers, response.content, now=now, latency=latency)
        )

    def _without_key(self, sent: SendResult) -> SendResult:
        return replace(sent, error=replies.clean(scrub_key(sent.error, key=self._key))) if sent.error else sent

    def _rest(self, seconds: float) -> None:
        """Send nothing more for so long, also of what is on record already."""
        until = self._policy.clock() + timedelta(seconds=min(seconds, self._policy.longest_wait))
        self._resting_until = max(self._resting_until or until, until)

    async def _pause(self, question: Question, seconds: float) -> None:
        try:
            await self._policy.sleep(seconds)
        except Exception as error:  # noqa: BLE001 - raised in the thread that asks
            self._results.put(error)
        else:
            self._results.put(question)

    def _start(self, started: StartedAttempt) -> None:
        self._spawn(self._send(started))

    def _spawn(self, coroutine: Coroutine[Any, Any, None]) -> None:
        task = self._loop.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _run_loop(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        await self._closing.wait()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._openai.close()


def make_client(
    *, endpoint: Endpoint, resolver: addresses.Resolver = addresses.system_resolver
) -> "openai.AsyncOpenAI":
    """Return a client of an endpoint that neither retries nor follows redirects nor looks at the environment."""
    import openai  # 20 MB that only those need who send

    timeout = httpx2.Timeout(endpoint.timeout, connect=min(CONNECT_SECONDS, endpoint.timeout), pool=None)
    http_client = httpx2.AsyncClient(
        transport=CheckedTransport(endpoint=endpoint, resolver=resolver),
        timeout=timeout,
        follow_redirects=False,
        trust_env=False,
    )
    return openai.AsyncOpenAI(
        api_key="the-transport-adds-it",
        base_url=endpoint.base_url,
        http_client=http_client,
        max_retries=0,
        timeout=timeout,
    )


KEPT_HEADERS = ("host", "content-type", "content-length", "accept")
LARGEST_REPLY = 32 * 1024 * 1024
CONNECT_SECONDS = 10.0
# Names are looked up again after this long, so that a long run follows a server that moves.
FRESH_SECONDS = 60.0


class CheckedTransport(httpx2.AsyncBaseTransport):
    """Sends requests to an endpoint's checked addresses, whatever its name means to others a moment later."""

    def __init__(self, *, endpoint: Endpoint, resolver: addresses.Resolver = addresses.system_resolver) -> None:
        self.is_local = endpoint.is_local
        self.host, self.port = addresses.check_url(endpoint.base_url, is_local=endpoint.is_local)
        self._key = read_key(endpoint)
        self._resolver = resolver
        self._addresses: list[str] = []
        self._resolved_at = float("-inf")
        self._resolving = asyncio.Lock()
        tls = _tls() if endpoint.base_url.lower().startswith("https:") else _no_tls()
        self._inner = ConnectionPool(lambda: httpx2.AsyncHTTPTransport(verify=tls, trust_env=False))
        self._urls: dict[tuple[httpx2.URL, str], httpx2.URL] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request to the first checked address that takes the connection."""
        if (request.url.host.lower(), request.url.port or _default_port(request.url.scheme)) != (self.host, self.port):
            raise addresses.BlockedAddressError("A request strayed from its endpoint.")
        body = await request.aread()
        failure: Exception | None = None
        for address in await self._checked():
            try:
                response = await self._inner.handle_async_request(self._addressed(request, address, body))
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                failure = error
                continue
            return self._limited(response)
        self._resolved_at = float("-inf")
        raise failure or httpx2.ConnectError(f"{self.host} has no address.")

    async def aclose(self) -> None:
        """Close all connections."""
        await self._inner.aclose()

    async def _checked(self) -> list[str]:
        async with self._resolving:  # a wave of requests that start together looks the name up once
            if time.monotonic() - self._resolved_at > FRESH_SECONDS:
                try:
                    self._addresses = await asyncio.to_thread(
                        addresses.resolve, self.host, self.port, is_local=self.is_local, resolver=self._resolver
                    )
                except ConnectionError as error:
                    raise httpx2.ConnectError(str(error)) from error
                self._resolved_at = time.monotonic()
            return self._addresses

    def _addressed(self, request: httpx2.Request, address: str, body: bytes) -> httpx2.Request:
        """Return the request with the address in its URL, and the name where the server and its certificate look."""
        headers = {name: request.headers[name] for name in KEPT_HEADERS if name in request.headers}
        headers |= {"user-agent": "CrowdRAG", "accept-encoding": "identity"}
        if self._key is not None:
            headers["authorization"] = f"Bearer {self._key}"
        return httpx2.Request(
            request.method,
            self._url(request.url, address),
            headers=headers,
            content=body,
            extensions={**request.extensions, "sni_hostname": self.host},
        )

    def _url(self, url: httpx2.URL, address: str) -> httpx2.URL:
        # Always the same few: taking one apart and putting it together takes long beside all else that is done here.
        if (url, address) not in self._urls:
            self._urls[url, address] = url.copy_with(host=address)
        return self._urls[url, address]

    def _limited(self, response: httpx2.Response) -> httpx2.Response:
        # A compressed reply could unfold without limit; we asked for a plain one.
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            response.headers["content-encoding"] = "identity"
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=LimitedStream(response.stream),
            extensions=response.extensions,
        )


class LimitedStream(httpx2.AsyncByteStream):
    """A reply's body that breaks off when it grows too large."""

    def __init__(self, stream: httpx2.AsyncByteStream, largest: int = LARGEST_REPLY) -> None:
        self._stream = stream
        self._left = largest

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._left -= len(chunk)
            if self._left < 0:
                raise httpx2.ReadError("The reply is too large.")
            yield chunk

    async def aclose(self) -> None:
        """Close the connection's part of it."""
        await self._stream.aclose()


class ConnectionPool(httpx2.AsyncBaseTransport):
    """Sends each request on a connection that no other is using; the one that was used last comes first."""

    def __init__(self, make: Callable[[], httpx2.AsyncBaseTransport]) -> None:
        self._make = make
        self._all: list[httpx2.AsyncBaseTransport] = []
        self._idle: list[httpx2.AsyncBaseTransport] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; its connection is free for others when the reply's stream is closed."""
        if self._idle:
            connection = self._idle.pop()
        else:
            connection = self._make()
            self._all.append(connection)
        try:
            response = await connection.handle_async_request(request)
        except BaseException:
            self._idle.append(connection)
            raise
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Stream(response.stream, lambda: self._idle.append(connection))
        return response

    async def aclose(self) -> None:
        """Close all connections."""
        for connection in self._all:
            await connection.aclose()


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


HIDDEN = "[key]"
# What looks like a key although it is none that we know: a server may echo a part of it, or somebody else's.
_LIKE_A_KEY = re.compile(r"(?i)\bbearer\s+\S{6,}|\bapi[-_]?key[\"']?\s*[:=]\s*\S+|\b(sk|pk|hf|gsk|xai)[-_][\w*.-]{6,}")


class KeyMissingError(GatewayError):
    """The variable that should hold an endpoint's key is not set, or the key is not for this host."""


def has_key(endpoint: Endpoint) -> bool:
    """Whether the environment holds the endpoint's key, without looking at it."""
    return bool(endpoint.key_variable and os.environ.get(endpoint.key_variable))


def read_key(endpoint: Endpoint) -> str | None:
    """Return an endpoint's key, or None where it needs none; only for the host that it was entered for."""
    if not endpoint.key_variable:
        return None
    if not re.match(KEY_VARIABLE, endpoint.key_variable):
        raise KeyMissingError(_("Only variables that start with CROWDRAG_LLM_KEY_ hold keys of models."))
    if endpoint.key_host.lower() != endpoint.host:
        raise KeyMissingError(
            _(
                "The key of “%(endpoint)s” was entered for %(key_host)s and is not sent to %(host)s. "
                "An operator can change the host of the key."
            )
            % {"endpoint": endpoint, "key_host": endpoint.key_host, "host": endpoint.host}
        )
    key = os.environ.get(endpoint.key_variable, "").strip()
    if not key:
        raise KeyMissingError(
            _("%(variable)s is not set: it should hold the key of “%(endpoint)s”. Set it and start again.")
            % {"variable": endpoint.key_variable, "endpoint": endpoint}
        )
    return key


def scrub_key(text: str, *, key: str | None, longest: int = 500) -> str:
    """Return a text without the key, without what looks like one, and not longer than it needs to be."""
    if key:
        text = text.replace(key, HIDDEN)
    return _LIKE_A_KEY.sub(HIDDEN, text)[:longest]


def _default_port(scheme: str) -> int:
    return 443 if scheme == "https" else 80


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    # Reading the system's certificates takes tens of milliseconds: once a process is enough.
    return httpx2.create_ssl_context(trust_env=False)


@lru_cache(maxsize=1)
def _no_tls() -> ssl.SSLContext:
    """Return what a connection without TLS is made with: it trusts nobody, and takes no time to make."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
