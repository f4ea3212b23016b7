"""Models of studies and participants: those of all features, in the place where Django looks for them."""

from .entry.models import Arrival, EntryLink
from .messages.models import ParticipantMessage
from .notes.models import StaffNote
from .participants.models import Consent, ConsentText, Participant, ParticipantBlock
from .saved_replies.models import SavedReply
from .study.models import Decision, Invitation, Membership, Study, User, Versioned

__all__ = [
    "Arrival",
    "Consent",
    "ConsentText",
    "Decision",
    "EntryLink",
    "Invitation",
    "Membership",
    "Participant",
    "ParticipantBlock",
    "ParticipantMessage",
    "SavedReply",
    "StaffNote",
    "Study",
    "User",
    "Versioned",
]
