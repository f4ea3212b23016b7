"""What the platform is told: ordered here, sent by a worker, once in effect whatever is lost on the way."""

from .possible import check, possible
from .problems import (
    AlreadyOrderedError,
    BadAmountError,
    BadPlacesError,
    NoScreenOutError,
    NotFromPlatformError,
    NotPossibleError,
    OrderError,
    ShortMessageError,
)
from .queueing import approve, bonus, drop, increase_places, reject, retry, screen_out

__all__ = [
    "AlreadyOrderedError",
    "BadAmountError",
    "BadPlacesError",
    "NoScreenOutError",
    "NotFromPlatformError",
    "NotPossibleError",
    "OrderError",
    "ShortMessageError",
    "approve",
    "bonus",
    "check",
    "drop",
    "increase_places",
    "possible",
    "reject",
    "retry",
    "screen_out",
]
