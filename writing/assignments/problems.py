"""What cannot be done with a task, each in words for whoever tried; views show them and say what to do."""

from django.utils.translation import gettext as _

from crowdrag.studies import money

from ..models import WritingTask


class TaskProblem(Exception):  # noqa: N818 -- it says what is the matter, and is no fault of the program
    """Something about a task that its writer or a reviewer has to be told."""


class NotAllowed(TaskProblem):
    """The task cannot go from its state to the one that was asked for."""

    def __init__(self, task: WritingTask, after: str):
        self.task, self.after = task, after
        super().__init__(
            _("This task is %(state)s: that cannot be done with it now.") % {"state": task.get_state_display()}
        )


class WritingClosed(TaskProblem):
    """The study takes no writers at present."""

    def __init__(self) -> None:
        super().__init__(_("The study asks for no responses at present."))


class NeedsConsent(TaskProblem):
    """The person has not agreed to the consent text in its present version."""

    def __init__(self) -> None:
        super().__init__(_("First read what is recorded, and say whether you agree."))


class LeftStudy(TaskProblem):
    """The person withdrew."""

    def __init__(self) -> None:
        super().__init__(_("You withdrew from this study, so there are no further tasks for you."))


class Barred(TaskProblem):
    """The researchers give the person nothing more; they said why."""

    def __init__(self, reason: str):
        self.reason = reason
        super().__init__(
            _("The researchers give you no further tasks here. They say: “%(reason)s” You can ask them.")
            % {"reason": reason}
        )


class NothingLeft(TaskProblem):
    """There is no task for this person now; one may come back."""

    def __init__(self) -> None:
        super().__init__(
            _("All topics that you can write on are taken at present. Look again later: some come back unfinished.")
        )


class EnoughWritten(TaskProblem):
    """The person has as many tasks as one person may have."""

    def __init__(self, most: int):
        self.most = most
        super().__init__(_("You have written all %(n)s responses that one person may write here.") % {"n": most})


class TrialWaits(TaskProblem):
    """The person's trial is under review."""

    def __init__(self) -> None:
        super().__init__(_("Your trial responses are being read. You can go on when they are accepted."))


class TrialContested(TaskProblem):
    """A trial response was rejected, and its writer contested that."""

    def __init__(self) -> None:
        super().__init__(
            _("You asked the researchers to look at your trial again. Their answer will appear on your own page.")
        )


class TrialInRevision(TaskProblem):
    """A trial response was sent back to its writer."""

    def __init__(self) -> None:
        super().__init__(_("A trial response was sent back to you. Revise it first. It is in your list."))


class TrialEnded(TaskProblem):
    """A trial response was rejected."""

    def __init__(self) -> None:
        super().__init__(
            _("Thank you for your trial responses. There are no further tasks for you here; what you earned is yours.")
        )


class TakenByAnother(TaskProblem):
    """The lease is over, and somebody else has the slot or it is asked for no more."""

    def __init__(self) -> None:
        super().__init__(
            _("Your time for this task was over, and somebody else is writing it now. Your text is kept: hand it in.")
        )


class AnotherInHand(TaskProblem):
    """The person has another task in hand."""

    def __init__(self, task: WritingTask):
        self.task = task
        super().__init__(_("You have another task in hand. Finish it or give it back first."))


class NotFinished(TaskProblem):
    """The text was not said to be done, or the entry questions are open."""

    def __init__(self) -> None:
        super().__init__(_("Your text is not handed over yet: go back to the editor and press Done there."))


class EmptyText(TaskProblem):
    """There is nothing to submit."""

    def __init__(self) -> None:
        super().__init__(_("Your text is empty. Write it in the editor, or give the task back."))


class TextDiffers(TaskProblem):
    """The log rebuilds another text than the one that was handed over."""

    def __init__(self) -> None:
        super().__init__(
            _("Your text has changed since you handed it over. Open the editor, look it over, and press Done there.")
        )


class UnderReview(TaskProblem):
    """Another reviewer has the task."""

    def __init__(self, task: WritingTask):
        self.task = task
        super().__init__(_("Another reviewer has this response open. Take the next one."))


class Erased(TaskProblem):
    """The response was erased at its writer's wish: there is nothing left to judge or to count."""

    def __init__(self) -> None:
        super().__init__(
            _(
                "This response was erased at its writer's wish: it stays left out of the analysis. "
                "What is owed can be paid."
            )
        )


class NeedsReason(TaskProblem):
    """A decision without a reason."""

    def __init__(self) -> None:
        super().__init__(_("Say why: the writer reads it."))


class BadAmount(TaskProblem):
    """An amount that cannot be paid."""

    def __init__(self, most: int, currency: str):
        self.most = most
        super().__init__(
            _("The amount must be more than nothing, and at most %(most)s.")
            % {"most": money.format_amount(most, currency)}
        )


class PaidOtherwise(TaskProblem):
    """The same reason was paid for with another amount."""

    def __init__(self, reason: str, amount: int, currency: str):
        self.reason, self.amount = reason, amount
        super().__init__(
            _("%(amount)s was paid for this reason already. Give another reason for a further payment.")
            % {"amount": money.format_amount(amount, currency)}
        )
