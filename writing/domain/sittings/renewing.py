"""A token anew for a sitting that was opened before, and how much the server has of it."""

from dataclasses import dataclass

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


def renew(*, task: WritingTask, number: int) -> Renewed:
    """Return a new token of a sitting, for an editor whose own is too old. Nothing is opened, and nothing fenced.

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
    if held is None or not held.grows:
        raise holding.ClosedError("Nothing is added to this text any more.")
    if not sittings or sittings[0].number != number:
        raise UnknownError("This task has no such sitting.")
    return Renewed(sittings[0], tokens.issue(sittings[0], task.pk), fenced=len(sittings) > 1)
