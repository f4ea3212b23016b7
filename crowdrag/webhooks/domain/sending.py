"""One message sent once over HTTP, and what the other side answered: nothing is read of it but the status.

No redirect is followed, no proxy or header of the environment is used, the whole try has an end, and the connection
goes to a checked address only.
"""

import asyncio
import ssl
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Final

import httpx2
from django.utils import timezone
from django.utils.translation import gettext as _

from crowdrag import __version__
from crowdrag.llm.domain.addresses import Resolver, system_resolver

from . import addresses

CONNECT_SECONDS: Final = 5.0
# All of it: an address that answers a byte at a time holds nobody for longer.
SECONDS: Final = 15.0
LONGEST_WAIT: Final = timedelta(hours=24)


@dataclass(frozen=True)
class Answer:
    """What came of a try: the answer's status, or the problem where there was none."""

    status: int | None = None
    problem: str = ""
    # How long the other side asks us to wait before the next try.
    wait: timedelta | None = None

    @property
    def is_taken(self) -> bool:
        """Whether the other side took the message."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def is_gone(self) -> bool:
        """Whether the other side wants no more."""
        return self.status == httpx2.codes.GONE


def post(
    *,
    address: str,
    headers: dict[str, str],
    body: str,
    resolver: Resolver = system_resolver,
    tls: ssl.SSLContext | None = None,
    seconds: float = SECONDS,
) -> Answer:
    """Send a message, and return what came of it; whatever goes wrong is an answer too."""
    try:
        target = addresses.read(address)
        found = target.resolved(resolver)
        trying = _within(seconds, target, found, _request(address, headers, body), tls or _tls())
        # In a thread of its own: where a loop runs already, another one cannot.
        with ThreadPoolExecutor(1) as own:
            return own.submit(asyncio.run, trying).result()
    except TimeoutError:
        return Answer(problem=_("No answer within %(seconds)g seconds.") % {"seconds": seconds})
    except (addresses.AddressError, ConnectionError) as error:
        return Answer(problem=str(error))
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        return Answer(problem=_("The address could not be reached: %s") % (str(error) or type(error).__name__))


def _request(address: str, headers: dict[str, str], body: str) -> httpx2.Request:
    sent = {
        "content-type": "application/json; charset=utf-8",
        "user-agent": f"CrowdRAG/{__version__}",
        "accept-encoding": "identity",
        **headers,
    }
    return httpx2.Request("POST", address, headers=sent, content=body.encode())


async def _within(
    seconds: float, target: addresses.Target, found: list[str], request: httpx2.Request, tls: ssl.SSLContext
) -> Answer:
    async with asyncio.timeout(seconds), httpx2.AsyncHTTPTransport(verify=tls, trust_env=False) as transport:
        failure: Exception | None = None
        for address in found:
            try:
                response = await transport.handle_async_request(_addressed(request, address, target, seconds))
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                failure = error
                continue
            answer = _answer(response)
            await response.aclose()
            return answer
        raise failure or httpx2.ConnectError(f"{target.host} has no address.")


def _addressed(request: httpx2.Request, address: str, target: addresses.Target, seconds: float) -> httpx2.Request:
    """Return the request with the address in its URL, and the name where the server and its certificate look."""
    timeout = httpx2.Timeout(seconds, connect=CONNECT_SECONDS)
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        content=request.read(),
        extensions={"timeout": timeout.as_dict(), "sni_hostname": target.host},
    )


def _answer(response: httpx2.Response) -> Answer:
    status = response.status_code
    if 200 <= status < 300:
        return Answer(status)
    if 300 <= status < 400:
        problem = _("It answered %(status)s: redirects are not followed. Enter the address that it leads to.")
    elif status == httpx2.codes.GONE:
        problem = _("It answered %(status)s: it wants no more messages.")
    else:
        problem = _("It answered %(status)s.")
    return Answer(status, problem % {"status": status}, _asked(response.headers.get("retry-after", "")))


def _asked(header: str) -> timedelta | None:
    """Read how long to wait: seconds, or a time; within bounds."""
    try:
        wait = timedelta(seconds=int(header)) if header.isdecimal() else parsedate_to_datetime(header) - timezone.now()
    except (TypeError, ValueError, OverflowError):
        return None
    return min(max(wait, timedelta(0)), LONGEST_WAIT)


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    return httpx2.create_ssl_context(trust_env=False)
