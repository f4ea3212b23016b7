"""Celery carries the talk with the platform; the database knows what there is to say."""

import logging
from datetime import datetime, timedelta

from crowdrag.celery import app
from crowdrag.jobs.enums import Queue
from crowdrag.jobs.tasks import BROKER_ERRORS, impatient_connection

# A message that waited longer says nothing that the next one does not say.
STALE = timedelta(minutes=1)
log = logging.getLogger(__name__)


@app.task(name="crowdrag.recruitment.talk", ignore_result=True)
def synchronise() -> None:
    """Say and ask what is due."""
    from django.utils import timezone

    from . import platform_sync

    platform_sync.synchronise(now=timezone.now())


def wake(now: datetime) -> bool:
    """Have a worker talk with the platform, if there is anything to say; the next pass wakes one if this fails."""
    from . import platform_sync

    if not platform_sync.is_due(now):
        return False
    try:
        with impatient_connection() as connection:
            app.send_task(
                synchronise.name,
                queue=Queue.DEFAULT,
                retry=False,
                connection=connection,
                expires=STALE.total_seconds(),
            )
    except BROKER_ERRORS as error:
        log.warning("The broker took no message about recruitment: %s", error)
        return False
    return True
