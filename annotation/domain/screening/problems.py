"""What stands in the way of a decision of screening, in words for whoever decides."""

from django.utils.translation import gettext as _

from ..assignments import AssignmentProblem

# What Prolific asks for.
LEAST: int = 100


class ShortReason(AssignmentProblem):
    """The platform wants a rejection explained at length."""

    def __init__(self, length: int):
        super().__init__(
            _(
                "This person came from a platform, which asks for at least %(least)d characters that explain a "
                "rejection; these are %(length)d. Say what was wrong, with figures, so that it can be checked."
            )
            % {"least": LEAST, "length": length}
        )


class NeedsCategory(AssignmentProblem):
    """The platform sorts rejections by category."""

    def __init__(self) -> None:
        super().__init__(_("Choose the platform's category for this rejection."))


class SingleCheck(AssignmentProblem):
    """Rejected for a failed check where one is not enough."""

    def __init__(self, failed: int, needed: int):
        super().__init__(
            _(
                "%(failed)d failed check is not enough to reject for failed checks: in studies of five minutes or more "
                "the platforms ask for %(needed)d. Choose another category if something else was wrong."
            )
            % {"failed": failed, "needed": needed}
        )
