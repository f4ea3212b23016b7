"""What apps register for recruitment: callbacks for changed submissions, and the state of the work here.

Each app registers for its own ways, by the beginning of their names (`judging` for `judging-12`). Listeners are called
inside the transaction that writes the status down, once for each change, and must be safe to call again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from crowdrag.studies.models import Participant, Study

from .enums import LocalStatus


@dataclass(frozen=True)
class StatusChanged:
    """What a platform said of somebody's visit; `at` is when that was so, `now` when it was heard."""

    study: Study
    purpose: str
    participant: Participant | None
    session: str
    status: str
    at: datetime
    now: datetime


@dataclass(frozen=True)
class RecruitmentNeeds:
    """What a way asks of the platform: how many more people, and which.

    `places` are those where nothing was handed in, `at_work` those of them that somebody works at now.
    """

    places: int
    at_work: int = 0
    eligibility: dict[str, Any] = field(default_factory=dict)


# A visit, as (session, participant's key).
Visit = tuple[str, int]


@dataclass(frozen=True)
class Listener:
    """An app's part: what it does when a submission changes, what it needs, and how the work stands here."""

    prefix: str
    on_change: Callable[[StatusChanged], object]
    needs: Callable[[Study, str], RecruitmentNeeds | None] = lambda _study, _purpose: None
    local_status: Callable[[Study, str, Sequence[Visit]], dict[str, LocalStatus]] = lambda _study, _purpose, _visits: {}


_listeners: dict[str, Listener] = {}


def register(
    prefix: str,
    on_change: Callable[[StatusChanged], object],
    *,
    needs: Callable[[Study, str], RecruitmentNeeds | None] | None = None,
    local_status: Callable[[Study, str, Sequence[Visit]], dict[str, LocalStatus]] | None = None,
) -> Listener:
    """Add an app's part; called once from its `ready`."""
    more: dict[str, Any] = {}
    if needs:
        more["needs"] = needs
    if local_status:
        more["local_status"] = local_status
    listener = Listener(prefix, on_change, **more)
    _listeners[prefix] = listener
    return listener


def listener_for(purpose: str) -> Listener | None:
    """Return who answers for an activity: its own name, or the part of it before a hyphen."""
    return _listeners.get(purpose) or _listeners.get(purpose.partition("-")[0])
