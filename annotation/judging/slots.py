"""Slots: k for each questionnaire, each free or held by one assignment (annotation/judging/models.py).

The holders of a questionnaire's slots are the k people whose judgments count. `ensure` and `extend` create slots,
`lock_free_slot` finds the next free one for a participant, `take` gives one to an assignment and `release` frees it.
Slots are never deleted.

Before reporting that no slot is free, functions wait for slots that other transactions have locked, because these may
roll back. A transaction that waits for a slot holds no slot.
"""

from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _
from psycopg.types.numeric import Int8

from crowdrag import prepared_statements

from ..enums import AssignmentState
from ..models import Assignment, Campaign, Questionnaire, Slot
from .models import SlotQuerySet

# Number of ranks per questionnaire, so that one questionnaire is filled before the next begins.
RANKS = 1000

_ENSURE = """
    INSERT INTO annotation_slot (campaign_id, questionnaire_id, number, rank)
    SELECT q.campaign_id, q.id, n, coalesce(q.position, 0)::bigint * %(ranks)s + n
    FROM annotation_questionnaire q CROSS JOIN generate_series(0, %(k)s - 1) AS n
    WHERE q.campaign_id = %(campaign)s
    ORDER BY 4, 2
    ON CONFLICT (questionnaire_id, number) DO NOTHING
"""

_CLAIMABLE = """
    SELECT id, questionnaire_id FROM annotation_slot
    WHERE campaign_id = %(campaign)s AND holder_id IS NULL AND questionnaire_id <> ALL (%(excluded)s::bigint[])
    ORDER BY rank, id LIMIT 1
"""
_TAKE = _CLAIMABLE + " FOR UPDATE SKIP LOCKED"
_HOLD = "UPDATE annotation_slot SET holder_id = %(holder)s WHERE id = %(slot)s"


class FewerSlots(ValueError):  # noqa: N818 -- it says what was asked for
    """A campaign's number of judgments per questionnaire cannot be reduced."""

    def __init__(self, k: int):
        self.k = k
        super().__init__(
            _("Each questionnaire is judged by %(k)s people. You can increase this number but not reduce it.")
            % {"k": k}
        )


@transaction.atomic
def ensure(*, campaign: Campaign, now: datetime) -> int:
    """Create missing slots, k for each questionnaire; return the number of new ones. Idempotent."""
    held = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    if not held.has_slots:
        return 0
    with connection.cursor() as cursor:
        cursor.execute(_ENSURE, {"ranks": RANKS, "k": held.k, "campaign": held.pk})
        return int(cursor.rowcount)


@transaction.atomic
def extend(*, campaign: Campaign, k: int | None = None, now: datetime) -> int:
    """Raise the number of judgments per questionnaire to `k` and create slots; return the number of new ones.

    Raises
    ------
    FewerSlots
        if k is less than now, because people may hold those slots.
    """
    held = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    if k is not None and k != held.k:
        if k < held.k:
            raise FewerSlots(held.k)
        held.k = k
        held.save(update_fields=["k"])
    campaign.k = held.k
    return ensure(campaign=held, now=now)


def count_free(campaign: Campaign) -> int:
    """Return the number of free slots."""
    return Slot.objects.filter(campaign=campaign).open().count()


def count_taken(campaign: Campaign) -> int:
    """Return the number of held slots."""
    return Slot.objects.filter(campaign=campaign, holder__isnull=False).count()


def is_full(campaign: Campaign) -> bool:
    """Return whether newcomers get nothing for now: no slot is free or held by somebody who is still judging."""
    return not unfinished_slots().filter(campaign=campaign).exists()


def unfinished_slots() -> QuerySet[Slot]:
    """Return the slots that are free or held by somebody who is still judging."""
    in_work = Assignment.objects.filter(state=AssignmentState.ASSIGNED)
    return Slot.objects.filter(Q(holder__isnull=True) | Q(holder__in=in_work.values("pk")))


def lock_free_slot(*, campaign: int, excluded: list[int]) -> tuple[int, int] | None:
    """Lock the next free slot outside the excluded questionnaires, until the transaction ends; None if there is none.

    Return the keys of the slot and of its questionnaire.
    """
    while True:
        if (slot := _find(_TAKE, campaign, excluded)) is not None:
            return slot
        # Slots locked by other transactions may become free again: wait for them one by one.
        if (other := _find(_CLAIMABLE, campaign, excluded)) is None:
            return None
        _wait_for(other[0])


def has_claimable(*, campaign: int, excluded: list[int]) -> bool:
    """Return whether there is a free slot at this moment. Only `lock_free_slot` can guarantee it."""
    return _find(_CLAIMABLE, campaign, excluded) is not None


def take(assignment: Assignment) -> bool:
    """Give an assignment a slot of its questionnaire; False if none is free. The caller has locked the assignment."""
    while True:
        open_ = of_questionnaire(assignment.questionnaire_id).open().order_by("rank", "id")
        slot = open_.select_for_update(skip_locked=True).values_list("pk", flat=True).first()
        if slot is not None:
            assign(slot, assignment)
            return True
        if (other := open_.values_list("pk", flat=True).first()) is None:
            return False
        _wait_for(other)


def has_free(*, questionnaires: "QuerySet[Any, Any]") -> bool:
    """Return whether one of these questionnaires has a free slot at this moment."""
    return Slot.objects.filter(questionnaire__in=questionnaires).open().exists()


def assign(slot: int, assignment: Assignment) -> None:
    """Store an assignment as holder of a slot that the caller has locked."""
    with prepared_statements.cursor() as cursor:
        cursor.execute(_HOLD, {"slot": Int8(slot), "holder": Int8(assignment.pk)})


def release(assignment: Assignment) -> None:
    """Free the slot that an assignment holds, if any."""
    Slot.objects.filter(holder=assignment).update(holder=None)


def of_questionnaire(questionnaire: Questionnaire | int) -> SlotQuerySet:
    """Return the slots of a questionnaire."""
    return Slot.objects.filter(questionnaire=questionnaire)


def _find(query: str, campaign: int, excluded: list[int]) -> tuple[int, int] | None:
    # An array literal as text, so that the prepared statement has the same type for empty lists.
    array = "{" + ",".join(map(str, excluded)) + "}"
    with prepared_statements.cursor() as cursor:
        cursor.execute(query, {"campaign": Int8(campaign), "excluded": array})
        row = cursor.fetchone()
    return row and (int(row[0]), int(row[1]))


def _wait_for(slot: int) -> None:
    """Wait until the row of a slot is unlocked. Keep no lock, so that waiting transactions cannot deadlock."""
    savepoint = transaction.savepoint()
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM annotation_slot WHERE id = %s FOR SHARE", [slot])
    transaction.savepoint_rollback(savepoint)
