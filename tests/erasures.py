"""Erasures that participants asked for, carried out as a worker does."""

from crowdrag.jobs import kinds
from crowdrag.jobs.erasure import ERASURE, run_erasure
from crowdrag.jobs.models import Run


def carry_out() -> int:
    """Do all erasures that wait, within the test's transaction; return how many it were."""
    waiting = list(Run.objects.filter(kind=ERASURE).active())
    for run in waiting:
        run_erasure(kinds.Work(run, run.units.get()))()
    return len(waiting)
