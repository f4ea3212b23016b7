"""Send one message over HTTPS to a checked address. Only the status of the response is read.

A name is resolved and checked when a message is sent, as with language models (crowdrag/llm/addresses.py), and the
checked address is the one connected to: a check when it is entered would say nothing about where it leads later. No
redirect is followed, no proxy or header of the environment is used, and the whole try has a time limit.
"""

import asyncio
import ipaddress
import logging
import ssl
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

import httpx2
from django.conf import settings
from django.utils import timezone

from crowdrag import __version__
from crowdrag.llm import addresses
from crowdrag.llm.addresses import Resolver, system_resolver

from .models import LONGEST_ADDRESS

log = logging.getLogger(__name__)
#: Names that no public name server answers for (RFC 6761, 6762, 9476).
_LOCAL_SUFFIXES = (".localhost", ".local", ".internal", ".home.arpa")


class AddressError(ValueError):
    """A URL that a webhook must not have; the message says why."""


@dataclass(frozen=True)
class Target:
    """A parsed URL that may be used."""

    host: str
    port: int
    is_tls: bool
    is_local: bool

    def resolved(self, resolver: addresses.Resolver = addresses.system_resolver) -> list[str]:
        """Return the current addresses of the host, all of them checked.

        Raises
        ------
        AddressError
            if the name does not resolve, or resolves to a forbidden address. Both get the same message, without an
            address: otherwise names could be used to explore the operator's network.
        """
        try:
            return addresses.resolve(self.host, self.port, is_local=self.is_local, resolver=resolver)
        except (addresses.BlockedAddressError, ConnectionError) as error:
            log.warning("A webhook was not sent: %s", error)
            raise AddressError(f"{self.host} has no public address.") from error


def parse_address(address: str) -> Target:
    """Parse a URL, or raise an error that says what is wrong with it."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError as error:
        raise AddressError(f"The URL is not valid: {error}") from error
    if len(address) > LONGEST_ADDRESS or any(c.isspace() or c == "\\" or not c.isprintable() for c in address):
        raise AddressError("The URL is too long, or contains spaces or backslashes.")
    if not parts.hostname or "%" in parts.netloc:
        raise AddressError("The URL must contain a host.")
    if parts.username is not None or parts.password is not None or "#" in address:
        raise AddressError("The URL must not contain a user, password or fragment.")
    host = parts.hostname.lower()
    is_local = host in {name.lower() for name in settings.WEBHOOK_LOCAL_HOSTS}
    if parts.scheme != "https" and not (parts.scheme == "http" and is_local):
        raise AddressError("The URL must start with https://.")
    _check_literal(host, is_local=is_local)
    if not is_local and (host == "localhost" or host.endswith(_LOCAL_SUFFIXES)):
        raise AddressError(f"{host} is a name on this machine or in a private network.")
    return Target(host, port or (443 if parts.scheme == "https" else 80), parts.scheme == "https", is_local)


def _check_literal(host: str, *, is_local: bool) -> None:
    """Reject a forbidden IP address at once; names are resolved when something is sent."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return
    if problem := addresses.why_forbidden(host, is_local=is_local):
        raise AddressError(f"Messages cannot be sent to {host}: it is {problem}.")


CONNECT_SECONDS: Final = 5.0
# For the whole try: a server that sends one byte at a time blocks nobody for longer.
TRY_SECONDS: Final = 15.0
LONGEST_WAIT: Final = timedelta(hours=24)


@dataclass(frozen=True)
class DeliveryResponse:
    """The result of a try: the response's status, or the problem if there was none."""

    status: int | None = None
    problem: str = ""
    # How long the receiver asks us to wait before the next try.
    wait: timedelta | None = None

    @property
    def is_taken(self) -> bool:
        """Whether the receiver accepted the message."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def is_gone(self) -> bool:
        """Whether the receiver wants no more messages."""
        return self.status == httpx2.codes.GONE


def post(
    *,
    address: str,
    headers: dict[str, str],
    body: str,
    resolver: Resolver = system_resolver,
    tls: ssl.SSLContext | None = None,
    seconds: float = TRY_SECONDS,
) -> DeliveryResponse:
    """Send a message, and return the result; errors are results too."""
    try:
        target = parse_address(address)
        host_addresses = target.resolved(resolver)
        trying = _within(seconds, target, host_addresses, _request(address, headers, body), tls or _tls())
        # In a separate thread: an event loop cannot run inside another one.
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(asyncio.run, trying).result()
    except TimeoutError:
        return DeliveryResponse(problem=f"No response within {seconds:g} seconds.")
    except (AddressError, ConnectionError) as error:
        return DeliveryResponse(problem=str(error))
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        return DeliveryResponse(problem="The URL could not be reached: %s" % (str(error) or type(error).__name__))


def _request(address: str, headers: dict[str, str], body: str) -> httpx2.Request:
    sent = {
        "content-type": "application/json; charset=utf-8",
        "user-agent": f"CrowdRAG/{__version__}",
        "accept-encoding": "identity",
        **headers,
    }
    return httpx2.Request("POST", address, headers=sent, content=body.encode())


async def _within(
    seconds: float, target: Target, host_addresses: list[str], request: httpx2.Request, tls: ssl.SSLContext
) -> DeliveryResponse:
    async with asyncio.timeout(seconds), httpx2.AsyncHTTPTransport(verify=tls, trust_env=False) as transport:
        failure: Exception | None = None
        for address in host_addresses:
            try:
                response = await transport.handle_async_request(_to_address(request, address, target, seconds))
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                failure = error
                continue
            answer = _answer(response)
            await response.aclose()
            return answer
        raise failure or httpx2.ConnectError(f"{target.host} has no address.")


def _to_address(request: httpx2.Request, address: str, target: Target, seconds: float) -> httpx2.Request:
    """Return the request with the address in its URL, and the name in the host header and for the certificate."""
    timeout = httpx2.Timeout(seconds, connect=CONNECT_SECONDS)
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        content=request.read(),
        extensions={"timeout": timeout.as_dict(), "sni_hostname": target.host},
    )


def _answer(response: httpx2.Response) -> DeliveryResponse:
    status = response.status_code
    if 200 <= status < 300:
        return DeliveryResponse(status)
    if 300 <= status < 400:
        problem = "The receiver answered %(status)s. Redirects are not followed. Enter the final URL."
    elif status == httpx2.codes.GONE:
        problem = "The receiver answered %(status)s. It wants no more messages."
    else:
        problem = "The receiver answered %(status)s."
    return DeliveryResponse(status, problem % {"status": status}, _retry_after(response.headers.get("retry-after", "")))


def _retry_after(header: str) -> timedelta | None:
    """Read how long to wait: seconds, or a time; within bounds."""
    try:
        wait = timedelta(seconds=int(header)) if header.isdecimal() else parsedate_to_datetime(header) - timezone.now()
    except (TypeError, ValueError, OverflowError):
        return None
    return min(max(wait, timedelta(0)), LONGEST_WAIT)


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    return httpx2.create_ssl_context(trust_env=False)
