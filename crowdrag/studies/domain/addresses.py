"""Where people are led when they are done: addresses that a link's owner entered, nothing that came with a request."""

import re
from urllib.parse import urlsplit

from django.utils.translation import gettext as _

LONGEST = 500
_HOST = re.compile(r"(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])")


class AddressError(ValueError):
    """An address that nobody is sent to."""


def checked(address: str) -> str:
    """Return an address that people may be sent to: https, a named host, nothing that a browser may read otherwise."""
    address = address.strip()
    if len(address) > LONGEST:
        raise AddressError(_("The address is longer than %(most)d characters.") % {"most": LONGEST})
    # A backslash or a control character is read differently by different browsers.
    if not re.fullmatch(r"[\x21-\x7e]+", address) or "\\" in address:
        raise AddressError(_("The address may hold neither spaces nor signs outside ASCII."))
    try:
        parts = urlsplit(address)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError as error:
        raise AddressError(_("This is no address.")) from error
    if parts.scheme != "https":
        raise AddressError(_("The address must start with https://."))
    if parts.username is not None or parts.password is not None or port not in {None, 443}:
        raise AddressError(_("The address may name a host and a path, but no user and no port."))
    if not _HOST.fullmatch(host):
        raise AddressError(_("The address must name a host, such as app.prolific.com."))
    return address
