"""One synchronisation with the platform: handle events, send actions, poll."""

import logging
from contextlib import ExitStack
from datetime import datetime
from typing import Final

from django.db import connection

from . import platform_outbox, polling, webhooks
from .prolific.account import get_account
from .prolific.client import Client
from .prolific.errors import BusyError, NotConfiguredError, PlatformError

# Only one of several workers synchronises: the platform limits the rate of requests.
LOCK: Final = 0x70726F6C69666963 >> 1
log = logging.getLogger(__name__)


def is_due(now: datetime) -> bool:
    """Return whether there is anything to send or to poll."""
    if webhooks.QUEUE.due(now).exists():
        return True
    try:
        get_account()
    except NotConfiguredError:
        return False
    return platform_outbox.QUEUE.due(now).exists() or bool(polling.due_studies(now))


def synchronise(*, now: datetime) -> bool:
    """Synchronise, unless another worker does; return whether this one did."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [LOCK])
        if not cursor.fetchone()[0]:
            return False
    try:
        _synchronise(now)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [LOCK])
    return True


def _synchronise(now: datetime) -> None:
    with ExitStack() as stack:
        try:
            client = stack.enter_context(Client(get_account()))
        except NotConfiguredError as error:
            log.debug("No platform: %s", error)
            webhooks.handle_due(None, now=now)
            return
        webhooks.handle_due(client, now=now)
        platform_outbox.send_due(client, now=now)
        for platform_study in polling.due_studies(now):
            try:
                polling.poll(client, platform_study, now=now)
            except BusyError:
                return  # asked to come back later: the rest is due then as well
            except PlatformError:
                log.warning("Platform study %s was not asked about", platform_study.pk)
