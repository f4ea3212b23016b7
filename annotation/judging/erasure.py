"""Erase a participant's judgments, and quotes in others' comments of what a participant wrote."""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from uuid import uuid4

import pgtrigger
from django.db.models import Q

from crowdrag.studies.enums import DecisionKind
from crowdrag.studies.models import Participant
from writing.models import Response

from ..models import (
    Assignment,
    AssignmentDecision,
    AssignmentTransition,
    CheckAnswer,
    ItemConfidence,
    ItemTime,
    Judgment,
    PlatformSubmission,
    PracticeAnswer,
    ShownFlag,
    TrainingAnswer,
)
from . import leases

# Number of consecutive words that count as a quote. Shorter matches are often coincidences.
WORDS = 6
_WORD = re.compile(r"\w+")


def redact_quotes(participant: Participant) -> None:
    """Erase justifications and comments that quote this participant's responses, by people and by models."""
    for response in Response.objects.filter(participant=participant, erased_at__isnull=True).order_by("pk"):
        runs = frozenset(_runs(response.text))
        about = Q(item__pair__a=response) | Q(item__pair__b=response) | Q(item__response=response)
        judgments = Judgment.objects.filter(about).order_by("pk")
        reasons = judgments.exclude(justification="").values_list("pk", "justification")
        Judgment.objects.filter(pk__in=_quoting(runs, reasons)).update(justification="")
        judges = Assignment.objects.filter(pk__in=judgments.order_by().values("assignment")).exclude(comment="")
        Assignment.objects.filter(pk__in=_quoting(runs, judges.values_list("pk", "comment"))).update(comment="")


def _quoting(runs: frozenset[tuple[str, ...]], texts: Iterable[tuple[int, str]]) -> list[int]:
    return [pk for pk, words in texts if not runs.isdisjoint(_runs(words))]


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    """Yield each sequence of WORDS consecutive words, ignoring what is between the words."""
    words = _WORD.findall(text.casefold())
    return zip(*(words[start:] for start in range(WORDS)), strict=False)


REASON = "Erased on the judge's wish."


def erase(participant: Participant, now: datetime) -> None:
    """Erase the texts and times of a participant's judgments, and exclude the judgments from the analysis.

    Their slots become free. The votes stay, under a pseudonym that belongs to nobody: runs that used them report this
    and can still be viewed. Payments owed stay as well. Submitted assignments get a new id, by which researchers can
    find and pay them. The caller has locked the participant and marked them as having left.
    """
    leases.on_erase(participant, now)
    redact_quotes(participant)
    assignments = Assignment.objects.filter(participant=participant)
    Judgment.objects.filter(assignment__in=assignments).update(justification="", judged_at=None, external_id="")
    CheckAnswer.objects.filter(assignment__in=assignments).delete()
    ItemTime.objects.filter(assignment__in=assignments).delete()
    ItemConfidence.objects.filter(assignment__in=assignments).update(stated_at=None)
    ShownFlag.objects.filter(assignment__in=assignments).delete()
    TrainingAnswer.objects.filter(participant=participant).delete()
    PracticeAnswer.objects.filter(participant=participant).delete()
    PlatformSubmission.objects.filter(participant=participant).delete()
    # Notes to the judge, and their reasons for returning, may reveal what they judged.
    with pgtrigger.ignore("annotation.AssignmentTransition:never_updated"):
        AssignmentTransition.objects.filter(assignment__in=assignments).exclude(note="").update(note="")
    with pgtrigger.ignore("annotation.AssignmentDecision:never_updated"):
        AssignmentDecision.objects.filter(assignment__in=assignments).update(reason=REASON, evidence={})
    AssignmentDecision.objects.bulk_create(
        AssignmentDecision(assignment=one, about=DecisionKind.INCLUDE, holds=False, reason=REASON, decided_at=now)
        for one in assignments.filter(is_included=True)
    )
    handed_in = list(assignments.filter(submitted_at__isnull=False).values_list("pk", flat=True))
    assignments.update(
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
