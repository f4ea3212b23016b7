"""Tables of the audit trail, one model a file."""

from .failure import SignInFailure
from .look import Look

__all__ = ["Look", "SignInFailure"]
