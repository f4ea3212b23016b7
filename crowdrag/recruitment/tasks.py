"""Celery tasks of recruitment. The database holds what is to be sent."""

from datetime import datetime

from crowdrag.celery import app
from crowdrag.jobs.tasks import call_soon


@app.task(name="crowdrag.recruitment.talk", ignore_result=True)
def synchronise() -> None:
    """Send and poll what is due."""
    from django.utils import timezone

    from . import platform_sync

    platform_sync.synchronise(now=timezone.now())


def wake(now: datetime) -> bool:
    """Have a worker synchronise with the platform, if there is anything to do."""
    from . import platform_sync

    return platform_sync.is_due(now) and call_soon(synchronise.name, "recruitment")
