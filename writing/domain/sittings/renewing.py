"""A token anew for a sitting that was opened before, how much the server has of it, and more time for its writer."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from ...models import Sitting, WritingTask
from ..incoming import RefusedError
from . import holding, tokens


class UnknownError(RefusedError):
    """The task has no such sitting."""

    problem = "unknown"


@dataclass(frozen=True, slots=True)
class Renewed:
    """What an editor needs to send what it still has."""

    sitting: Sitting
    token: str
    fenced: bool
    lease_until: datetime | None


def renew(*, task: WritingTask, number: int, now: datetime) -> Renewed:
    """Return a new token of a sitting, for an editor whose own is too old. Nothing is opened, and nothing fenced.

    A sign of life like any other: a claimed task is kept for its writer as long as the plan says, from now on.

    Raises
    ------
    ClosedError
        if nothing is added to the task's log any more.
    UnknownError
        if it has no such sitting.
    """
    with transaction.atomic(durable=True):
        held = holding.hold(task.pk)
        sittings = list(Sitting.objects.filter(log__task=task, number__gte=number).order_by("number"))
        if held is not None and held.grows and sittings:
            held.extend_lease(now)
    if held is None or not held.grows:
        raise holding.ClosedError("Nothing is added to this text any more.")
    if not sittings or sittings[0].number != number:
        raise UnknownError("This task has no such sitting.")
    token = tokens.issue(sittings[0], task.pk)
    return Renewed(sittings[0], token, fenced=len(sittings) > 1, lease_until=held.lease_until)
