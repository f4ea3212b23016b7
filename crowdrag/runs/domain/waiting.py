"""Commands wait for their run, and do the work themselves where nobody else does."""

import time
from collections.abc import Callable

from ..models import Run, WorkerBeat
from . import claiming, concluding, executing, timing
from .progress import Progress, of

POLL = 0.5
Report = Callable[[Progress], None]


def follow(run: Run, *, report: Report | None = None) -> Run:
    """Wait until a run is over; execute its units in this process while no worker of its queue shows a sign of life."""
    tell = report or (lambda _progress: None)
    last_told = 0.0

    def listen(done: int, total: int, message: str) -> None:
        # The work reports as often as it likes; a person reads a few lines a second.
        nonlocal last_told
        if time.monotonic() - last_told >= POLL:
            last_told = time.monotonic()
            tell(Progress(done, total, message) if only_unit else of(run))

    only_unit = run.units.count() == 1
    while (run := Run.objects.select_related("study").get(pk=run.pk)).is_active:
        worked = False
        if not is_served(run.queue):
            claiming.return_lost(run=run)
            worked = executing.work_next(run, listener=listen)
            concluding.conclude(run.pk)
        tell(of(run))
        if not worked:
            time.sleep(POLL)
    tell(of(run))
    return run


def is_served(queue: str) -> bool:
    """Say whether a worker of this queue showed a sign of life lately."""
    return WorkerBeat.objects.filter(queue=queue).fresh(timing.moment(None)).exists()
