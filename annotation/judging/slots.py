"""Slots: k for each questionnaire, each free or held by one assignment (annotation/judging/models.py).

Who holds a slot is one of the k people whose judgments count. `ensure` and `extend` make slots, `claimable` finds the
next free one for a person, `take` gives one to an assignment and `let_go` takes it away. None is ever removed.

Whoever says that none is free has waited for those that others were reaching for: their transactions may fail. Who
waits for a slot holds no slot.
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

# So many ranks belong to each questionnaire: one is filled before the next one begins.
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
    """A campaign was to ask for fewer judgments than it does."""

    def __init__(self, k: int):
        self.k = k
        super().__init__(
            _("Each questionnaire is judged by %(k)s people. You can increase this number but not reduce it.")
            % {"k": k}
        )


@transaction.atomic
def ensure(*, campaign: Campaign, now: datetime) -> int:
    """Make the slots that are missing, k for each questionnaire; return how many were made. Again it makes none."""
    held = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    if not held.has_slots:
        return 0
    with connection.cursor() as cursor:
        cursor.execute(_ENSURE, {"ranks": RANKS, "k": held.k, "campaign": held.pk})
        return int(cursor.rowcount)


@transaction.atomic
def extend(*, campaign: Campaign, k: int | None = None, now: datetime) -> int:
    """Ask for more judgments of each questionnaire, k in all, and make slots for them; return how many were made.

    Raises
    ------
    FewerSlots
        if k is less than what the campaign asks for: people may hold those slots.
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
    """Return how many slots nobody holds."""
    return Slot.objects.filter(campaign=campaign).open().count()


def count_taken(campaign: Campaign) -> int:
    """Return how many slots somebody holds."""
    return Slot.objects.filter(campaign=campaign, holder__isnull=False).count()


def is_full(campaign: Campaign) -> bool:
    """Say whether nobody new gets anything soon: no slot is free, and none is held by somebody who still judges."""
    slots = Slot.objects.filter(campaign=campaign)
    return not slots.filter(Q(holder__isnull=True) | Q(holder__state=AssignmentState.ASSIGNED)).exists()


def lock_free_slot(*, campaign: int, excluded: list[int]) -> tuple[int, int] | None:
    """Hold the next free slot but of these questionnaires, until the transaction ends; None only when there is none.

    The slot's key comes with that of its questionnaire.
    """
    while True:
        if (slot := _find(_TAKE, campaign, excluded)) is not None:
            return slot
        # Those that others hold may come back yet: wait for them, one after the other.
        if (other := _find(_CLAIMABLE, campaign, excluded)) is None:
            return None
        _wait_for(other[0])


def has_claimable(*, campaign: int, excluded: list[int]) -> bool:
    """Say whether there is such a slot at this moment; only `claimable` can promise it."""
    return _find(_CLAIMABLE, campaign, excluded) is not None


def take(assignment: Assignment) -> bool:
    """Give an assignment a slot of its questionnaire; False if none is free. The caller holds the assignment."""
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
    """Say whether one of these questionnaires has a slot that nobody holds at this moment."""
    return Slot.objects.filter(questionnaire__in=questionnaires).open().exists()


def assign(slot: int, assignment: Assignment) -> None:
    """Write an assignment into a slot that the caller has locked."""
    with prepared_statements.cursor() as cursor:
        cursor.execute(_HOLD, {"slot": Int8(slot), "holder": Int8(assignment.pk)})


def release(assignment: Assignment) -> None:
    """Make the slot free that an assignment holds, if it does."""
    Slot.objects.filter(holder=assignment).update(holder=None)


def of_questionnaire(questionnaire: Questionnaire | int) -> SlotQuerySet:
    """Return the slots of a questionnaire."""
    return Slot.objects.filter(questionnaire=questionnaire)


def _find(query: str, campaign: int, excluded: list[int]) -> tuple[int, int] | None:
    # As the database writes an array: one type, empty or not.
    array = "{" + ",".join(map(str, excluded)) + "}"
    with prepared_statements.cursor() as cursor:
        cursor.execute(query, {"campaign": Int8(campaign), "excluded": array})
        row = cursor.fetchone()
    return row and (int(row[0]), int(row[1]))


def _wait_for(slot: int) -> None:
    """Wait until nobody holds a slot's row, and hold nothing: two who wait must not hold what the other waits for."""
    savepoint = transaction.savepoint()
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM annotation_slot WHERE id = %s FOR SHARE", [slot])
    transaction.savepoint_rollback(savepoint)
