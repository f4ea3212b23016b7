"""Problems of assignments alone (`crowdrag.assignments.problems` has the shared ones)."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from crowdrag.assignments.problems import NotAllowed, WorkProblem

from ..models import Assignment, CheckAnswer, ItemConfidence, Judgment


class HandedIn(NotAllowed):
    """It takes no answers any more: it was handed in, or its judge has left."""


class CampaignNotOpen(WorkProblem):
    """The campaign hands nothing out at present."""

    def __init__(self) -> None:
        super().__init__(_("There is nothing to judge here at the moment."))


class NotAdmitted(WorkProblem):
    """The person did not come by a link to this campaign."""

    def __init__(self) -> None:
        super().__init__(_("Only invited people can do this task. Open the link that you received."))


class EnoughJudged(WorkProblem):
    """The person has judged as many questionnaires as one person may, or as one visit from the platform stands for."""

    def __init__(self, most: int):
        self.most = most
        super().__init__(
            ngettext(
                "You have completed the one questionnaire that you can do here.",
                "You have completed all %(n)s questionnaires that you can do here.",
                most,
            )
            % {"n": most}
        )


class TooLate(WorkProblem):
    """The lease is over, and somebody else has the slot; what is there can still be handed in."""

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
    """Questions are open; `missing` says which."""

    def __init__(self, missing: list[Any]):
        self.missing = missing
        n = len(missing)
        super().__init__(
            ngettext("One question is not answered.", "%(n)s questions are not answered.", n) % {"n": n},
        )


class BadAnswer(WorkProblem):
    """What was sent answers no question of this questionnaire."""

    def __init__(self, words: str):
        super().__init__(words)


class OtherAnswer(WorkProblem):
    """Another answer came in meanwhile, from another tab: `current` is what is stored."""

    def __init__(self, current: Judgment | CheckAnswer | ItemConfidence):
        self.current = current
        super().__init__(_("You answered this question in another window. That answer is shown now."))
