"""Erasures that participants asked for, carried out as a worker does."""

from crowdrag.runs import kinds
from crowdrag.runs.domain.participant_erasure import ERASURE, erase
from crowdrag.runs.models import Run


def carry_out() -> int:
    """Do all erasures that wait, within the test's transaction; return how many it were."""
    waiting = list(Run.objects.filter(kind=ERASURE).active())
    for run in waiting:
        erase(kinds.Work(run, run.units.get()))()
    return len(waiting)
