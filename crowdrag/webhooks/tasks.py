"""Celery carries the sending; the database knows what there is to send."""

import logging
from datetime import datetime, timedelta

from crowdrag.celery import app
from crowdrag.jobs.enums import Queue
from crowdrag.jobs.tasks import BROKER_ERRORS, impatient_connection

# A message that waited longer says nothing that the next one does not say.
STALE = timedelta(minutes=1)
log = logging.getLogger(__name__)


@app.task(name="crowdrag.webhooks.send", ignore_result=True)
def send() -> None:
    """Send what is due."""
    from . import deliveries

    deliveries.deliver_due()


def wake(now: datetime) -> bool:
    """Have a worker send, if there is anything to send."""
    from . import deliveries

    return deliveries.is_due(now) and wake_now()


def wake_now() -> bool:
    """Have a worker look for what is due; where the broker takes no message, the sweep's next pass calls one."""
    try:
        with impatient_connection() as connection:
            app.send_task(
                send.name, queue=Queue.DEFAULT, retry=False, connection=connection, expires=STALE.total_seconds()
            )
    except BROKER_ERRORS as error:
        log.warning("The broker took no message about webhooks: %s", error)
        return False
    return True
