"""Asking the platform to tell by itself what happens: once for each event, confirmed with its secret."""

from urllib.parse import urlsplit

from django.urls import reverse
from django.utils.translation import gettext as _

from .prolific import api
from .prolific.account import account
from .prolific.client import Client
from .prolific.errors import NotConfiguredError


def subscribe(*, base: str) -> list[str]:
    """Subscribe this system to what it needs to hear; return the events that were new.

    `base` is this system's own address. Prolific calls public https addresses only.
    """
    target = f"{base.rstrip('/')}{reverse('prolific_hook')}"
    with Client(account()) as client:
        parts = urlsplit(target)
        if parts.scheme != "https" and not client.account.is_loopback:
            raise NotConfiguredError(_("Prolific calls addresses only that begin with https://."))
        if not client.account.workspace:
            raise NotConfiguredError(_("CROWDRAG_PROLIFIC_WORKSPACE is not set."))
        there = {
            str(row.get("event_type"))
            for row in api.subscriptions(client)
            if row.get("target_url") == target and row.get("is_enabled", True)
        }
        missing = [event for event in api.EVENTS if event not in there]
        for event in missing:
            api.subscribe(client, event=event, target=target, workspace=client.account.workspace)
    return missing
