"""Invariants of slots, assignments and judgments (`manage.py check_invariants`)."""

from itertools import groupby
from typing import Any

from django.db import connection
from django.db.models import Count, F, Q, QuerySet

from crowdrag.studies.invariants import Invariant, Tally, register

from .enums import HOLDING, AssignmentState
from .judging.lifecycle import ASSIGNMENTS
from .models import Assignment, AssignmentTransition, Campaign, Judgment, Questionnaire, Slot

# Submitted states: complete unless erased since.
HANDED_IN = (AssignmentState.SUBMITTED, AssignmentState.ACCEPTED, AssignmentState.REJECTED, AssignmentState.SURPLUS)

# Pairs of a participant's assignments that share an item, limited to those that hold or held a slot.
_TWICE = """
    SELECT one.participant_id, e.item_id FROM annotation_assignment one
    JOIN annotation_questionnaire q ON q.id = one.questionnaire_id
    JOIN annotation_campaign c ON c.id = q.campaign_id AND c.has_slots
    JOIN annotation_questionnaireitem e ON e.questionnaire_id = one.questionnaire_id
    GROUP BY one.participant_id, e.item_id HAVING count(*) > 1
"""
_OWN = """
    SELECT mine.id, r.id FROM annotation_slot slot
    JOIN annotation_assignment mine ON mine.id = slot.holder_id
    JOIN annotation_questionnaireitem e ON e.questionnaire_id = mine.questionnaire_id
    JOIN annotation_item i ON i.id = e.item_id
    LEFT JOIN annotation_pair p ON p.id = i.pair_id
    JOIN writing_response r ON r.id IN (i.response_id, p.a_id, p.b_id) AND r.participant_id = mine.participant_id
"""
_INCOMPLETE = """
    SELECT a.id, count(*) FROM annotation_assignment a
    JOIN annotation_questionnaire q ON q.id = a.questionnaire_id
    JOIN annotation_campaign c ON c.id = q.campaign_id AND c.has_slots
    JOIN annotation_questionnaireitem e ON e.questionnaire_id = q.id
    JOIN annotation_campaigndimension asked ON asked.campaign_id = c.id
    LEFT JOIN annotation_judgment j ON j.assignment_id = a.id AND j.item_id = e.item_id
        AND j.dimension_id = asked.dimension_id AND j.repeat = 0
    WHERE a.state = ANY (%s) AND j.id IS NULL
        -- Of what was erased at its writer's wish nothing is asked.
        AND NOT EXISTS (
            SELECT 1 FROM annotation_item i LEFT JOIN annotation_pair p ON p.id = i.pair_id
            JOIN writing_response r ON r.id IN (i.response_id, p.a_id, p.b_id)
            WHERE i.id = e.item_id AND r.erased_at IS NOT NULL
        )
    GROUP BY a.id
"""


# Assignments in progress have no sums; all others, those of their judgments.
_SUMS = """
    SELECT a.id FROM annotation_assignment a
    JOIN annotation_questionnaire q ON q.id = a.questionnaire_id
    LEFT JOIN annotation_judgment j ON j.assignment_id = a.id
    LEFT JOIN annotation_judgmentsums s ON s.assignment_id = a.id
    GROUP BY a.id, q.id, s.assignment_id
    HAVING (a.state = 'ASSIGNED') = (s.assignment_id IS NOT NULL)
        OR (s.campaign_id, s.state, s.is_included, s.stored, s.judgments) <> (
            q.campaign_id, a.state, a.is_included, count(j.id), count(j.id) FILTER (WHERE j.repeat = 0))
        OR s.id_sum <> coalesce(sum(j.id) FILTER (WHERE j.repeat = 0), 0)
        OR s.answer_sum <> coalesce(sum(j.id * j.value) FILTER (WHERE j.repeat = 0), 0)
    ORDER BY a.id
"""


def register_all() -> None:
    """Register the invariants with the command."""
    for each in (
        Invariant("annotation.k", "Each questionnaire has k slots, and at most k accepted judges.", k),
        Invariant(
            "annotation.slots", "Exactly the assignments that need a slot hold one of their questionnaire.", slots
        ),
        Invariant("annotation.twice", "Nobody is given a questionnaire or an item twice.", twice),
        Invariant("annotation.own", "Nobody judges a response that they wrote.", own_responses),
        Invariant(
            "annotation.assignments", "Each assignment's record leads to its state through valid transitions.", moves
        ),
        Invariant("annotation.complete", "Submitted work is complete.", complete),
        Invariant("annotation.leases", "Exactly the assignments in progress have a lease.", leases),
        Invariant("annotation.sums", "The kept sums are those of the judgments.", sums),
        Invariant("annotation.erased", "Erased assignments hold no slot and do not count.", erased),
    ):
        register(each)


def k(tally: Tally) -> None:
    """Count slots and accepted assignments of each assignable questionnaire. Drafts have no slots yet."""
    begun = Campaign.objects.filter(has_slots=True, opened_at__isnull=False)
    rows = Questionnaire.objects.filter(campaign__in=begun).annotate(
        n=Count("slots", distinct=True),
        accepted=Count("assignments", filter=Q(assignments__state=AssignmentState.ACCEPTED), distinct=True),
    )
    tally.saw(rows.count())
    for pk, n, accepted, k_of_campaign in (
        rows.values_list("pk", "n", "accepted", "campaign__k").order_by("pk").iterator()
    ):
        if n != k_of_campaign or accepted > k_of_campaign:
            tally.wrong(f"questionnaire {pk}: {n} slots, {accepted} accepted; k is {k_of_campaign}")


