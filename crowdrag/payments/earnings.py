"""Earnings of participants. Apps with paid work register their sources."""

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime

from crowdrag.assignments import undo
from crowdrag.studies.models import Study

#: Returns the amounts decided until a time, in minor units by participant key.
EarningSource = Callable[[Study, datetime], Mapping[int, int]]

_sources: dict[str, EarningSource] = {}


def register_source(name: str, source: EarningSource) -> None:
    """Register an app's source of earnings; called once by its `ready`."""
    _sources[name] = source


def earned(study: Study, *, now: datetime) -> Counter[int]:
    """Return each participant's earnings in a study, in minor units by participant key.

    Decisions that can still be undone do not count yet, because a payment cannot be taken back.
    """
    total: Counter[int] = Counter()
    for source in _sources.values():
        total.update(source(study, now - undo.UNDO_TIME))
    return total
