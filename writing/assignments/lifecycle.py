"""The lifecycle of a writing task. A slot that becomes free gets a new row."""

from typing import Final

from django.db.models import Q

from crowdrag.assignments.lifecycle import Lifecycle
from crowdrag.mail.work_events import publish_move

from ..enums import TaskState
from ..models import WritingTask
from .platform_payments import order_payment

S = TaskState
TASKS: Final = Lifecycle(
    model=WritingTask,
    allowed={
        S.OPEN: frozenset({S.CLAIMED}),
        S.CLAIMED: frozenset({S.SUBMITTED, S.RETURNED}),
        # The writer came back: they resume if the slot is free; otherwise they may submit their text.
        S.RETURNED: frozenset({S.CLAIMED, S.SUBMITTED}),
        S.SUBMITTED: frozenset({S.ACCEPTED, S.REJECTED, S.REVISION}),
        # Accepted: the rejection was reversed. Submitted: the decision was undone.
        S.REJECTED: frozenset({S.ACCEPTED, S.SUBMITTED}),
        S.ACCEPTED: frozenset({S.SUBMITTED}),
        S.REVISION: frozenset({S.SUBMITTED}),
    },
    in_hand=Q(state=S.CLAIMED, is_imported=False),
    batch_size=200,
    on_pay=order_payment,
    after_move=publish_move,
)
