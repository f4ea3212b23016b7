"""Where messages may go: https, and no address of a private network, as with language models (llm/domain/addresses).

What a name leads to is looked up and checked when a message is sent, and the checked address is the one connected to:
checking it once when it is entered would say nothing of where it leads a second later.
"""

import ipaddress
import logging
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext as _

from crowdrag.llm.domain import addresses

from ..models.webhook import LONGEST_ADDRESS

log = logging.getLogger(__name__)
#: Names that no public name server answers for (RFC 6761, 6762, 9476).
_OF_HERE = (".localhost", ".local", ".internal", ".home.arpa")


class AddressError(ValueError):
    """An address that a webhook must not have; the message says why."""


@dataclass(frozen=True)
class Target:
    """An address that was read and may be used."""

    host: str
    port: int
    is_tls: bool
    is_local: bool

    def resolved(self, resolver: addresses.Resolver = addresses.system_resolver) -> list[str]:
        """Return the addresses that the host leads to now, all of them checked.

        Raises
        ------
        AddressError
            where the name leads nowhere, or to an address that may not be connected to. Both are said alike, and no
            address is named: else whoever enters names could learn what there is in the operator's network.
        """
        try:
            return addresses.resolve(self.host, self.port, is_local=self.is_local, resolver=resolver)
        except (addresses.BlockedAddressError, ConnectionError) as error:
            log.warning("A webhook was not sent: %s", error)
            raise AddressError(_("%s has no public address.") % self.host) from error


def read(address: str) -> Target:
    """Return what an address names, or raise what is wrong with it."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError as error:
        raise AddressError(_("The address cannot be read: %s") % error) from error
    if len(address) > LONGEST_ADDRESS or any(c.isspace() or c == "\\" or not c.isprintable() for c in address):
        raise AddressError(_("The address is too long, or holds blanks or backslashes."))
    if not parts.hostname or "%" in parts.netloc:
        raise AddressError(_("The address must name a host."))
    if parts.username is not None or parts.password is not None or "#" in address:
        raise AddressError(_("The address must hold no user, password or fragment."))
    host = parts.hostname.lower()
    is_local = host in {name.lower() for name in settings.WEBHOOK_LOCAL_HOSTS}
    if parts.scheme != "https" and not (parts.scheme == "http" and is_local):
        raise AddressError(_("The address must start with https://."))
    _check_literal(host, is_local=is_local)
    if not is_local and (host == "localhost" or host.endswith(_OF_HERE)):
        raise AddressError(_("%s is a name of this machine or of a private network.") % host)
    return Target(host, port or (443 if parts.scheme == "https" else 80), parts.scheme == "https", is_local)


def _check_literal(host: str, *, is_local: bool) -> None:
    """Refuse an address in figures at once; what a name leads to is seen when something is sent."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return
    if problem := addresses.forbidden(host, is_local=is_local):
        raise AddressError(_("%(host)s may not be sent to: it is %(problem)s.") % {"host": host, "problem": problem})
