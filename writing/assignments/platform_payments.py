"""Payments of writers by the platform that sent them."""

from datetime import datetime
from typing import Any

from crowdrag.assignments import undo
from crowdrag.assignments.lifecycle import ACCEPTED, PROMISED, REVERSED
from crowdrag.recruitment import platform_actions
from crowdrag.recruitment.enums import ActionKind, ActionState, SubmissionStatus
from crowdrag.recruitment.models import PlatformAction, Submission
from crowdrag.recruitment.platform_actions import latest_visit

from ..models import TaskPayment

ACTIVITY = "writing"


def order_payment(payment: TaskPayment) -> None:
    """Order a payment by the platform that sent the writer; do nothing if none did.

    Orders have keys derived from the payment or visit, so that nothing is ordered twice. The order waits until the
    decision can no longer be undone.
    """
    task = payment.task
    assert task.participant is not None, "only a task with a writer is paid"
    visit = latest_visit(participant=task.participant, purpose=ACTIVITY)
    if visit is None:
        return
    study, session = visit
    about: dict[str, Any] = {
        "study": task.study,
        "purpose": ACTIVITY,
        "session": session,
        "participant": task.participant,
        "by": payment.by,
        "now": payment.at,
        "due_at": undo.deadline(payment.at) if payment.reason in PROMISED else payment.at,
    }
    amount = payment.amount
    if payment.reason in {ACCEPTED, REVERSED} and not _decided(session):
        platform_actions.approve(key=_approval(session), **about)
        amount -= study.reward
    if amount > 0:
        platform_actions.grant_bonus(amount=amount, reason=payment.reason, key=_bonus(payment), **about)


def cancel_payment(payment: TaskPayment, now: datetime) -> bool:
    """Cancel the orders of a payment whose decision is undone; return whether none of them had begun."""
    task = payment.task
    assert task.participant is not None, "only a task with a writer is paid"
    visit = latest_visit(participant=task.participant, purpose=ACTIVITY)
    keys = [_bonus(payment), *([_approval(visit[1])] if visit else [])]
    return platform_actions.cancel(study=task.study, keys=keys, due_at=undo.deadline(payment.at), now=now)


def _approval(session: str) -> str:
    return f"visit-{session}-approve"


def _bonus(payment: TaskPayment) -> str:
    return f"task-payment-{payment.pk}"


def _decided(session: str) -> bool:
    """Return whether the visit's reward is already ordered, or can no longer be paid."""
    ordered = PlatformAction.objects.filter(submission__external_id=session, kind=ActionKind.APPROVE)
    if ordered.exclude(state=ActionState.DROPPED).exists():
        return True
    gone = [SubmissionStatus.REJECTED, SubmissionStatus.APPROVED, SubmissionStatus.SCREENED_OUT]
    return Submission.objects.filter(external_id=session, status__in=gone).exists()
