"""What can be decided by hand of a visit, as it stands on the platform.

Reviews order without asking here: what they decide waits until the person hands in there (`sending`). A person at this
page sees the state, so nothing is offered that the platform would refuse, and nothing is paid that nobody meant.
"""

from collections.abc import Mapping
from typing import Final

from ...enums import OrderKind, OrderState, SubmissionStatus
from ...models import PlatformOrder, Submission
from . import problems

S = SubmissionStatus
#: Work that ended may be paid a bonus, whatever was decided, and so may the time of who returned a place.
_ENDED: Final = frozenset({OrderKind.BONUS})
BY_STATUS: Final[Mapping[str, frozenset[OrderKind]]] = {
    S.AWAITING_REVIEW: frozenset({OrderKind.APPROVE, OrderKind.SCREEN_OUT, OrderKind.BONUS, OrderKind.REJECT}),
    S.TIMED_OUT: frozenset({OrderKind.APPROVE, OrderKind.BONUS}),
    S.RETURNED: _ENDED,
    S.APPROVED: _ENDED,
    S.PARTIALLY_APPROVED: _ENDED,
    S.SCREENED_OUT: _ENDED,
    S.REJECTED: _ENDED,
}
_DECISIONS: Final = frozenset({OrderKind.APPROVE, OrderKind.SCREEN_OUT, OrderKind.REJECT})
_UNDER_WAY: Final = (OrderState.WAITING, OrderState.SENDING, OrderState.UNKNOWN, OrderState.DONE)


def possible(submission: Submission) -> frozenset[OrderKind]:
    """Return what can be ordered of a visit now: nothing of one that goes on, or that the platform has not told of."""
    kinds = BY_STATUS.get(submission.status, frozenset())
    if submission.platform_study.screen_out_reward is None:
        kinds -= {OrderKind.SCREEN_OUT}
    ordered = PlatformOrder.objects.filter(submission=submission, kind__in=_DECISIONS, state__in=_UNDER_WAY)
    return kinds - frozenset(OrderKind(kind) for kind in ordered.values_list("kind", flat=True))


def check(submission: Submission, kind: OrderKind) -> None:
    """Raise `NotPossibleError` for what cannot be ordered of a visit now."""
    if kind not in possible(submission):
        raise problems.NotPossibleError(submission, kind)
