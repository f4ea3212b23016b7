"""Undo a reviewer's decision about submitted work: for some minutes, and only while nothing irreversible followed.

A decision takes effect at once: the participant sees it, the pay is owed, and the slot is free again after a rejection.
What is sent to others waits until it can no longer be undone: actions on a recruitment platform are due when
`UNDO_TIME` is over. Undoing removes the payments and decisions of that moment and returns the work to review. The
transitions stay and record both the decision and the undo.

A decision is identified by who made it and when. All decisions of one bulk action have the same time, so that they can
be undone together.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import Count, Exists, OuterRef, QuerySet

from crowdrag.studies.enums import DecisionKind
from crowdrag.studies.models import User

from .lifecycle import PROMISED, Lifecycle, Work
from .models import PaidWork
from .problems import Erased, NotAllowed, UndoTooLate

UNDO_TIME: Final = timedelta(minutes=10)
# The cause of the transition that returns work to review.
UNDONE: Final = "undone"
SUBMITTED: Final = "SUBMITTED"
DECIDED: Final = ("ACCEPTED", "REJECTED", "REVISION")


@dataclass(frozen=True)
class RecentDecision:
    """A decision that can be undone, about one or more pieces of work."""

    after: str
    at: datetime
    until: datetime
    count: int

    @property
    def label(self) -> str:
        """The decision in words."""
        return {"ACCEPTED": "Accepted", "REJECTED": "Rejected", "REVISION": "Revision requested"}[self.after]


def deadline(at: datetime) -> datetime:
    """Return until when a decision of this time can be undone; its actions on a recruitment platform are due then."""
    return at + UNDO_TIME


def last_decision(work: PaidWork) -> Any | None:
    """Return the transition by which a reviewer decided about submitted work, if it is the latest one."""
    move = work.transitions.order_by("-pk").first()
    is_decision = move is not None and move.before == SUBMITTED and move.after in DECIDED and move.by_id is not None
    return move if is_decision else None


def undoable(work: PaidWork, now: datetime) -> RecentDecision | None:
    """Return the decision about work that can still be undone in time; None if there is none."""
    move = last_decision(work)
    if move is None or now >= deadline(move.at):
        return None
    return RecentDecision(move.after, move.at, deadline(move.at), 1)


def is_undone(work: PaidWork) -> bool:
    """Return whether the latest transition of work is an undo."""
    move = work.transitions.order_by("-pk").first()
    return move is not None and move.cause == UNDONE


def require_undoable(work: PaidWork, subject: Any, *, at: datetime | None, now: datetime) -> Any:
    """Return the decision to undo of locked work; with `at`, only if it was made at this time.

    Raises
    ------
    NotAllowed, UndoTooLate, Erased
    """
    move = last_decision(work)
    if move is None or (at is not None and move.at != at):
        raise NotAllowed(work, SUBMITTED)
    if now >= deadline(move.at):
        raise UndoTooLate(UNDO_TIME // timedelta(minutes=1))
    if subject.erased_at:
        raise Erased(type(work))
    return move


def promised_payments(work: PaidWork, move: Any) -> list[Any]:
    """Return a decision's payments of the promised pay."""
    return list(work.payments.filter(at=move.at, by=move.by_id, reason__in=PROMISED))


def take_back(life: Lifecycle[Work], work: Work, subject: Any, move: Any, *, by: User, now: datetime) -> None:
    """Return locked work to review as it was before a decision: no pay owed for it, included as before."""
    work.payments.filter(pk__in=[payment.pk for payment in promised_payments(work, move)]).delete()
    subject.decisions.filter(decided_at=move.at, decided_by=move.by_id).delete()
    before = subject.decisions.filter(about=DecisionKind.INCLUDE).order_by("-decided_at", "-id").first()
    subject.is_included = True if before is None else before.holds
    type(subject)._default_manager.filter(pk=subject.pk).update(is_included=subject.is_included)
    life.move(work, SUBMITTED, UNDONE, by=by, now=now)


def recent_decisions(
    moves: QuerySet[Any], name: str, *, by: User, now: datetime, most: int = 5
) -> list[RecentDecision]:
    """Return a reviewer's decisions among some transitions that can still be undone, newest first.

    `name` is the transition's reference to the work. Decisions that were changed since are not counted.
    """
    later = moves.model._default_manager.filter(**{name: OuterRef(name)}, pk__gt=OuterRef("pk"))
    rows = moves.filter(by=by, at__gt=now - UNDO_TIME, before=SUBMITTED, after__in=DECIDED).exclude(Exists(later))
    counted = rows.order_by("-at", "after").values_list("after", "at").annotate(n=Count("pk"))[:most]
    return [RecentDecision(after, at, deadline(at), n) for after, at, n in counted]


def standing(moves: Iterable[Any]) -> list[Any]:
    """Return transitions in order without those that were undone, as shown to the participant."""
    kept: list[Any] = []
    for move in moves:
        if move.cause == UNDONE:
            kept = kept[:-1]
        else:
            kept.append(move)
    return kept
