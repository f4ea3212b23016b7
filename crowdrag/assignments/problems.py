"""Why something cannot be done with paid work, with a message for the person who tried."""

from django.utils.translation import gettext as _

from crowdrag.studies import money
from crowdrag.studies.models import User

from .models import PaidWork

Kind = type[PaidWork]


class WorkProblem(Exception):  # noqa: N818 -- it says what is the matter, and is no fault of the program
    """Something about a piece of work that whoever does it, or a researcher, has to be told."""


class NotAllowed(WorkProblem):
    """The work cannot go from its state to the one that was asked for."""

    def __init__(self, work: PaidWork, after: str):
        self.work, self.after = work, after
        super().__init__(work.TEXTS.not_allowed % {"state": work.get_state_display()})  # type: ignore[attr-defined]


class NeedsConsent(WorkProblem):
    """The person has not agreed to the consent text in its present version."""

    def __init__(self) -> None:
        super().__init__(_("First read the consent text and decide whether you agree."))


class LeftStudy(WorkProblem):
    """The person withdrew."""

    def __init__(self, kind: Kind):
        super().__init__(str(kind.TEXTS.left_study))


class Blocked(WorkProblem):
    """The researchers give the person nothing more; they said why."""

    def __init__(self, kind: Kind, reason: str):
        self.reason = reason
        super().__init__(kind.TEXTS.blocked % {"reason": reason})


class NothingLeft(WorkProblem):
    """There is nothing for this person now; something may come back."""

    def __init__(self, kind: Kind):
        super().__init__(str(kind.TEXTS.nothing_left))


class UnderReview(WorkProblem):
    """Another reviewer has it open."""

    def __init__(self, work: PaidWork):
        self.work = work
        super().__init__(str(work.TEXTS.under_review))


class Erased(WorkProblem):
    """Whoever did it had everything erased: there is nothing left to judge by or to count."""

    def __init__(self, kind: Kind):
        super().__init__(str(kind.TEXTS.erased))


class NotAReviewer(WorkProblem):
    """Work is assigned to somebody who cannot review."""

    def __init__(self, who: User):
        super().__init__(f"{who} cannot review in this study. Choose a member who is a reviewer or above.")


class UndoTooLate(WorkProblem):
    """The time in which a decision can be undone is over."""

    def __init__(self, minutes: int):
        super().__init__(f"This decision is older than {minutes} minutes and can no longer be undone.")


class NotUndoable(WorkProblem):
    """Something followed from a decision that cannot be taken back; the message says what."""


class NeedsReason(WorkProblem):
    """A decision without a reason."""

    def __init__(self, kind: Kind):
        super().__init__(str(kind.TEXTS.needs_reason))


class BadAmount(WorkProblem):
    """An amount that cannot be paid."""

    def __init__(self, most: int, currency: str):
        self.most = most
        super().__init__(
            _("The amount must be more than 0 and at most %(most)s.") % {"most": money.format_amount(most, currency)}
        )


class PaidOtherwise(WorkProblem):
    """The same reason was paid for with another amount."""

    def __init__(self, reason: str, amount: int, currency: str):
        self.reason, self.amount = reason, amount
        super().__init__(
            _("%(amount)s was already paid for this reason. Enter a different reason for another payment.")
            % {"amount": money.format_amount(amount, currency)}
        )
