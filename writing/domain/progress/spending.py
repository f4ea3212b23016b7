"""What was spent, and what is to come. Money in minor units of the study's currency."""

from collections.abc import Iterable
from dataclasses import dataclass

from ...enums import TaskState
from ...models import WritingPlan
from .counting import Standing
from .rows import Group


@dataclass(frozen=True)
class Spending:
    """What people were paid, with fees and taxes as the plan has them now; what waits; what is still to be written."""

    paid: int
    charges: int
    waiting: int
    to_come: int | None

    @property
    def so_far(self) -> int:
        """What is spent."""
        return self.paid + self.charges

    @property
    def total(self) -> int | None:
        """What it will have cost if all that waits is accepted, and all that is asked for is written."""
        return None if self.to_come is None else self.so_far + self.waiting + self.to_come


def spending(groups: Iterable[Group], plan: WritingPlan | None, whole: Standing) -> Spending:
    """Return what was spent and what is to come; the latter is not known without a plan."""
    charge = plan.fee + plan.tax if plan else 0
    paid = charges = waiting = 0
    for group in groups:
        paid += group.paid
        charges += charge * group.n_paid
        if group.state == TaskState.SUBMITTED:
            waiting += group.pay + charge * group.n_with_pay
    missing = whole.missing
    to_come = None if plan is None or missing is None else missing * (plan.pay + charge)
    return Spending(paid, charges, waiting, to_come)
