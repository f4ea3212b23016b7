"""Orders to a recruitment platform about a decision.

Orders are stored in the decision's own transaction and sent afterwards (`crowdrag.recruitment.platform_actions`), so
that the platform pays exactly what was decided here. They are due when the decision can no longer be undone
(`crowdrag.assignments.undo`).
"""

from datetime import datetime
from typing import Any

from crowdrag.assignments import undo
from crowdrag.recruitment import platform_actions
from crowdrag.recruitment.enums import ActionKind, ActionState
from crowdrag.recruitment.models import PlatformAction
from crowdrag.recruitment.platform_actions import is_platform_visit
from crowdrag.studies.models import User

from ...judging import claims
from ...models import Assignment


def is_from_platform(assignment: Assignment) -> bool:
    """Return whether a platform sent this judge and must be told of decisions."""
    campaign = assignment.questionnaire.campaign
    return is_platform_visit(study=campaign.study, purpose=claims.purpose(campaign), session=assignment.session)


def order_reward(assignment: Assignment, *, owed: int, by: User, now: datetime) -> None:
    """Order the reward. Platforms cannot approve work that they have rejected: then `owed` is paid as a bonus."""
    if not is_from_platform(assignment):
        return
    if not _rejected_there(assignment):
        platform_actions.approve(key=f"{_name(assignment)}-approve", **_later(assignment, by, now))
    elif owed > 0:
        platform_actions.grant_bonus(
            amount=owed, reason="The rejection was reversed.", key=f"{_name(assignment)}-reversed",
            **_later(assignment, by, now),
        )  # fmt: skip


def order_rejection(
    assignment: Assignment, *, in_full: bool, part: int, category: str, message: str, by: User, now: datetime
) -> None:
    """Order the rejection with category and message, or the approval if it is paid in full."""
    if not is_from_platform(assignment):
        return
    if in_full:
        platform_actions.approve(key=f"{_name(assignment)}-approve", **_later(assignment, by, now))
        return
    platform_actions.reject(
        category=category, message=message, key=f"{_name(assignment)}-reject", **_later(assignment, by, now)
    )
    if part:
        platform_actions.grant_bonus(
            amount=part, reason="Part of the pay.", key=f"{_name(assignment)}-part", **_later(assignment, by, now)
        )


def order_bonus(assignment: Assignment, *, payment: int, amount: int, reason: str, by: User, now: datetime) -> None:
    """Order an extra payment; `payment` is the key of the payment row."""
    if is_from_platform(assignment):
        platform_actions.grant_bonus(
            amount=amount, reason=reason, key=f"{_name(assignment)}-payment-{payment}", **_about(assignment, by, now)
        )


def cancel(assignment: Assignment, *, decided_at: datetime, now: datetime) -> bool:
    """Cancel the orders of an undone decision; return whether none of them was begun."""
    keys = [f"{_name(assignment)}-{order}" for order in ("approve", "reject", "part")]
    study, due_at = assignment.questionnaire.campaign.study, undo.deadline(decided_at)
    return platform_actions.cancel(study=study, keys=keys, due_at=due_at, now=now)


def _later(assignment: Assignment, by: User, now: datetime) -> dict[str, Any]:
    """Return the arguments of an order that is due when the decision can no longer be undone."""
    return {**_about(assignment, by, now), "due_at": undo.deadline(now)}


def _about(assignment: Assignment, by: User, now: datetime) -> dict[str, Any]:
    campaign = assignment.questionnaire.campaign
    return {
        "study": campaign.study,
        "purpose": claims.purpose(campaign),
        "session": assignment.session,
        "participant": assignment.participant,
        "by": by,
        "now": now,
    }


def _name(assignment: Assignment) -> str:
    return f"assignment-{assignment.pk}"


def _rejected_there(assignment: Assignment) -> bool:
    """Return whether a rejection was sent. A waiting one is dropped when an approval is ordered."""
    gone = PlatformAction.objects.filter(key=f"{_name(assignment)}-reject", kind=ActionKind.REJECT)
    return gone.exclude(state__in=[ActionState.WAITING, ActionState.FAILED, ActionState.DROPPED]).exists()
