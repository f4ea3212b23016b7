"""Problems of writing tasks alone (`crowdrag.assignments.problems` has the shared ones)."""

from django.utils.translation import gettext as _

from crowdrag.assignments.problems import WorkProblem

from ..models import WritingTask


class WritingClosed(WorkProblem):
    """The study takes no writers at present."""

    def __init__(self) -> None:
        super().__init__(_("The study asks for no responses at present."))


class EnoughWritten(WorkProblem):
    """The person has as many tasks as one person may have."""

    def __init__(self, most: int):
        self.most = most
        super().__init__(_("You have written all %(n)s responses that one person may write here.") % {"n": most})


class TrialWaits(WorkProblem):
    """The person's trial is under review."""

    def __init__(self) -> None:
        super().__init__(_("Your trial responses are being read. You can go on when they are accepted."))


class TrialContested(WorkProblem):
    """A trial response was rejected, and its writer contested that."""

    def __init__(self) -> None:
        super().__init__(
            _("You asked the researchers to look at your trial again. Their answer will appear on your own page.")
        )


class TrialInRevision(WorkProblem):
    """A trial response was sent back to its writer."""

    def __init__(self) -> None:
        super().__init__(_("A trial response was sent back to you. Revise it first. It is in your list."))


class TrialEnded(WorkProblem):
    """A trial response was rejected."""

    def __init__(self) -> None:
        super().__init__(
            _("Thank you for your trial responses. There are no further tasks for you here; what you earned is yours.")
        )


class SlotTaken(WorkProblem):
    """The lease is over, and somebody else has the slot or it is asked for no more."""

    def __init__(self) -> None:
        super().__init__(
            _("Your time for this task was over, and somebody else is writing it now. Your text is kept: hand it in.")
        )


class AnotherInHand(WorkProblem):
    """The person has another task in hand."""

    def __init__(self, task: WritingTask):
        self.task = task
        super().__init__(_("You have another task in hand. Finish it or give it back first."))


class NotFinished(WorkProblem):
    """The text was not said to be done, or the entry questions are open."""

    def __init__(self) -> None:
        super().__init__(_("Your text is not handed over yet: go back to the editor and press Done there."))


class EmptyText(WorkProblem):
    """There is nothing to submit."""

    def __init__(self) -> None:
        super().__init__(_("Your text is empty. Write it in the editor, or give the task back."))


class TextDiffers(WorkProblem):
    """The log rebuilds another text than the one that was handed over."""

    def __init__(self) -> None:
        super().__init__(
            _("Your text has changed since you handed it over. Open the editor, look it over, and press Done there.")
        )
