"""Submit a questionnaire. Idempotent. A late submission counts if a slot is free."""

from datetime import datetime
from typing import Any, Final, NamedTuple

from django.db import connection, transaction

from crowdrag.assignments.lifecycle import storable_text
from crowdrag.assignments.problems import LeftStudy

from ..enums import AssignmentState, CampaignState
from ..models import Assignment
from . import answers, leases, problems
from .lifecycle import ASSIGNMENTS

S = AssignmentState
LONGEST_COMMENT: Final = 10_000
DONE: Final = frozenset({S.SUBMITTED, S.ACCEPTED, S.REJECTED, S.SURPLUS})

# Items with a response that was erased at its writer's request, which nobody can judge.
_GONE = """
    SELECT gone.item_id FROM annotation_questionnaireitem gone
    JOIN annotation_item i ON i.id = gone.item_id
    LEFT JOIN annotation_pair p ON p.id = i.pair_id
    LEFT JOIN writing_response alone ON alone.id = i.response_id
    LEFT JOIN writing_response a ON a.id = p.a_id
    LEFT JOIN writing_response b ON b.id = p.b_id
    WHERE gone.questionnaire_id = %(questionnaire)s
        AND coalesce(alone.erased_at, a.erased_at, b.erased_at) IS NOT NULL
"""
# Questions without an answer: each dimension of each item, and the attention checks.
_OPEN = f"""
    SELECT entry.item_id, asked.dimension_id, NULL::bigint, entry.position, asked.position AS place
    FROM annotation_questionnaireitem entry
    JOIN annotation_questionnaire q ON q.id = entry.questionnaire_id
    JOIN annotation_campaigndimension asked ON asked.campaign_id = q.campaign_id
    JOIN annotation_dimension d ON d.id = asked.dimension_id
    LEFT JOIN annotation_judgment j ON j.assignment_id = %(assignment)s AND j.item_id = entry.item_id
        AND j.dimension_id = asked.dimension_id AND j.repeat = 0
    WHERE entry.questionnaire_id = %(questionnaire)s
        AND (j.id IS NULL OR (d.asks_justification AND j.justification = ''))
        AND entry.item_id <> ALL (ARRAY({_GONE}))
    UNION ALL
    SELECT entry.item_id, NULL, c.id, c.position, 32767
    FROM annotation_attentioncheck c
    LEFT JOIN annotation_questionnaireitem entry
        ON entry.questionnaire_id = c.questionnaire_id AND entry.position = c.position
    LEFT JOIN annotation_checkanswer a ON a.check_asked_id = c.id AND a.assignment_id = %(assignment)s
    WHERE c.questionnaire_id = %(questionnaire)s AND a.id IS NULL
"""  # noqa: S608 -- a constant
# In the order of the page.
_MISSING = f"{_OPEN} ORDER BY 4, 5"


class MissingAnswer(NamedTuple):
    """An open question: a dimension of an item, or the check below an item."""

    item: int | None
    dimension: int | None
    check: int | None = None


def missing_answers(assignment: Assignment) -> list[MissingAnswer]:
    """Return the open questions in the order of the page. An answer without its required justification is open.

    An item with an erased response has no questions except its attention check.
    """
    with connection.cursor() as cursor:
        cursor.execute(_MISSING, {"assignment": assignment.pk, "questionnaire": assignment.questionnaire_id})
        return [MissingAnswer(*row[:3]) for row in cursor.fetchall()]


@transaction.atomic
def submit(*, assignment: Assignment, comment: str = "", now: datetime) -> Assignment:
    """Submit a complete questionnaire. Idempotent: a repeated submission changes nothing.

    A late submission counts if the questionnaire has a free slot. Otherwise it is surplus: kept but not counted.

    Raises
    ------
    Incomplete
        with what is missing.
    LeftStudy, NotAllowed
    """
    assignment = ASSIGNMENTS.lock(assignment)
    if assignment.state in DONE:
        return assignment
    if assignment.state not in answers.TAKES:
        raise problems.HandedIn(assignment, S.SUBMITTED)
    if assignment.participant.withdrawn_at or assignment.participant.erased_at:
        raise LeftStudy(Assignment)
    if open_ := missing_answers(assignment):
        raise problems.Incomplete(open_)
    changes = _submitted_values(assignment, comment, now)
    if assignment.state == S.ASSIGNED:
        return ASSIGNMENTS.move(assignment, S.SUBMITTED, "submitted", now=now, **changes)
    if _may_count(assignment):
        try:
            return ASSIGNMENTS.move(
                assignment, S.SUBMITTED, "handed in late, while a place was free", now=now, **changes
            )
        except problems.NoSlot:
            pass
    return ASSIGNMENTS.move(assignment, S.SURPLUS, "handed in late, when its place was gone", now=now, **changes)


def _may_count(assignment: Assignment) -> bool:
    """Return whether a late submission may take a slot: the campaign is not closed and the judge is below the limit."""
    campaign = assignment.questionnaire.campaign
    most = campaign.questionnaires_per_person
    if campaign.state == CampaignState.CLOSED:
        return False
    return most is None or leases.count_judged(campaign, assignment.participant) < most


def _submitted_values(assignment: Assignment, comment: str, now: datetime) -> dict[str, Any]:
    begun = assignment.assigned_at
    return {
        "comment": storable_text(comment).strip()[:LONGEST_COMMENT],
        "submitted_at": now,
        "seconds": None if begun is None else max((now - begun).total_seconds(), 0.0),
        "active_seconds": answers.active_seconds(assignment),
        "lease_until": None,
    }
