"""What participants have earned. Apps with paid work register what they know."""

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime

from crowdrag.assignments import undo
from crowdrag.studies.models import Study

#: Amounts in minor units by the participant's key, of what was decided until a time.
EarningSource = Callable[[Study, datetime], Mapping[int, int]]

_sources: dict[str, EarningSource] = {}


def register_source(name: str, source: EarningSource) -> None:
    """Add what an app knows of earnings; called once from its `ready`."""
    _sources[name] = source


def earned(study: Study, *, now: datetime) -> Counter[int]:
    """Return what each participant of a study has earned, in minor units, by the participant's key.

    A decision that can still be undone earns nothing yet: what leaves the system waits until it holds.
    """
    total: Counter[int] = Counter()
    for source in _sources.values():
        total.update(source(study, now - undo.UNDO_TIME))
    return total
