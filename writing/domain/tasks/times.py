"""How long somebody wrote, by the log: from the first event to the last, and without pauses away from it."""

import math

from analysis.process import pace

from ...models import WritingTask
from .. import logs, sittings


def measure(task: WritingTask) -> tuple[float | None, float | None]:
    """Return seconds from first to last event of a task's log, and active seconds; None where nothing was recorded."""
    log = sittings.log_of(task)
    if log is None:
        return None, None
    found = pace.activity(logs.events(log))
    return _known(found.seconds), _known(found.active_seconds)


def _known(seconds: float) -> float | None:
    return None if math.isnan(seconds) else seconds
