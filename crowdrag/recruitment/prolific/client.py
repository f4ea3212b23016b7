"""HTTP requests to the platform: checked addresses, rate limits respected, clear errors.

Requests that may be repeated are repeated here, a few times and briefly: reading, and writing that sets a state.
Requests that may not (paying) are sent once, and a lost response is reported as lost. The connection checks addresses
as the one to language models does (crowdrag/llm/client.py).
"""

import ipaddress
import json
import ssl
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any, Self
from urllib.parse import urlsplit

import httpx2

from crowdrag.llm import addresses

from .account import Account, scrub
from .errors import (
    BusyError,
    MissingError,
    OutcomeUnknownError,
    PlatformError,
    RefusedError,
    TokenError,
    UnreachableError,
    error_message,
    unreadable_answer,
)

CONNECT_SECONDS = 10.0
READ_SECONDS = 30.0
LARGEST_REPLY = 8 * 1024 * 1024


class CheckedTransport(httpx2.BaseTransport):
    """Sends requests to the platform's checked addresses, even if its name resolves differently a moment later."""

    def __init__(self, account: Account, resolver: addresses.Resolver = addresses.system_resolver) -> None:
        parts = urlsplit(account.base_url)
        self._account = account
        self.host = (parts.hostname or "").lower()
        self.port = parts.port or (443 if parts.scheme == "https" else 80)
        self._resolver = resolver
        self._inner = httpx2.HTTPTransport(verify=_tls(), trust_env=False)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request to the first checked address that accepts the connection."""
        if request.url.host.lower() != self.host:
            raise httpx2.ConnectError("A request strayed from the platform.")
        failure: Exception | None = None
        for address in self._checked():
            try:
                return self._inner.handle_request(self._addressed(request, address))
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                failure = error
        raise failure or httpx2.ConnectError(f"{self.host} has no address.")

    def close(self) -> None:
        """Close all connections."""
        self._inner.close()

    def _checked(self) -> list[str]:
        local = self._account.is_loopback
        try:
            resolved = addresses.resolve(self.host, self.port, is_local=local, resolver=self._resolver)
        except (ConnectionError, addresses.BlockedAddressError) as error:
            raise httpx2.ConnectError(str(error)) from error
        if local and not all(ipaddress.ip_address(address).is_loopback for address in resolved):
            raise httpx2.ConnectError("A test server must be on this machine.")
        return resolved

    def _addressed(self, request: httpx2.Request, address: str) -> httpx2.Request:
        """Return the request with the address in its URL, and the name in the host header and for the certificate."""
        return httpx2.Request(
            request.method,
            request.url.copy_with(host=address),
            headers=request.headers,
            content=request.read(),
            extensions={**request.extensions, "sni_hostname": self.host},
        )


def connection(account: Account, resolver: addresses.Resolver = addresses.system_resolver) -> httpx2.Client:
    """Return a connection that neither follows redirects nor reads proxies from the environment."""
    return httpx2.Client(
        base_url=account.base_url,
        transport=CheckedTransport(account, resolver),
        timeout=httpx2.Timeout(READ_SECONDS, connect=CONNECT_SECONDS),
        headers={
            "authorization": f"Token {account.token}",
            "user-agent": "CrowdRAG",
            "accept": "application/json",
            "accept-encoding": "identity",
        },
        follow_redirects=False,
        trust_env=False,
    )


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    return httpx2.create_ssl_context(trust_env=False)


MOST_TRIES = 3
# A short wait that the platform asks for is waited here; for a longer one the caller comes back later.
LONGEST_WAIT = 5.0
USUAL_WAIT = 60.0
PER_PAGE = 100
MOST_PAGES = 200


class Client:
    """The platform's API with one account. Close it, or use it in a `with`."""

    def __init__(
        self, account: Account, *, sleep: Callable[[float], None] = time.sleep, tries: int = MOST_TRIES
    ) -> None:
        self.account = account
        self._sleep = sleep
        self._tries = tries
        self._http = connection(account)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_details: object) -> None:
        self._http.close()

    def get(self, path: str, **params: Any) -> Any:
        """Read a resource."""
        return self._again("GET", path, params=params)

    def put(self, method: str, path: str, body: dict[str, Any]) -> Any:
        """Set a state: repeating the request has no further effect."""
        return self._again(method, path, body=body)

    def once(self, path: str, body: dict[str, Any]) -> Any:
        """Send a request that has an effect each time: sent once, whatever the result."""
        return self._send("POST", path, body=body).json

    def answer(self, method: str, path: str, body: dict[str, Any]) -> "Answer":
        """Send once, and return the response with its headers."""
        return self._send(method, path, body=body)

    def pages(self, path: str, **params: Any) -> Iterator[dict[str, Any]]:
        """Iterate over a list page by page; the caller may stop early."""
        for page in range(MOST_PAGES):
            answer = self.get(path, limit=PER_PAGE, offset=page * PER_PAGE, **params)
            rows = answer.get("results") if isinstance(answer, dict) else None
            if not isinstance(rows, list):
                raise PlatformError(unreadable_answer())
            yield from (row for row in rows if isinstance(row, dict))
            if len(rows) < PER_PAGE:
                return

    def _again(self, method: str, path: str, *, params: dict[str, Any] | None = None, body: Any = None) -> Any:
        for left in reversed(range(self._tries)):
            try:
                return self._send(method, path, params=params, body=body).json
            except BusyError as error:
                if not left or error.seconds > LONGEST_WAIT:
                    raise
                self._sleep(error.seconds)
            except (UnreachableError, OutcomeUnknownError):
                if not left:
                    raise
                self._sleep(0.5 * (self._tries - left))
        raise AssertionError("the last try returns or raises")

    def _send(self, method: str, path: str, *, params: dict[str, Any] | None = None, body: Any = None) -> "Answer":
        try:
            with self._http.stream(method, path, params=params or None, json=body) as response:
                content = _read_limited(response)
        except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout) as error:
            raise UnreachableError(f"The platform cannot be reached: {scrub(str(error))[:200]}") from error
        except httpx2.HTTPError as error:
            raise OutcomeUnknownError(f"The platform did not respond: {type(error).__name__}") from error
        return Answer(response.headers, _read(response, content))


