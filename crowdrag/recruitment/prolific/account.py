"""The operator's account: the token is read from the environment when needed, and never stored or shown."""

import os
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from django.conf import settings

from crowdrag.studies.models import Study

from .errors import NotConfiguredError

TOKEN = "CROWDRAG_PROLIFIC_TOKEN"  # noqa: S105
WEBHOOK_SECRET = "CROWDRAG_PROLIFIC_HOOK_SECRET"  # noqa: S105
LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class Account:
    """The platform's URL and our credentials."""

    base_url: str
    token: str = field(repr=False)
    workspace: str = ""
    project: str = ""
    is_loopback: bool = False


def get_account(study: Study | None = None) -> Account:
    """Return the account; for a study, only if the operator lets this study use it.

    Raises
    ------
    NotConfiguredError
        if the token is missing, the URL is one to which no token is sent, or the study may not use it.
    """
    token = os.environ.get(TOKEN, "").strip()
    if not token:
        raise NotConfiguredError(f"{TOKEN} is not set. An operator must set it and restart.")
    if not token.isascii() or not token.isprintable() or " " in token:
        raise NotConfiguredError(f"{TOKEN} contains characters that are not allowed in a token.")
    if study is not None and settings.PROLIFIC_STUDIES and study.slug not in settings.PROLIFIC_STUDIES:
        raise NotConfiguredError(
            "The operator's Prolific account is not enabled for this study (CROWDRAG_PROLIFIC_STUDIES)."
        )
    base_url = settings.PROLIFIC_URL.rstrip("/") + "/"
    loopback = check_url(base_url)
    return Account(base_url, token, settings.PROLIFIC_WORKSPACE, settings.PROLIFIC_PROJECT, loopback)


def check_url(url: str) -> bool:
    """Check the URL to which the token is sent; return whether it is a stand-in on this machine."""
    try:
        parts = urlsplit(url)
        _port = parts.port
    except ValueError as error:
        raise NotConfiguredError("CROWDRAG_PROLIFIC_URL is not a valid URL.") from error
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment or not parts.hostname:
        raise NotConfiguredError("CROWDRAG_PROLIFIC_URL must contain a host, and no user, password, query or fragment.")
    if parts.scheme == "https":
        return False
    if parts.scheme == "http" and settings.PROLIFIC_LOOPBACK and parts.hostname in LOOPBACK:
        return True
    raise NotConfiguredError(
        "CROWDRAG_PROLIFIC_URL must start with https:// (http:// needs CROWDRAG_PROLIFIC_LOOPBACK)."
    )


def webhook_secret() -> str:
    """Return the secret with which the platform signs webhooks; empty if there is none."""
    return os.environ.get(WEBHOOK_SECRET, "").strip()


def scrub(text: str) -> str:
    """Return a text without our token and secret, in case a response repeats them."""
    for secret in (os.environ.get(TOKEN, "").strip(), webhook_secret()):
        if secret:
            text = text.replace(secret, "[secret]")
    return text
