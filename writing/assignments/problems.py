"""Problems specific to writing tasks (`crowdrag.assignments.problems` has the shared ones)."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from crowdrag.assignments.problems import WorkProblem

from ..models import WritingTask


class WritingClosed(WorkProblem):
    """The study is not open for writers."""

    def __init__(self) -> None:
        super().__init__(_("This study does not need responses at the moment."))


class EnoughWritten(WorkProblem):
    """The participant has reached the maximum number of tasks."""

    def __init__(self, most: int):
        self.most = most
        super().__init__(
            ngettext(
                "You have written the one response that one person can write in this study.",
                "You have written all %(n)s responses that one person can write in this study.",
                most,
            )
            % {"n": most}
        )


class TrialWaits(WorkProblem):
    """The participant's trial is under review."""

    def __init__(self) -> None:
        super().__init__(_("Your trial responses are awaiting review. You can continue after they are accepted."))


class TrialContested(WorkProblem):
    """A trial response was rejected, and its writer has contested this."""

    def __init__(self) -> None:
        super().__init__(
            _("You asked the researchers to review your trial again. Their answer will appear on your dashboard.")
        )


class TrialInRevision(WorkProblem):
    """A revision of a trial response was requested."""

    def __init__(self) -> None:
        super().__init__(
            _("A reviewer asked you to revise a trial response. Revise it first: it is on your dashboard.")
        )


class TrialEnded(WorkProblem):
    """A trial response was rejected."""

    def __init__(self) -> None:
        super().__init__(
            _("Your trial was not accepted, so you cannot write more in this study. You keep what you earned.")
        )


class SlotTaken(WorkProblem):
    """The lease has ended, and the slot is taken or no longer planned."""

    def __init__(self) -> None:
        super().__init__(
            _("Your time for this task is over, and the task is no longer free. Your text is saved. You can submit it.")
        )


class AnotherInHand(WorkProblem):
    """The participant has another task in progress."""

    def __init__(self, task: WritingTask):
        self.task = task
        super().__init__(_("You have another task in progress. Submit or return it first."))


class NotFinished(WorkProblem):
    """The text was not finished, or the entry survey is unanswered."""

    def __init__(self) -> None:
        super().__init__(_("You have not pressed Finish yet. Go back to the editor and press Finish."))


class EmptyText(WorkProblem):
    """The text is empty."""

    def __init__(self) -> None:
        super().__init__(_("Your text is empty. Write it in the editor, or return the task."))


class TextDiffers(WorkProblem):
    """The text rebuilt from the log differs from the submitted one."""

    def __init__(self) -> None:
        super().__init__(
            _("Your text has changed since you finished it. Open the editor, check your text, and press Finish.")
        )
