"""Tables of studies and people, one model a file."""

from .consent import Consent, ConsentText
from .decision import Decision
from .member import Membership
from .participant import Participant
from .study import Study
from .user import User
from .versioned import Versioned

__all__ = ["Consent", "ConsentText", "Decision", "Membership", "Participant", "Study", "User", "Versioned"]
