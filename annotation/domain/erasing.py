"""Erasing what somebody judged, on their own wish."""

from datetime import datetime
from uuid import uuid4

import pgtrigger

from crowdrag.studies.enums import DecisionKind
from crowdrag.studies.models import Participant

from ..models import (
    Assignment,
    AssignmentDecision,
    AssignmentTransition,
    CheckAnswer,
    ItemTime,
    Judgment,
    PlatformSubmission,
    ShownFlag,
    TrainingAnswer,
)
from . import assignments, quoting

REASON = "Erased on the judge's wish."


def erase(participant: Participant, now: datetime) -> None:
    """Erase the words and the times of a participant's judgments, and take the judgments out of the analysis.

    The places that they hold are free for others. The bare votes stay, under a pseudonym that nobody is behind any
    more: runs that used them say so, and can still be looked at. What they are owed stays as well, and what was handed
    in gets a new name, by which researchers find it to pay for it. The caller holds the participant and has let them
    leave.
    """
    assignments.erase_states(participant, now)
    quoting.erase(participant)
    mine = Assignment.objects.filter(participant=participant)
    Judgment.objects.filter(assignment__in=mine).update(justification="", judged_at=None, external_id="")
    CheckAnswer.objects.filter(assignment__in=mine).delete()
    ItemTime.objects.filter(assignment__in=mine).delete()
    ShownFlag.objects.filter(assignment__in=mine).delete()
    TrainingAnswer.objects.filter(participant=participant).delete()
    PlatformSubmission.objects.filter(participant=participant).delete()
    # What was written to the judge, or why they gave something back, may say what they judged.
    with pgtrigger.ignore("annotation.AssignmentTransition:never_updated"):
        AssignmentTransition.objects.filter(assignment__in=mine).exclude(note="").update(note="")
    with pgtrigger.ignore("annotation.AssignmentDecision:never_updated"):
        AssignmentDecision.objects.filter(assignment__in=mine).update(reason=REASON, evidence={})
    AssignmentDecision.objects.bulk_create(
        AssignmentDecision(assignment=one, about=DecisionKind.INCLUDE, holds=False, reason=REASON, decided_at=now)
        for one in mine.filter(is_included=True)
    )
    handed_in = list(mine.filter(submitted_at__isnull=False).values_list("pk", flat=True))
    mine.update(
        is_included=False,
        seconds=None,
        active_seconds=None,
        assigned_at=None,
        submitted_at=None,
        external_id="",
        comment="",
        session="",
    )
    for pk in handed_in:
        Assignment.objects.filter(pk=pk).update(external_id=uuid4().hex)
