"""Client addresses, grouped as rate limits count them."""

import ipaddress
from typing import Final

_BITS_OF_ONE: Final = 64


def origin(address: str) -> str:
    """Return what one client has: an IPv4 address, or the network of an IPv6 address.

    One subscriber has such a network, and may take another address of it for every try.

    Raises
    ------
    ValueError
        for what is no address.
    """
    ip = ipaddress.ip_address(address)
    if ip.version == 4:
        return str(ip)
    if ip.ipv4_mapped is not None:
        return str(ip.ipv4_mapped)
    return str(ipaddress.ip_network((int(ip), _BITS_OF_ONE), strict=False).network_address)
