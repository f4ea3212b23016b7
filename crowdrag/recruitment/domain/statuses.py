"""Which of two things heard of a visit holds: the same whatever order they come in, and however often.

A decision is final (docs.prolific.com: "once the status is changed, it can not be restored"), so what came before it
never undoes it, whatever its time says: clocks differ. Among the others the later one holds, and of two at the same
second the one further on. The three together are one order of all that can be heard, and what holds is the greatest:
hearing it again, or hearing it late, changes nothing.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from ..enums import SubmissionStatus

FINAL: Final = (
    SubmissionStatus.SCREENED_OUT,
    SubmissionStatus.REJECTED,
    SubmissionStatus.PARTIALLY_APPROVED,
    SubmissionStatus.APPROVED,
)
# Nobody is on it any more, and nothing was decided: the place is somebody else's.
LET_GO: Final = (SubmissionStatus.RETURNED, SubmissionStatus.TIMED_OUT)
# The person has not handed in on the platform; a decision must wait.
UNDER_WAY: Final = (SubmissionStatus.RESERVED, SubmissionStatus.ACTIVE)
PAID: Final = (SubmissionStatus.APPROVED, SubmissionStatus.PARTIALLY_APPROVED, SubmissionStatus.SCREENED_OUT)
_RANK: Final = {status: rank for rank, status in enumerate(SubmissionStatus.values)}


@dataclass(frozen=True)
class Said:
    """A status, and when it was so."""

    status: str
    at: datetime


def known(text: object) -> SubmissionStatus | None:
    """Read a status as the platform writes it, with blanks, hyphens or underscores; None for what we do not know.

    The undocumented PROCESSING, which a status passes through for a moment (Mephisto's list of oddities), is none.
    """
    plain = str(text or "").strip().upper().replace("-", " ").replace("_", " ")
    return next((status for status in SubmissionStatus if status.value.replace("-", " ") == plain), None)


def holds(before: Said | None, heard: Said) -> Said:
    """Return which of two holds."""
    return heard if before is None or _order(heard) > _order(before) else before


def _order(said: Said) -> tuple[bool, datetime, int]:
    return said.status in FINAL, said.at, _RANK[said.status]
