"""What the platform is told: ordered here, sent by a worker, once in effect whatever is lost on the way."""

from .problems import (
    AlreadyOrderedError,
    BadAmountError,
    BadPlacesError,
    NoScreenOutError,
    NotFromPlatformError,
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
    "OrderError",
    "ShortMessageError",
    "approve",
    "bonus",
    "drop",
    "increase_places",
    "reject",
    "retry",
    "screen_out",
]
