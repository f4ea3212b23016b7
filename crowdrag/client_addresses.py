"""Client addresses, grouped for rate limits."""

import ipaddress
from typing import Final

_BITS_OF_ONE: Final = 64


def origin(address: str) -> str:
    """Return the address or network of one client: an IPv4 address, or the network of an IPv6 address.

    A subscriber has a whole IPv6 network, and may use another address of it for every try.

    Raises
    ------
    ValueError
        for an invalid address.
    """
    ip = ipaddress.ip_address(address)
    if ip.version == 4:
        return str(ip)
    if ip.ipv4_mapped is not None:
        return str(ip.ipv4_mapped)
    return str(ipaddress.ip_network((int(ip), _BITS_OF_ONE), strict=False).network_address)
