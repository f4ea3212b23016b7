"""Claim, work, effect: what a worker does with due units."""

import logging
import os
import socket
import threading
import time
from datetime import timedelta
from functools import partial

from .. import kinds, tasks
from ..models import Run, Unit
from . import beating, claiming, concluding, timing

SLICE = timedelta(seconds=10)
log = logging.getLogger(__name__)


def this_worker() -> str:
    """Return a name for who claims: machine, process, thread."""
    return f"{socket.gethostname()}:{os.getpid()}:{threading.get_native_id()}"


def work_due(*, queue: str, beat_as: str | None = None, time_slice: timedelta = SLICE) -> int:
    """Execute due units of a queue, one after another, until none is due or the time is up; count them.

    A worker gives its place back after a time slice and asks to be woken again, so that shutting it down takes short.
    """
    ends_at = time.monotonic() + time_slice.total_seconds()
    count = 0
    if beat_as:
        beating.beat(name=beat_as, queue=queue)
    while (unit := claiming.claim(worker=this_worker(), queue=queue)) is not None:
        execute(unit, beat_as=beat_as)
        count += 1
        if time.monotonic() >= ends_at:
            tasks.wake(queue=queue)
            break
    return count


def work_next(run: Run, *, listener: beating.Listener | None = None) -> bool:
    """Execute one due unit of a run in this process; say whether there was one."""
    unit = claiming.claim(worker=this_worker(), run=run)
    if unit is None:
        return False
    execute(unit, listener=listener)
    return True


def execute(unit: Unit, *, beat_as: str | None = None, listener: beating.Listener | None = None) -> None:
    """Do a claimed unit: work, then effect and completion together; write down what became of it."""
    try:
        with beating.Heart(unit, beat_as=beat_as, listener=listener) as heart:
            work = kinds.Work(unit.run, unit, heart.report, partial(claiming.keep, unit), heart.check)
            effect = kinds.get(unit.run.kind).work(work)
            beating.check_connection()  # the work may have taken hours: is the database still there?
            heart.check()
            claiming.complete(unit, effect=effect, total=heart.total, message=heart.message)
    except (kinds.Cancelled, claiming.LeaseLost):
        log.info("Unit %s (claim %s): cancelled or taken over, nothing of it is kept", unit.pk, unit.fence)
    except kinds.Rejected as rejected:
        concluding.reject(unit, rejected=rejected)
    except Exception as error:
        log.exception(
            "Unit %s of run %s failed (attempt %s of %s)", unit.pk, unit.run, unit.attempts + 1, timing.MAX_ATTEMPTS
        )
        beating.check_connection()
        claiming.fail(unit, error=concluding.describe(error))
    except BaseException:
        # Interrupted from outside: no fault of the work.
        claiming.give_back(unit)
        raise
    concluding.conclude(unit.run_id)
