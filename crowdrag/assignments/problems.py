"""Reasons why an action on paid work is not possible, with a message for the user."""

from django.utils.translation import gettext as _

from crowdrag.studies import money
from crowdrag.studies.models import User

from .models import PaidWork

Kind = type[PaidWork]


class WorkProblem(Exception):  # noqa: N818 -- it says what is the matter, and is no fault of the program
    """A problem with a piece of work that the participant or a researcher must be told."""


class NotAllowed(WorkProblem):
    """The work cannot change from its current state to the requested one."""

    def __init__(self, work: PaidWork, after: str):
        self.work, self.after = work, after
        super().__init__(work.TEXTS.not_allowed % {"state": work.status})


class NeedsConsent(WorkProblem):
    """The participant has not consented to the current version of the consent text."""

    def __init__(self) -> None:
        super().__init__(_("First read the consent text and decide whether you agree."))


class LeftStudy(WorkProblem):
    """The participant withdrew."""

    def __init__(self, kind: Kind):
        super().__init__(str(kind.TEXTS.left_study))


class Blocked(WorkProblem):
    """The participant is blocked from new work; they were told why."""

    def __init__(self, kind: Kind, reason: str):
        self.reason = reason
        super().__init__(kind.TEXTS.blocked % {"reason": reason})


class NothingLeft(WorkProblem):
    """There is no work for this participant now; there may be some later."""

    def __init__(self, kind: Kind):
        super().__init__(str(kind.TEXTS.nothing_left))


class UnderReview(WorkProblem):
    """Another reviewer has the work open."""

    def __init__(self, work: PaidWork):
        self.work = work
        super().__init__(str(work.TEXTS.under_review))


class Erased(WorkProblem):
    """The participant had their data erased: nothing is left to review or include."""

    def __init__(self, kind: Kind):
        super().__init__(str(kind.TEXTS.erased))


class NotAReviewer(WorkProblem):
    """The assignee cannot review."""

    def __init__(self, who: User):
        super().__init__(f"{who} cannot review in this study. Choose a member who is a reviewer or above.")


class UndoTooLate(WorkProblem):
    """The time to undo the decision is over."""

    def __init__(self, minutes: int):
        super().__init__(f"This decision is older than {minutes} minutes and can no longer be undone.")


class NotUndoable(WorkProblem):
    """The decision had consequences that cannot be reversed; the message says which."""


class NeedsReason(WorkProblem):
    """A reason is missing."""

    def __init__(self, kind: Kind):
        super().__init__(str(kind.TEXTS.needs_reason))


class BadAmount(WorkProblem):
    """The amount cannot be paid."""

    def __init__(self, most: int, currency: str):
        self.most = most
        super().__init__(
            _("The amount must be more than 0 and at most %(most)s.") % {"most": money.format_amount(most, currency)}
        )


class PaidOtherwise(WorkProblem):
    """Another amount was already paid for the same reason."""

    def __init__(self, reason: str, amount: int, currency: str):
        self.reason, self.amount = reason, amount
        super().__init__(
            _("%(amount)s was already paid for this reason. Enter a different reason for another payment.")
            % {"amount": money.format_amount(amount, currency)}
        )
