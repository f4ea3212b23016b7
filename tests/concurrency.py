"""Doing several things at the same moment, each with a connection of its own."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction

from crowdrag.assignments.problems import WorkProblem

# What somebody is told, and no fault of the program.
TOLD = (WorkProblem,)


class DiedError(Exception):
    """Whoever held the transaction is gone."""


def together(works: Sequence[Callable[[], Any]]) -> list[Any]:
    """Do all of it at the same moment; return what came of each, what somebody was told included."""
    start = threading.Barrier(len(works))
    results: list[Any] = [None] * len(works)

    def run(n: int) -> None:
        try:
            start.wait()
            results[n] = works[n]()
        except Exception as error:  # noqa: BLE001 -- it is what came of it
            results[n] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(n,)) for n in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    bad = [result for result in results if isinstance(result, Exception) and not isinstance(result, TOLD)]
    assert bad == []
    return results


@contextmanager
def meanwhile(work: Callable[[], Any]) -> Iterator[threading.Thread]:
    """Do something in another connection, of which the block need not wait for the end."""
    thread = threading.Thread(target=lambda: together([work]))
    thread.start()
    yield thread
    thread.join()


@contextmanager
def uncommitted(work: Callable[[], Any], *, then: str = "commit") -> Iterator[threading.Event]:
    """Somebody has done this in a transaction that does not end before the event is set."""
    done, end = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic():
            work()
            done.set()
            end.wait(30)
            transaction.set_rollback(then == "rollback")

    with meanwhile(hold):
        assert done.wait(10)
        try:
            yield end
        finally:
            end.set()


def wait_for_lock(count: int = 1) -> None:
    """Return when so many other connections wait for a lock; a test fails where they do not."""
    deadline = time.monotonic() + 10
    with connection.cursor() as cursor:
        while time.monotonic() < deadline:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
            if cursor.fetchone()[0] >= count:
                return
            time.sleep(0.01)
    raise AssertionError("nobody waits for a lock")
