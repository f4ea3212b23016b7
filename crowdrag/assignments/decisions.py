"""Decisions of reviewers: accept, reject, include, exclude. Each has its reason and is recorded separately.

Whether something counts in the analysis is stored on its *subject*: the written response, or the assignment itself.
Work that was erased at the participant's request can still be paid, and nothing else.
"""

from collections.abc import Container, Mapping
from datetime import datetime
from typing import Any

from crowdrag.studies.enums import DecisionKind
from crowdrag.studies.models import User

from .lifecycle import ACCEPTED, PART, Lifecycle, Work, paid_of_promise, storable_text
from .models import PaidWork
from .problems import BadAmount, Erased, NeedsReason, NotAllowed, UnderReview
from .review_locks import RELEASED, locked_by_another


def require_decidable(work: PaidWork, after: str, by: User, now: datetime, states: Container[str]) -> None:
    """Raise an error if work is in none of these states, or if another reviewer has it open."""
    if work.state not in states:
        raise NotAllowed(work, after)
    if locked_by_another(work, by, now):
        raise UnderReview(work)


def require_reason(kind: type[PaidWork], reason: str) -> str:
    """Return a reason as it is stored; raise an error if it is empty."""
    if not (reason := storable_text(reason).strip()):
        raise NeedsReason(kind)
    return reason


def accept(
    life: Lifecycle[Work], work: Work, subject: Any, *, note: str, default: str, by: User, now: datetime
) -> None:
    """Accept work that the caller has locked: pay it, and include it unless decided otherwise or erased."""
    note = storable_text(note).strip()
    life.move(work, "ACCEPTED", "accepted", note=note, by=by, now=now, **RELEASED)
    life.pay_rest(work, ACCEPTED, by=by, now=now)
    decide(subject, DecisionKind.PAY, holds=True, reason=note or default, by=by, now=now)
    if not subject.erased_at and not subject.decisions.filter(about=DecisionKind.INCLUDE).exists():
        decide(subject, DecisionKind.INCLUDE, holds=True, reason=note or default, by=by, now=now)


def reject(
    life: Lifecycle[Work],
    work: Work,
    subject: Any,
    *,
    reason: str,
    pay_part: int,
    evidence: Mapping[str, Any] | None = None,
    by: User,
    now: datetime,
) -> None:
    """Reject work that the caller has locked: pay nothing, a part or all; exclude it from the analysis.

    Payments of the promised pay are never reduced, and `pay_part` is the total that it comes to.

    Raises
    ------
    BadAmount
    """
    before = paid_of_promise(work)
    most = max((work.pay or 0) - before, 0)
    if not 0 <= pay_part <= most:
        raise BadAmount(most, work.currency)
    life.move(work, "REJECTED", "rejected", note=reason, by=by, now=now, **RELEASED)
    if pay_part:
        life.pay(work, pay_part, PART, by=by, now=now)
    amounts = {"amount": before + pay_part, "of": work.pay or 0}
    decide(subject, DecisionKind.PAY, holds=before + pay_part > 0, reason=reason, by=by, now=now, evidence=amounts)
    decide(subject, DecisionKind.INCLUDE, holds=False, reason=reason, by=by, now=now, evidence=evidence)


def change_inclusion(
    kind: type[PaidWork],
    subject: Any,
    *,
    holds: bool,
    reason: str,
    evidence: Mapping[str, Any] | None = None,
    by: User,
    now: datetime,
) -> Any:
    """Include something in the analysis or exclude it, whatever was paid; the caller has locked it.

    Raises
    ------
    Erased
    """
    if subject.erased_at:
        raise Erased(kind)
    last = subject.decisions.filter(about=DecisionKind.INCLUDE).order_by("-decided_at", "-id").first()
    if last is not None and (last.holds, last.reason, last.decided_by_id) == (holds, reason, by.pk):
        return last  # the same request repeated
    return decide(subject, DecisionKind.INCLUDE, holds=holds, reason=reason, by=by, now=now, evidence=evidence)


def decide(
    subject: Any,
    about: DecisionKind,
    *,
    holds: bool,
    reason: str,
    by: User,
    now: datetime,
    evidence: Mapping[str, Any] | None = None,
) -> Any:
    """Record a decision, and include or exclude the subject if it is about inclusion."""
    if about is DecisionKind.INCLUDE and subject.is_included != holds:
        type(subject)._default_manager.filter(pk=subject.pk).update(is_included=holds)
        subject.is_included = holds
    return subject.decisions.create(
        about=about, holds=holds, reason=reason, evidence=dict(evidence or {}), decided_at=now, decided_by=by
    )
