"""The Celery task in which a machine reports its state."""

import logging
import time
from typing import Any

from celery.signals import heartbeat_sent, worker_ready

REPORT_SECONDS = 60.0
log = logging.getLogger(__name__)
_last_report = {"at": -REPORT_SECONDS}


@worker_ready.connect
@heartbeat_sent.connect
def report_machine(**_: Any) -> None:
    """Report this machine once a minute; a worker must not stop because the database is away."""
    from django.db import DatabaseError, connection
    from django.utils import timezone

    from . import machines

    if time.monotonic() - _last_report["at"] < REPORT_SECONDS:
        return
    _last_report["at"] = time.monotonic()
    try:
        machines.report(now=timezone.now())
    except DatabaseError as error:
        log.warning("How this machine is could not be kept: %s", error)
    finally:
        connection.close()  # the worker's own process has no other use for it
