"""Rows of the API: tokens, what they may be used for, replies that are kept, how much was asked."""

from .allowance import Allowance
from .reply import KeptReply
from .token import ApiToken, Grant

__all__ = ["Allowance", "ApiToken", "Grant", "KeptReply"]
