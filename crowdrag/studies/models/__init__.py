"""Tables of studies and people, one model a file."""

from .bar import Bar
from .consent import Consent, ConsentText
from .decision import Decision
from .enquiry import Enquiry
from .entry import Arrival, EntryLink
from .member import Membership
from .participant import Participant
from .study import Study
from .user import User
from .versioned import Versioned

__all__ = [
    "Arrival",
    "Bar",
    "Consent",
    "ConsentText",
    "Decision",
    "Enquiry",
    "EntryLink",
    "Membership",
    "Participant",
    "Study",
    "User",
    "Versioned",
]
