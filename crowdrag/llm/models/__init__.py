"""Tables of the gateway, one model a file."""

from .attempt import Attempt
from .call import Call
from .endpoint import Endpoint
from .spend import Spend

__all__ = ["Attempt", "Call", "Endpoint", "Spend"]
