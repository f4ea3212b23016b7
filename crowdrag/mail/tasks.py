"""Celery tasks of emails. The database holds what is to be sent."""

from datetime import datetime

from crowdrag.celery import app
from crowdrag.jobs.tasks import call_soon


@app.task(name="crowdrag.mail.send", ignore_result=True)
def send() -> None:
    """Send due emails."""
    from . import deliveries

    deliveries.deliver_due()


def wake(now: datetime) -> bool:
    """Have a worker send, if there is anything to send."""
    from . import deliveries

    return deliveries.QUEUE.due(now).exists() and wake_now()


def wake_now() -> bool:
    """Have a worker look for due emails."""
    return call_soon(send.name, "emails")
