"""Doing several things at the same moment, each with a connection of its own: with writing tasks."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from crowdrag.studies.models import Participant
from tests.concurrency import DiedError, meanwhile, together, uncommitted, wait_for_lock
from tests.factories import NOW
from tests.writing.open_plan import DAY
from writing.enums import TaskState
from writing.models import WritingTask

__all__ = ["DiedError", "held", "meanwhile", "together", "uncommitted", "wait_for_lock"]


@contextmanager
def held(task: WritingTask, *, then: str = "rollback") -> Iterator[threading.Event]:
    """Somebody is claiming this task in a transaction that does not end before the event is set."""

    def claim() -> None:
        other = Participant.objects.create(study=task.study, external_id="x", kind="CROWD", created_at=NOW)
        WritingTask.objects.filter(pk=task.pk).update(state=TaskState.CLAIMED, participant=other, lease_until=NOW + DAY)

    with uncommitted(claim, then=then) as end:
        yield end
