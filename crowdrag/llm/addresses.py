"""Allowed addresses of calls: an endpoint's name is resolved once, each address is checked, and a checked one is used.

Checking a name when it is entered is not enough, since it may point elsewhere a second later. So the address that the
connection then uses is checked (client.py).
"""

import ipaddress
import socket
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from django.conf import settings

from . import GatewayError

Resolver = Callable[[str, int], Sequence[str]]

# Never allowed, local or not: they lead to metadata services of cloud machines, to multicast, or to nowhere.
FORBIDDEN_NETWORKS = [
    ipaddress.ip_network(block)
    for block in (
        "0.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.51.100.0/24",
        "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "100.100.100.200/32", "168.63.129.16/32",
        "::/128", "100::/64", "2001:2::/48", "2001:10::/28", "2001:20::/28", "2001:db8::/32", "3fff::/20",
        "5f00::/16", "fe80::/10", "fec0::/10", "ff00::/8", "fd00:ec2::254/128", "fd20:ce::254/128",
    )
]  # fmt: skip
# Only for endpoints that the operator marked as local.
LOCAL_NETWORKS = [
    ipaddress.ip_network(block)
    for block in (
        "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "198.18.0.0/15",
        "::1/128", "fc00::/7",
    )
]  # fmt: skip
# IPv6 addresses that contain an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo). No server has only such an
# address, and they are used to get around checks: never allowed either.
IPV4_IN_IPV6_NETWORKS = [
    ipaddress.ip_network(block)
    for block in (
        "::ffff:0:0/96", "::ffff:0:0:0/96", "::/96", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "2001::/32",
    )
]  # fmt: skip


class BlockedAddressError(GatewayError):
    """An address that an endpoint must not have."""


def check_url(url: str, *, is_local: bool) -> tuple[str, int]:
    """Return host and port of an allowed base URL, or raise an error that says what is wrong with it."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise BlockedAddressError(f"The base URL cannot be read: {error}") from error
    if parts.scheme not in {"http", "https"}:
        raise BlockedAddressError("The base URL must start with https:// (or http:// where the endpoint is local).")
    if parts.scheme == "http" and not is_local:
        raise BlockedAddressError("Only a local endpoint may be reached without TLS: use https://.")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise BlockedAddressError("The base URL must not contain a user, password, query or fragment.")
    if not parts.hostname or "%" in parts.netloc or any(character.isspace() or character == "\\" for character in url):
        raise BlockedAddressError("The base URL must contain a host.")
    allowed = [host.lower() for host in settings.LLM_HOSTS]
    if allowed and parts.hostname.lower() not in allowed:
        raise BlockedAddressError(f"{parts.hostname} is not among the hosts that CROWDRAG_LLM_HOSTS allows.")
    return parts.hostname.lower(), port or (443 if parts.scheme == "https" else 80)


def system_resolver(host: str, port: int) -> list[str]:
    """Return the addresses of a host from the system's resolver."""
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


def resolve(host: str, port: int, *, is_local: bool, resolver: Resolver = system_resolver) -> list[str]:
    """Return the checked addresses of a host: if one is not allowed, none is."""
    try:
        resolved = list(resolver(host, port))
    except (OSError, UnicodeError) as error:
        raise ConnectionError(f"{host} has no address: {error}") from error
    if not resolved:
        raise ConnectionError(f"{host} has no address.")
    for address in resolved:
        if problem := why_forbidden(address, is_local=is_local):
            raise BlockedAddressError(f"{host} resolves to {address}, which is {problem}.")
    return resolved


def why_forbidden(address: str, *, is_local: bool) -> str:
    """Return why an address may not be connected to; empty if it may."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return "not an address"
    if isinstance(parsed, ipaddress.IPv6Address) and parsed.scope_id:
        return "a link-local address"
    if any(parsed in network for network in FORBIDDEN_NETWORKS):
        return "reserved"
    if any(parsed in network for network in LOCAL_NETWORKS):
        return "" if is_local else "on this machine or in a private network (an operator can mark it as local)"
    if any(parsed in network for network in IPV4_IN_IPV6_NETWORKS):
        return "an address that embeds another address"
    # Python's own registry may know addresses that the lists above do not.
    return "" if parsed.is_global else "reserved"
