"""Sittings: the editor is opened, sends what happens in it, and says that the text is done (docs/adr/0015)."""

from .chains import Branch, Chain, Placed, chain
from .compacting import compact, compact_abandoned
from .finishing import BehindError, DiffersError, FencedError, finish
from .holding import ClosedError
from .opening import Opened, Other, open  # noqa: A004 -- a sitting is opened
from .reading import log_of, text
from .receiving import GapError, OtherEventsError, Receipt, receive
from .renewing import Renewed, UnknownError, renew
from .tokens import BadTokenError

__all__ = [
    "BadTokenError",
    "BehindError",
    "Branch",
    "Chain",
    "ClosedError",
    "DiffersError",
    "FencedError",
    "GapError",
    "Opened",
    "Other",
    "OtherEventsError",
    "Placed",
    "Receipt",
    "Renewed",
    "UnknownError",
    "chain",
    "compact",
    "compact_abandoned",
    "finish",
    "log_of",
    "open",
    "receive",
    "renew",
    "text",
]
