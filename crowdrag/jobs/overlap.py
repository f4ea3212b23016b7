"""Units that overlap: one process works on several, while they wait for the answers of a server.

Each unit has a thread of its own, with its own lease and database connection. Only one of them has its turn at a time;
it ends its turn while it waits (`let_others_work`). So code of units, local models and caches need not be safe for
threads, and the waiting of one unit is filled by the next. docs/adr/0040-rolling-calls.md.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import SimpleQueue

from django.db import close_old_connections, connection

from . import kinds, leases
from .models import Unit

# Each has a connection to the database.
MOST_UNITS = 32
# How often to look whether another unit may begin, and whether another one is due after there was none.
LOOK, LOOK_FOR_DUE = 0.05, 0.5
log = logging.getLogger(__name__)
_own = threading.local()


@contextmanager
def let_others_work() -> Iterator[None]:
    """Let other units of this process work while this one waits; no effect for a unit that is alone."""
    pool: UnitPool | None = getattr(_own, "pool", None)
    if pool is None:
        yield
    else:
        with pool.turn_ended():
            yield


class UnitPool:
    """The overlapping units of a process.

    Parameters
    ----------
    claim : callable() -> Unit or None
        Claims another unit that is due.
    execute : callable(Unit)
        Executes a claimed unit and records its outcome.
    ends_at : float
        The monotonic time from which no other unit begins.
    look : callable()
        Called from time to time by the thread that waits for all.
    """

    def __init__(
        self,
        *,
        claim: Callable[[], Unit | None],
        execute: Callable[[Unit], None],
        ends_at: float,
        look: Callable[[], None] = lambda: None,
    ) -> None:
        self._claim, self._execute, self._ends_at, self._look = claim, execute, ends_at, look
        self._turn = threading.Lock()
        self._change = threading.Condition()
        self._at_work: dict[int, Unit] = {}
        self._waiting = 0  # of them, units that wait for answers
        self._claimed: SimpleQueue[Unit | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._look_at = 0.0

    def run(self, first: Unit) -> int:
        """Work on a claimed unit and on further ones beside it, until none is left; return their number.

        An interruption gives back the units and does not wait for their threads.
        """
        count = 1
        try:
            self._begin(first)
            while True:
                with self._change:
                    # A unit that has begun soon waits for answers: then the next one may begin.
                    self._change.wait_for(lambda: not self._at_work or not self._is_busy(), timeout=LOOK)
                    units = list(self._at_work.values())
                    is_free = not self._is_busy()
                if not units:
                    break
                self._look()
                if is_free and self._may_begin(units) and (unit := self._claim_next()) is not None:
                    self._begin(unit)
                    count += 1
                else:
                    with self._change:
                        self._change.wait_for(lambda: not self._at_work, timeout=LOOK)
        except BaseException:
            with self._change:
                units = list(self._at_work.values())
            for unit in units:
                with suppress(Exception):  # its lease ends anyway
                    leases.give_back(unit)
            raise
        for _thread in self._threads:
            self._claimed.put(None)
        for thread in self._threads:
            thread.join()
        return count

    @contextmanager
    def turn_ended(self) -> Iterator[None]:
        """End this thread's turn; go on when it has the next one."""
        self._turn.release()
        with self._change:
            self._waiting += 1
            self._change.notify_all()
        try:
            yield
        finally:
            with self._change:
                self._waiting -= 1
            self._turn.acquire()

    def _is_busy(self) -> bool:
        return len(self._at_work) - self._waiting > 1

    def _claim_next(self) -> Unit | None:
        unit = None
        try:
            unit = self._claim()
        except leases.DATABASE_AWAY as error:
            log.warning("No unit could be claimed: %s", error)
            close_old_connections()
        if unit is None:
            self._look_at = time.monotonic() + LOOK_FOR_DUE
        return unit

    def _may_begin(self, units: list[Unit]) -> bool:
        now = time.monotonic()
        if len(units) >= MOST_UNITS or not self._look_at <= now < self._ends_at:
            return False
        by_stage = {(unit.run_id, unit.stage): unit for unit in units}
        return any(may_overlap(unit) for unit in by_stage.values())

    def _begin(self, unit: Unit) -> None:
        with self._change:
            self._at_work[unit.pk] = unit
        if len(self._at_work) > len(self._threads):
            thread = threading.Thread(target=self._work, name=f"units {len(self._threads)}", daemon=True)
            self._threads.append(thread)
            thread.start()
        self._claimed.put(unit)

    def _work(self) -> None:
        """Execute claimed units, one after another: what each thread does."""
        _own.pool = self
        try:
            while (unit := self._claimed.get()) is not None:
                try:
                    with self._turn:
                        self._execute(unit)
                except Exception:
                    log.exception("The outcome of unit %s could not be recorded; its lease ends", unit.pk)
                    close_old_connections()
                with self._change:
                    self._at_work.pop(unit.pk, None)
                    self._change.notify_all()
        finally:
            connection.close()


def may_overlap(unit: Unit) -> bool:
    """Return whether another unit may begin while this one is at work."""
    wants_more = kinds.get(unit.run.kind).wants_more
    return wants_more is not None and wants_more(unit)
