"""Celery tasks of runs. A message carries no data: it only says that a queue may have work."""

import logging
from datetime import timedelta
from typing import Any

from amqp.exceptions import ChannelError
from celery import Task
from kombu import Connection
from kombu.exceptions import KombuError
from redis.exceptions import RedisError

from crowdrag.celery import app
from crowdrag.runtime.workers import DELIVERIES

# More messages than this do not help: each worker continues until nothing is due.
MOST_MESSAGES = 16
# A request that starts a run must not wait for a broker that is down.
NO_PATIENCE = {"max_retries": 0, "socket_connect_timeout": 1, "socket_timeout": 2}
BROKER_ERRORS = (KombuError, RedisError, OSError)
log = logging.getLogger(__name__)


@app.task(name="crowdrag.runs.work", bind=True, ignore_result=True)
def work(self: "Task[Any, None]", *, queue: str) -> None:
    """Execute the due units of a queue."""
    from . import worker

    worker.work_due(queue=queue, beat_as=self.request.hostname)


def wake(*, queue: str, messages: int = 1) -> bool:
    """Tell a queue's workers that a unit is due; return whether the broker accepted the message.

    If it did not, nothing is lost: the sweep tells them again (docs/adr/0009-runs.md).
    """
    count = min(messages, MOST_MESSAGES)
    return _send(work.name, f"work in queue {queue}", count=count, queue=queue, kwargs={"queue": queue})


def call_soon(name: str, about: str, *, expires: timedelta = timedelta(minutes=1)) -> bool:
    """Have a worker run a short task; return whether the broker took it. If not, the sweep tries again.

    A message expires when the next one would make it redundant.
    """
    return _send(name, about, queue=DELIVERIES, expires=expires.total_seconds())


def _send(name: str, about: str, *, count: int = 1, **options: Any) -> bool:
    try:
        with impatient_connection() as connection:
            for _ in range(count):
                app.send_task(name, retry=False, connection=connection, **options)
    except BROKER_ERRORS as error:
        log.warning("The broker took no message about %s, the sweep will send it: %s", about, error)
        return False
    return True


def top_up(*, queue: str, due: int) -> bool:
    """Ensure a message in a queue for each due unit, up to a useful maximum; False if the broker is away."""
    try:
        with impatient_connection() as connection:
            waiting = _waiting(connection, queue)
    except BROKER_ERRORS as error:
        log.warning("The broker does not answer: %s", error)
        return False
    missing = min(due, MOST_MESSAGES) - waiting
    return wake(queue=queue, messages=missing) if missing > 0 else True


def impatient_connection() -> Connection:
    """Return a connection to the broker with short timeouts."""
    return app.connection_for_write(transport_options=NO_PATIENCE)


def _waiting(connection: Connection, queue: str) -> int:
    # Redis keeps no empty list: a queue without messages looks like one that was never declared.
    try:
        channel: Any = connection.default_channel
        return int(channel.queue_declare(queue, passive=True).message_count)
    except ChannelError:
        return 0