def slots(tally: Tally) -> None:
    """Compare states of assignments with holders of slots."""
    of_slots = Assignment.objects.filter(questionnaire__campaign__has_slots=True)
    tally.saw(of_slots.count())
    for pk in of_slots.filter(state__in=HOLDING, slot__isnull=True).order_by("pk").values_list("pk", flat=True):
        tally.wrong(f"assignment {pk}: it holds no slot, and needs one")
    held = Slot.objects.filter(holder__isnull=False).order_by("pk")
    for pk, holder in held.exclude(holder__state__in=HOLDING).values_list("pk", "holder"):
        tally.wrong(f"slot {pk}: held by assignment {holder}, which needs none")
    for pk, holder in held.exclude(holder__questionnaire=F("questionnaire")).values_list("pk", "holder"):
        tally.wrong(f"slot {pk}: held by assignment {holder} to another questionnaire")
    for pk in Slot.objects.exclude(questionnaire__campaign=F("campaign")).order_by("pk").values_list("pk", flat=True):
        tally.wrong(f"slot {pk}: its questionnaire is of another campaign")


def twice(tally: Tally) -> None:
    """Count each participant's assignments to each item and questionnaire."""
    groups: QuerySet[Assignment, Any] = Assignment.objects.values("questionnaire", "participant")
    for group in groups.annotate(n=Count("pk")).order_by():
        tally.saw()
        if group["n"] > 1:
            tally.wrong(f"participant {group['participant']}: {group['n']} times on one questionnaire")
    for participant, item in _rows(_TWICE):
        tally.wrong(f"participant {participant}: item {item} was given to them twice")


def own_responses(tally: Tally) -> None:
    """Compare judges with writers."""
    tally.saw(Slot.objects.filter(holder__isnull=False).count())
    for assignment, response in _rows(_OWN):
        tally.wrong(f"assignment {assignment}: its judge wrote response {response}")


def moves(tally: Tally) -> None:
    """Follow the transitions of each assignment. Imported ones have none."""
    rows = AssignmentTransition.objects.filter(assignment__questionnaire__campaign__has_slots=True)
    columns = ("assignment_id", "assignment__state", "before", "after")
    transitions = rows.order_by("assignment_id", "pk").values_list(*columns).iterator()
    for (assignment, state), group in groupby(transitions, key=lambda row: row[:2]):
        tally.saw()
        at = ""
        for _assignment, _state, before, after in group:
            if before != at or (before and after not in ASSIGNMENTS.allowed[before]):
                tally.wrong(f"assignment {assignment}: from {before or 'nothing'} to {after}, after {at or 'nothing'}")
            at = after
        if at != state:
            tally.wrong(f"assignment {assignment}: it is {state}, and its record ends with {at}")
    unrecorded = Assignment.objects.filter(questionnaire__campaign__has_slots=True, transitions__isnull=True)
    for pk in unrecorded.order_by("pk").values_list("pk", flat=True):
        tally.wrong(f"assignment {pk}: how it began is not recorded")


def complete(tally: Tally) -> None:
    """Look for submitted assignments with unanswered questions."""
    states = [str(state) for state in HANDED_IN]
    tally.saw(Assignment.objects.filter(questionnaire__campaign__has_slots=True, state__in=states).count())
    for assignment, n in _rows(_INCOMPLETE, [states]):
        tally.wrong(f"assignment {assignment}: handed in, and {n} questions have no answer")


def leases(tally: Tally) -> None:
    """Compare states with leases: an assignment in progress without a lease would never expire."""
    of_slots = Assignment.objects.filter(questionnaire__campaign__has_slots=True)
    tally.saw(of_slots.count())
    in_hand = Q(state=AssignmentState.ASSIGNED)
    wrong = of_slots.filter((in_hand & Q(lease_until__isnull=True)) | (~in_hand & Q(lease_until__isnull=False)))
    for pk, state in wrong.order_by("pk").values_list("pk", "state"):
        tally.wrong(f"assignment {pk}: it is {state}, and its lease does not go with that")


def sums(tally: Tally) -> None:
    """Sum the judgments of all assignments again."""
    tally.saw(Assignment.objects.count())
    for (pk,) in _rows(_SUMS):
        tally.wrong(f"assignment {pk}: the kept sums are not those of its judgments")


def erased(tally: Tally) -> None:
    """Look for erased data that exist or count again."""
    gone = Assignment.objects.filter(participant__erased_at__isnull=False)
    tally.saw(gone.count())
    held = Q(slot__isnull=False) | Q(is_included=True) | ~Q(comment="")
    for pk in gone.filter(held).order_by("pk").values_list("pk", flat=True):
        tally.wrong(f"assignment {pk}: its judge was erased, and it counts, holds a slot or has a comment")
    words = Judgment.objects.filter(assignment__in=gone).exclude(justification="")
    for pk in words.order_by("pk").values_list("pk", flat=True):
        tally.wrong(f"judgment {pk}: its judge was erased, and it has a justification")


def _rows(query: str, arguments: list[Any] | None = None) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query, arguments)
        return list(cursor.fetchall())
