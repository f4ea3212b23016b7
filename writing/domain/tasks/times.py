"""How long somebody wrote, by the log: from the first event to the last, and without pauses away from it."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Final

from ...models import LogBatch, WritingTask
from .. import codec

# A pause this long is time away.
AWAY_MS: Final = 30_000
# Events that come without anybody doing anything say nothing of activity: clock, check sum, opening, dwell.
BY_ITSELF: Final = frozenset("jhad")


def measure(task: WritingTask) -> tuple[float | None, float | None]:
    """Return seconds from first to last event of a task's log, and active seconds; None where nothing happened."""
    batches = LogBatch.objects.filter(log__task=task).order_by("sitting", "number")
    moments = sorted(
        event[1]
        for batch in batches.iterator(chunk_size=50)
        for event in codec.unpack(bytes(batch.payload), batch.codec)
        if event[0] not in BY_ITSELF
    )
    return spans(moments)


def spans(moments: Iterable[float]) -> tuple[float | None, float | None]:
    """Return seconds between the first and last of ascending milliseconds, and those in gaps shorter than a pause."""
    found = list(moments)
    if not found:
        return None, None
    gaps = [later - earlier for earlier, later in pairwise(found)]
    return (found[-1] - found[0]) / 1000, sum(gap for gap in gaps if gap < AWAY_MS) / 1000
