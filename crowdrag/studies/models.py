"""Tables of studies and of people who take part in them: those of all features, where Django looks for them."""

from .entry.models import Arrival, EntryLink
from .messages.models import Enquiry
from .participants.models import Bar, Consent, ConsentText, Participant
from .study.models import Decision, Membership, Study, User, Versioned

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
