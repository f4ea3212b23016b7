"""Why something is not ordered; each says what to do."""

from django.utils.translation import gettext as _

from ...enums import OrderKind
from ...models import Submission

LEAST_MESSAGE = 100
MOST_MESSAGE = 2000


class OrderError(ValueError):
    """Something that the platform is not told; the message says why."""


class NotFromPlatformError(OrderError):
    """The visit is none of a platform's study of this way."""

    def __init__(self) -> None:
        super().__init__(_("This person did not come by a study of the platform that was made here."))


class AlreadyOrderedError(OrderError):
    """The same key stands for another order."""

    def __init__(self) -> None:
        super().__init__(_("Something else was ordered under this name. Nothing was changed."))


class ShortMessageError(OrderError):
    """The platform wants a rejection explained at length."""

    def __init__(self, length: int) -> None:
        super().__init__(
            _("Prolific asks for at least %(least)d characters that explain a rejection; these are %(length)d.")
            % {"least": LEAST_MESSAGE, "length": length}
        )


class LongMessageError(OrderError):
    """More than anybody reads."""

    def __init__(self) -> None:
        super().__init__(_("The message is longer than %(most)d characters.") % {"most": MOST_MESSAGE})


class BadCategoryError(OrderError):
    """The platform does not sort rejections so."""

    def __init__(self) -> None:
        super().__init__(_("Choose one of the platform's reasons for a rejection."))


class BadAmountError(OrderError):
    """No amount that can be paid."""

    def __init__(self) -> None:
        super().__init__(_("A bonus is more than nothing, and no more than can be counted."))


class BadPlacesError(OrderError):
    """Places go up only."""

    def __init__(self, places: int) -> None:
        super().__init__(
            _("There are %(places)d places already, and the platform takes none back.") % {"places": places}
        )


class NoScreenOutError(OrderError):
    """The study was made without a code for it."""

    def __init__(self) -> None:
        super().__init__(
            _("This study was made without pay for people who are screened out; pay them a bonus instead.")
        )


class NotPossibleError(OrderError):
    """The visit's state does not allow it."""

    def __init__(self, submission: Submission, kind: OrderKind) -> None:
        status = submission.get_status_display() if submission.status else _("not known yet")
        super().__init__(
            _("The submission is %(status)s on Prolific, or this was ordered already. Nothing was sent: %(kind)s.")
            % {"status": status, "kind": kind.label}
        )


class NothingToRetryError(OrderError):
    """Only what failed is sent again."""

    def __init__(self) -> None:
        super().__init__(_("This order is not one that waits for you."))
