"""The life of an assignment: who judges which questionnaire, how long it is theirs, what comes of it, what it pays.

| module | what |
|---|---|
| `claiming` | one person gets a questionnaire that has a free place; who was late goes on |
| `holding` | what somebody has in hand, and until when |
| `answering`, `timing` | answers as they are given, and how long each item is looked at |
| `submitting` | a complete questionnaire is handed in, in time or late |
| `leases`, `hearing`, `leaving` | how a place becomes free again: time, the judge's wish, the platform, withdrawal |
| `reviewing`, `paying` | what researchers decide, and what is owed |
| `moving` | every change of an assignment's state, with its place and its cause |

Locks are taken in one order: participant, assignment, place. Whoever waits for a place holds no place.
"""

from . import problems
from .answering import answer, check
from .claiming import PREFIX, claim, obstacle, purpose, resume
from .hearing import heard
from .holding import in_hand, judged, theirs
from .leases import expire, give_back
from .leaving import erase_states, leave
from .moving import AFTER, locked, move
from .paying import awaited, besides, earned, paid, pay
from .problems import AssignmentProblem
from .reviewing import accept, exclude, include, reject, take_up
from .submitting import Missing, left, missing, submit
from .timing import time

__all__ = [
    "AFTER",
    "PREFIX",
    "AssignmentProblem",
    "Missing",
    "accept",
    "answer",
    "awaited",
    "besides",
    "check",
    "claim",
    "earned",
    "erase_states",
    "exclude",
    "expire",
    "give_back",
    "heard",
    "in_hand",
    "include",
    "judged",
    "leave",
    "left",
    "locked",
    "missing",
    "move",
    "obstacle",
    "paid",
    "pay",
    "problems",
    "purpose",
    "reject",
    "resume",
    "submit",
    "take_up",
    "theirs",
    "time",
]
