"""Erasing what somebody judged, on their own wish."""

from datetime import datetime

import pgtrigger

from crowdrag.studies.enums import Verdict
from crowdrag.studies.models import Participant

from ..models import Assignment, AssignmentDecision, Judgment, PlatformSubmission

REASON = "Erased on the judge's wish."


def erase(participant: Participant, now: datetime) -> None:
    """Erase the words and the times of a participant's judgments, and take the judgments out of the analysis.

    The bare votes stay, under a pseudonym that nobody is behind any more: runs that used them say so, and can still be
    looked at.
    """
    mine = Assignment.objects.filter(participant=participant)
    Judgment.objects.filter(assignment__in=mine).update(justification="", judged_at=None, external_id="")
    PlatformSubmission.objects.filter(participant=participant).delete()
    with pgtrigger.ignore("annotation.AssignmentDecision:never_updated"):
        AssignmentDecision.objects.filter(assignment__in=mine).update(reason=REASON, evidence={})
    AssignmentDecision.objects.bulk_create(
        AssignmentDecision(assignment=one, about=Verdict.INCLUDE, holds=False, reason=REASON, decided_at=now)
        for one in mine.filter(is_included=True)
    )
    mine.update(is_included=False, seconds=None, assigned_at=None, submitted_at=None, external_id="")
