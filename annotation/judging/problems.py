"""What cannot be done with an assignment, each in words for whoever tried; views show them and say what to do."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from crowdrag.studies import money

from ..models import Assignment, CheckAnswer, Judgment


class AssignmentProblem(Exception):  # noqa: N818 -- it says what is the matter, and is no fault of the program
    """Something about an assignment that its judge or a researcher has to be told."""


class NotAllowed(AssignmentProblem):
    """The assignment cannot go from its state to the one that was asked for."""

    def __init__(self, assignment: Assignment, after: str):
        self.assignment, self.after = assignment, after
        state = assignment.get_state_display()
        super().__init__(_("This questionnaire is %(state)s: that cannot be done with it now.") % {"state": state})


class HandedIn(NotAllowed):
    """It takes no answers any more: it was handed in, or its judge has left."""


class CampaignNotOpen(AssignmentProblem):
    """The campaign hands nothing out at present."""

    def __init__(self) -> None:
        super().__init__(_("Nothing can be judged here at present."))


class NotAdmitted(AssignmentProblem):
    """The person did not come by a link to this campaign."""

    def __init__(self) -> None:
        super().__init__(_("This work is for people who were invited to it. Come by the link that you were given."))


class NeedsConsent(AssignmentProblem):
    """The person has not agreed to the consent text in its present version."""

    def __init__(self) -> None:
        super().__init__(_("First read what is recorded, and say whether you agree."))


class LeftStudy(AssignmentProblem):
    """The person withdrew."""

    def __init__(self) -> None:
        super().__init__(_("You withdrew from this study, so there is nothing further for you to judge."))


class Barred(AssignmentProblem):
    """The researchers give the person nothing more; they said why."""

    def __init__(self, reason: str):
        self.reason = reason
        super().__init__(
            _("The researchers give you no further questionnaires here. They say: “%(reason)s” You can ask them.")
            % {"reason": reason}
        )


class NothingLeft(AssignmentProblem):
    """There is no questionnaire for this person now; one may come back."""

    def __init__(self) -> None:
        super().__init__(
            _("All questionnaires that you can judge are taken at present. Look again later: some come back.")
        )


class EnoughJudged(AssignmentProblem):
    """The person has judged as many questionnaires as one person may, or as one visit from the platform stands for."""

    def __init__(self, most: int):
        self.most = most
        super().__init__(
            ngettext(
                "You have judged the one questionnaire that is for you here.",
                "You have judged all %(n)s questionnaires that are for you here.",
                most,
            )
            % {"n": most}
        )


class TooLate(AssignmentProblem):
    """The lease is over, and somebody else has the place; what is there can still be handed in."""

    def __init__(self, assignment: Assignment):
        self.assignment = assignment
        super().__init__(
            _(
                "Your time for this questionnaire was over, and somebody else is judging it now. "
                "Your answers are kept: finish them and submit them."
            )
        )


class NoPlace(AssignmentProblem):
    """All places of the questionnaire are held."""

    def __init__(self, assignment: Assignment):
        self.assignment = assignment
        super().__init__(_("As many people as asked have judged this questionnaire, or are judging it now."))


class Incomplete(AssignmentProblem):
    """Questions are open; `missing` says which."""

    def __init__(self, missing: list[Any]):
        self.missing = missing
        n = len(missing)
        super().__init__(
            ngettext("One question is still open.", "%(n)s questions are still open.", n) % {"n": n},
        )


class BadAnswer(AssignmentProblem):
    """What was sent answers no question of this questionnaire."""

    def __init__(self, words: str):
        super().__init__(words)


class OtherAnswer(AssignmentProblem):
    """Another answer came in meanwhile, from another tab: `current` is what is stored."""

    def __init__(self, current: Judgment | CheckAnswer):
        self.current = current
        super().__init__(_("This question was answered elsewhere meanwhile; that answer is shown now."))


class UnderReview(AssignmentProblem):
    """Another reviewer has the assignment."""

    def __init__(self, assignment: Assignment):
        self.assignment = assignment
        super().__init__(_("Another reviewer has this questionnaire open. Take the next one."))


class Erased(AssignmentProblem):
    """Its judge had everything erased: there is nothing left to judge by or to count."""

    def __init__(self) -> None:
        super().__init__(
            _("This was erased at its judge's wish: it stays left out of the analysis. What is owed can be paid.")
        )


class NeedsReason(AssignmentProblem):
    """A decision without a reason."""

    def __init__(self) -> None:
        super().__init__(_("Say why: the judge reads it."))


class BadAmount(AssignmentProblem):
    """An amount that cannot be paid."""

    def __init__(self, most: int, currency: str):
        self.most = most
        super().__init__(
            _("The amount must be more than nothing, and at most %(most)s.")
            % {"most": money.format_amount(most, currency)}
        )


class PaidOtherwise(AssignmentProblem):
    """The same reason was paid for with another amount."""

    def __init__(self, reason: str, amount: int, currency: str):
        self.reason, self.amount = reason, amount
        super().__init__(
            _("%(amount)s was paid for this reason already. Give another reason for a further payment.")
            % {"amount": money.format_amount(amount, currency)}
        )
