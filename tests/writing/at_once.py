"""Doing several things at the same moment, each with a connection of its own."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from django.db import connection, transaction

from crowdrag.studies.models import Participant
from tests.factories import NOW
from writing.domain.tasks import problems
from writing.enums import TaskState
from writing.models import WritingTask

from .plans import DAY


def together(works: Sequence[Callable[[], Any]]) -> list[Any]:
    """Do all of it at the same moment; return what came of each, a problem with a task included."""
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
    bad = [
        result for result in results if isinstance(result, Exception) and not isinstance(result, problems.TaskProblem)
    ]
    assert bad == []
    return results


@contextmanager
def meanwhile(work: Callable[[], Any]) -> Iterator[threading.Thread]:
    """Do something in another connection, of which the block need not wait for the end."""
    thread = threading.Thread(target=lambda: together([work]))
    thread.start()
    yield thread
    thread.join()


class DiedError(Exception):
    """Whoever held the transaction is gone."""


@contextmanager
def held(task: WritingTask, *, then: str = "rollback") -> Iterator[threading.Event]:
    """Somebody is claiming this task in a transaction that does not end before the event is set."""
    locked, end = threading.Event(), threading.Event()

    def hold() -> None:
        with suppress(DiedError), transaction.atomic():
            other = Participant.objects.create(study=task.study, external_id="x", kind="CROWD", created_at=NOW)
            WritingTask.objects.filter(pk=task.pk).update(
                state=TaskState.CLAIMED, participant=other, lease_until=NOW + DAY
            )
            locked.set()
            end.wait(30)
            if then == "rollback":
                raise DiedError

    with meanwhile(hold):
        assert locked.wait(10)
        yield end
        end.set()


@contextmanager
def uncommitted(work: Callable[[], Any]) -> Iterator[threading.Event]:
    """Somebody has done this in a transaction that does not commit before the event is set."""
    done, end = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic():
            work()
            done.set()
            end.wait(30)

    with meanwhile(hold):
        assert done.wait(10)
        try:
            yield end
        finally:
            end.set()
