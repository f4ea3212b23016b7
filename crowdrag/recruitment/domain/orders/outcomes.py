"""How the sending of an order ends, where it does not simply end."""

from datetime import timedelta


class Ending(Exception):  # noqa: N818
    """A way to end."""


class Done(Ending):
    """It is as it should be there."""


class NeedsPerson(Ending):
    """Nothing more can be done without somebody who looks at it; the message says at what."""


class Asleep(Ending):
    """Nothing is wrong: it is done later, when the platform is ready for it."""

    def __init__(self, message: str, wait: timedelta) -> None:
        super().__init__(message)
        self.wait = wait


class Unsure(Ending):
    """It was sent, and whether it was done is not known yet; it is looked up, not sent again."""

    def __init__(self, message: str, wait: timedelta) -> None:
        super().__init__(message)
        self.wait = wait
