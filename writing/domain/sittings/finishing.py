"""The writer says that the text is done: the log must rebuild it, character for character."""

import hashlib
import logging
from collections.abc import Iterable
from datetime import datetime

from django.db import transaction

from ...models import Sitting, WritingTask
from .. import codec, logs
from ..incoming import Finish, RefusedError
from . import holding

CHECK_SUM = "h"
log_ = logging.getLogger(__name__)


class BehindError(RefusedError):
    """The server has not all events yet; the facts say which one it expects."""

    problem = "behind"


class DiffersError(RefusedError):
    """The log leads to another text than the one that the writer sees."""

    problem = "differs"


class FencedError(RefusedError):
    """The text goes on in a later sitting."""

    problem = "fenced"


def finish(*, task: WritingTask, said: Finish, now: datetime) -> None:
    """Mark a task's text as done, and keep it as the draft. Said again, it changes nothing.

    Raises
    ------
    ClosedError, FencedError, BehindError, DiffersError
        if the text is not the one that the log rebuilds, or not to be finished.
    """
    with transaction.atomic(durable=True):
        held = holding.hold(task.pk)
        if held is None or not held.is_being_written:
            raise holding.ClosedError("This text is not being written at present.")
        latest = Sitting.objects.filter(log__task=held.pk).select_related("log").order_by("-number").first()
        if latest is None or latest.number != said.sitting:
            raise FencedError("The text goes on elsewhere.")
        if latest.next_event != said.events:
            raise BehindError(next_event=latest.next_event)
        text, wrong = rebuilt(logs.events(latest.log))
        if digest(text) != said.digest:
            raise DiffersError("The log leads to another text.")
        if wrong:
            # The text is right, so the writer goes on; that it was not right on the way is for the operator to look at.
            log_.warning("Task %s: %s check sums of its log do not fit.", task.external_id, wrong)
        if held.finished_at is None:
            WritingTask.objects.filter(pk=held.pk).update(finished_at=now, draft=text)


def rebuilt(events: Iterable[codec.Event]) -> tuple[str, int]:
    """Return the text that events lead to, and how many check sums on the way do not fit."""
    replay = codec.Replay()
    wrong = 0
    for event in events:
        replay.apply(event)
        if event[0] == CHECK_SUM:
            wrong += not digest(replay.text).startswith(event[2])
    return replay.text, wrong


def digest(text: str) -> str:
    """Return the check sum of a text: the SHA-256 of its UTF-8, in hexadecimal digits."""
    return hashlib.sha256(text.encode()).hexdigest()
