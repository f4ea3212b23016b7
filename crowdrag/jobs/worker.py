"""A worker: claim a unit, do its work, commit its effect. Units that wait for a server overlap (`overlap`)."""

import logging
import os
import socket
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial

from django.db import connection

from . import completion, heartbeat, kinds, leases, overlap, tasks
from .models import Run, Unit, WorkerHeartbeat
from .progress import Progress, measure

SLICE = timedelta(seconds=10)
# Units that overlap end together only once in this time, since the server is not full then.
OVERLAP_SLICE = timedelta(minutes=10)
log = logging.getLogger(__name__)


def worker_name() -> str:
    """Return a name for the claimant: machine, process, thread."""
    return f"{socket.gethostname()}:{os.getpid()}:{threading.get_native_id()}"


def work_due(*, queue: str, beat_as: str | None = None, time_slice: timedelta = SLICE) -> int:
    """Execute due units of a queue until none is due or the time slice ends; return their number.

    A worker yields after a time slice and asks to be woken again, so that shutting it down is quick.
    """
    ends_at = time.monotonic() + time_slice.total_seconds()
    count = 0
    if beat_as:
        heartbeat.record_beat(name=beat_as, queue=queue)
    name = worker_name()
    claim = partial(leases.claim, worker=name, queue=queue)
    while (unit := claim()) is not None:
        count += _execute_with_others(unit, claim=claim, execute=partial(execute, beat_as=beat_as))
        if time.monotonic() >= ends_at:
            tasks.wake(queue=queue)
            break
    return count


def work_next(run: Run, *, listener: heartbeat.Listener | None = None, look: Callable[[], None] = lambda: None) -> int:
    """Execute a due unit of a run in this process, and others beside it if they may overlap; return their number.

    `look` is called from time to time while units overlap.
    """
    claim = partial(leases.claim, worker=worker_name(), run=run)
    unit = claim()
    if unit is None:
        return 0
    return _execute_with_others(unit, claim=claim, execute=partial(execute, listener=listener), look=look)


def _execute_with_others(
    unit: Unit,
    *,
    claim: Callable[[], Unit | None],
    execute: Callable[[Unit], None],
    look: Callable[[], None] = lambda: None,
) -> int:
    """Execute a claimed unit, and others beside it where its kind wants more; return their number."""
    # A transaction is one thread's: tests run in one.
    if connection.in_atomic_block or not overlap.may_overlap(unit):
        execute(unit)
        return 1
    ends_at = time.monotonic() + OVERLAP_SLICE.total_seconds()
    return overlap.UnitPool(claim=claim, execute=execute, ends_at=ends_at, look=look).run(unit)


def execute(unit: Unit, *, beat_as: str | None = None, listener: heartbeat.Listener | None = None) -> None:
    """Execute a claimed unit: work, then effect and completion together; record the outcome."""
    try:
        with heartbeat.LeaseHeartbeat(unit, beat_as=beat_as, listener=listener) as heart:
            work = kinds.Work(unit.run, unit, heart.report, partial(leases.apply_part, unit), heart.check)
            effect = kinds.get(unit.run.kind).work(work)
            heartbeat.check_connection()  # the work may have taken hours: is the database still there?
            heart.check()
            leases.complete(unit, effect=effect, total=heart.total, message=heart.message)
    except kinds.MakesWayError:
        leases.give_back(unit)
    except (kinds.RunCancelledError, leases.LeaseLostError):
        log.info("Unit %s (claim %s): cancelled or taken over, nothing of it is kept", unit.pk, unit.fence)
    except kinds.InputRejectedError as rejected:
        completion.reject(unit, rejected=rejected)
    except Exception as error:
        heartbeat.check_connection()
        if leases.is_disconnected(error):
            # As if this worker had vanished. If the database is still away, the lease ends by itself.
            log.warning("Unit %s (claim %s) lost the database: %s", unit.pk, unit.fence, error)
            leases.lose(unit)
        else:
            log.exception(
                "Unit %s of run %s failed (attempt %s of %s)", unit.pk, unit.run, unit.attempts + 1, leases.MAX_ATTEMPTS
            )
            leases.fail(unit, error=completion.describe_error(error))
    except BaseException:
        # Interrupted from outside: not a fault of the work.
        leases.give_back(unit)
        raise
    completion.conclude(unit.run_id)


POLL = 0.5
Report = Callable[[Progress], None]


def follow(run: Run, *, report: Report | None = None) -> Run:
    """Wait until a run has ended; execute its units in this process while no worker of its queue has a heartbeat."""
    tell = report or (lambda _progress: None)
    only_unit, thread, last_told = run.units.count() == 1, threading.get_ident(), 0.0

    def show(progress: Callable[[], Progress]) -> None:
        # The work reports as often as it likes; a person can read a few lines per second.
        nonlocal last_told
        if threading.get_ident() == thread and time.monotonic() - last_told >= POLL:
            last_told = time.monotonic()
            tell(progress())

    def listen(done: int, total: int, message: str) -> None:
        show(lambda: Progress(done, total, message) if only_unit else measure(run))

    while (run := Run.objects.select_related("study").get(pk=run.pk)).is_active:
        worked = 0
        if not is_served(run.queue):
            leases.return_expired(run=run)
            worked = work_next(run, listener=listen, look=partial(show, partial(measure, run)))
            completion.conclude(run.pk)
        tell(measure(run))
        if not worked:
            time.sleep(POLL)
    tell(measure(run))
    return run


def is_served(queue: str) -> bool:
    """Return whether a worker of this queue had a recent heartbeat."""
    return WorkerHeartbeat.objects.filter(queue=queue).fresh(leases.time_expression(None)).exists()
