"""Keys of endpoints: read from the environment when a call is sent, stored and shown nowhere."""

import os
import re

from django.utils.translation import gettext as _

from ..models import Endpoint
from ..models.endpoint import KEY_VARIABLE
from .errors import GatewayError

HIDDEN = "[key]"
# What looks like a key although it is none that we know: a server may echo a part of it, or somebody else's.
_LIKE_A_KEY = re.compile(r"(?i)\bbearer\s+\S{6,}|\bapi[-_]?key[\"']?\s*[:=]\s*\S+|\b(sk|pk|hf|gsk|xai)[-_][\w*.-]{6,}")


class KeyMissingError(GatewayError):
    """The variable that should hold an endpoint's key is not set, or the key is not for this host."""


def is_set(endpoint: Endpoint) -> bool:
    """Whether the environment holds the endpoint's key, without looking at it."""
    return bool(endpoint.key_variable and os.environ.get(endpoint.key_variable))


def read(endpoint: Endpoint) -> str | None:
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


def scrub(text: str, *, key: str | None, longest: int = 500) -> str:
    """Return a text without the key, without what looks like one, and not longer than it needs to be."""
    if key:
        text = text.replace(key, HIDDEN)
    return _LIKE_A_KEY.sub(HIDDEN, text)[:longest]
