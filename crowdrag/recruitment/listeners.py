"""Registrations of apps: callbacks for changed submissions, and the state of the work here.

Each app registers for its own activities, by the prefix of their names (`judging` for `judging-12`). Listeners are
called inside the transaction that records the status, once for each change, and must be idempotent.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from crowdrag.studies.models import Participant, Study

from .enums import LocalStatus


@dataclass(frozen=True)
class StatusChanged:
    """A changed status of a submission; `at` is when it changed, `now` when we learned of it."""

    study: Study
    purpose: str
    participant: Participant | None
    session: str
    status: str
    at: datetime
    now: datetime


@dataclass(frozen=True)
class RecruitmentNeeds:
    """An activity's need for participants: how many more, and which.

    `places` are those without a submission here, `at_work` those of them with work in progress.
    """

    places: int
    at_work: int = 0
    eligibility: dict[str, Any] = field(default_factory=dict)


# A visit, as (session, participant's key).
Visit = tuple[str, int]


@dataclass(frozen=True)
class Listener:
    """An app's part: its reaction to a changed submission, its needs, and the state of the work here."""

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
    """Return the listener of an activity, by its name or the part of it before a hyphen."""
    return _listeners.get(purpose) or _listeners.get(purpose.partition("-")[0])
