"""The connection to the platform: to checked addresses only, as with language models (llm/domain/transport.py)."""

import ipaddress
import ssl
from functools import lru_cache
from urllib.parse import urlsplit

import httpx2
from django.utils.translation import gettext as _

from crowdrag.llm.domain import addresses

from .account import Account

CONNECT_SECONDS = 10.0
READ_SECONDS = 30.0
LARGEST_REPLY = 8 * 1024 * 1024


class CheckedTransport(httpx2.BaseTransport):
    """Sends requests to the platform's checked addresses, whatever its name means to others a moment later."""

    def __init__(self, account: Account, resolver: addresses.Resolver = addresses.system_resolver) -> None:
        parts = urlsplit(account.base_url)
        self._account = account
        self.host = (parts.hostname or "").lower()
        self.port = parts.port or (443 if parts.scheme == "https" else 80)
        self._resolver = resolver
        self._inner = httpx2.HTTPTransport(verify=_tls(), trust_env=False)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request to the first checked address that takes the connection."""
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
            found = addresses.resolve(self.host, self.port, is_local=local, resolver=self._resolver)
        except (ConnectionError, addresses.BlockedAddressError) as error:
            raise httpx2.ConnectError(str(error)) from error
        if local and not all(ipaddress.ip_address(address).is_loopback for address in found):
            raise httpx2.ConnectError(_("A stand-in must be on this machine."))
        return found

    def _addressed(self, request: httpx2.Request, address: str) -> httpx2.Request:
        """Return the request with the address in its URL, and the name where the server and its certificate look."""
        return httpx2.Request(
            request.method,
            request.url.copy_with(host=address),
            headers=request.headers,
            content=request.read(),
            extensions={**request.extensions, "sni_hostname": self.host},
        )


def connection(account: Account, resolver: addresses.Resolver = addresses.system_resolver) -> httpx2.Client:
    """Return a connection that neither follows redirects nor looks at the environment."""
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
