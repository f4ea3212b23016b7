"""Problems specific to assignments (`crowdrag.assignments.problems` has the shared ones)."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from crowdrag.assignments.problems import NotAllowed, WorkProblem

from ..models import Assignment, CheckAnswer, ItemConfidence, Judgment


class HandedIn(NotAllowed):
    """The assignment accepts no more answers: it was submitted, or the judge has left."""


class CampaignNotOpen(WorkProblem):
    """The campaign assigns nothing at present."""

    def __init__(self) -> None:
        super().__init__(_("There is nothing to judge here at the moment."))


class NotAdmitted(WorkProblem):
    """The participant did not come by a link to this campaign."""

    def __init__(self) -> None:
        super().__init__(_("Only invited people can do this task. Open the link that you received."))


class EnoughJudged(WorkProblem):
    """The participant has reached the limit of questionnaires per person, or per visit from the platform."""

    def __init__(self, most: int):
        self.most = most
        super().__init__(
            ngettext(
                "You have done the one questionnaire available to you.",
                "You have done all %(n)s questionnaires available to you.",
                most,
            )
            % {"n": most}
        )


class AnotherInHand(WorkProblem):
    """The participant has another questionnaire in progress."""

    def __init__(self) -> None:
        super().__init__(_("You have another questionnaire in progress. Submit or return it first."))


class TooLate(WorkProblem):
    """The lease has expired and another participant has the slot. The answers can still be submitted."""

    def __init__(self, assignment: Assignment):
        self.assignment = assignment
        super().__init__(
            _(
                "Your time for this questionnaire is over, and someone else is doing it now. "
                "Your answers are saved. You can still finish and submit."
            )
        )


class NoSlot(WorkProblem):
    """All slots of the questionnaire are held."""

    def __init__(self, assignment: Assignment):
        self.assignment = assignment
        super().__init__(_("Enough people have completed this questionnaire or are doing it now."))


class Incomplete(WorkProblem):
    """Some questions have no answer; `missing` lists them."""

    def __init__(self, missing: list[Any]):
        self.missing = missing
        n = len(missing)
        super().__init__(
            ngettext("One question is not answered.", "%(n)s questions are not answered.", n) % {"n": n},
        )


class BadAnswer(WorkProblem):
    """The answer does not belong to a question of this questionnaire."""

    def __init__(self, words: str):
        super().__init__(words)


class OtherAnswer(WorkProblem):
    """A different answer was stored in the meantime, from another tab: `current` is the stored one."""

    def __init__(self, current: Judgment | CheckAnswer | ItemConfidence):
        self.current = current
        super().__init__(_("You answered this question in another window. That answer is shown now."))