class Answer:
    """A response of the platform."""

    def __init__(self, headers: httpx2.Headers, body: Any) -> None:
        self.headers = headers
        self.json = body


def _read_limited(response: httpx2.Response) -> bytes:
    content = bytearray()
    for chunk in response.iter_raw():
        content += chunk
        if len(content) > LARGEST_REPLY:
            raise httpx2.ReadError("The reply is too large.")
    return bytes(content)


def _read(response: httpx2.Response, content: bytes) -> Any:
    try:
        body = json.loads(content) if content.strip() else None
        readable = True
    except ValueError:
        body, readable = None, False
    status = response.status_code
    if status < 300:
        if not readable:
            raise OutcomeUnknownError(unreadable_answer())
        return body
    explanation = scrub(error_message(body))
    if status == 429:
        raise BusyError(
            "The platform asks us to try again later.", _retry_after(response.headers.get("retry-after", ""))
        )
    if status in {408, 425} or status >= 500:
        raise OutcomeUnknownError(f"The platform reports an internal error ({status}).")
    if status in {401, 403}:
        raise TokenError(explanation or f"The platform does not accept the token for this request ({status}).")
    message = explanation or f"The platform rejected the request ({status})."
    raise (MissingError if status == 404 else RefusedError)(message, status)


def _retry_after(header: str) -> float:
    """Read Retry-After: seconds, or a date."""
    try:
        return min(max(float(header), 0.0), 3600.0)
    except ValueError:
        pass
    try:
        wait = (parsedate_to_datetime(header).astimezone(UTC) - datetime.now(UTC)).total_seconds()  # noqa: TID251
    except (TypeError, ValueError):
        return USUAL_WAIT
    return min(max(wait, 0.0), 3600.0)
