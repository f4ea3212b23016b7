"""Places: k for each questionnaire of a campaign, free or held by one assignment (annotation/models/place.py).

Who holds a place is one of the k people whose judgments count. `ensure` and `extend` make places, `claimable` finds the
next free one for a person, `take` gives one to an assignment and `let_go` takes it away. None is ever removed.

Whoever says that none is free has waited for those that others were reaching for: their transactions may fail. Who
waits for a place holds no place.
"""

from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.utils.translation import gettext as _

from ..models import Assignment, Campaign, Place, Questionnaire
from ..models.place import PlaceQuerySet

# So many ranks belong to each questionnaire: one is filled before the next one begins.
RANKS = 1000

_ENSURE = """
    INSERT INTO annotation_place (campaign_id, questionnaire_id, number, rank)
    SELECT q.campaign_id, q.id, n, coalesce(q.position, 0)::bigint * %(ranks)s + n
    FROM annotation_questionnaire q CROSS JOIN generate_series(0, %(k)s - 1) AS n
    WHERE q.campaign_id = %(campaign)s
    ORDER BY 4, 2
    ON CONFLICT (questionnaire_id, number) DO NOTHING
"""

# The next place that somebody may hold. The questionnaires that they may not get are put together once, as an array:
# those that they were given before or that share an item with one of these, and those with a response that they wrote.
# So it takes the same time however many places are free.
_CLAIMABLE = """
    SELECT id FROM annotation_place
    WHERE campaign_id = %(campaign)s AND holder_id IS NULL AND questionnaire_id <> ALL (ARRAY(
        SELECT f.questionnaire_id FROM annotation_assignment mine
            JOIN annotation_questionnaire given ON given.id = mine.questionnaire_id
                AND given.campaign_id = %(campaign)s
            JOIN annotation_questionnaireitem e ON e.questionnaire_id = given.id
            JOIN annotation_questionnaireitem f ON f.item_id = e.item_id
            WHERE mine.participant_id = %(participant)s
        UNION
        SELECT mine.questionnaire_id FROM annotation_assignment mine WHERE mine.participant_id = %(participant)s
        UNION
        SELECT e.questionnaire_id FROM writing_response own
            JOIN annotation_item i ON i.response_id = own.id AND i.campaign_id = %(campaign)s
            JOIN annotation_questionnaireitem e ON e.item_id = i.id
            WHERE own.participant_id = %(participant)s
        UNION
        SELECT e.questionnaire_id FROM writing_response own
            JOIN annotation_pair p ON own.id IN (p.a_id, p.b_id)
            JOIN annotation_item i ON i.pair_id = p.id AND i.campaign_id = %(campaign)s
            JOIN annotation_questionnaireitem e ON e.item_id = i.id
            WHERE own.participant_id = %(participant)s
    ))
"""
_FIRST = _CLAIMABLE + " ORDER BY rank, id LIMIT 1"


class FewerPlaces(ValueError):  # noqa: N818 -- it says what was asked for
    """A campaign was to ask for fewer judgments than it does."""

    def __init__(self, k: int):
        self.k = k
        super().__init__(
            _("Each questionnaire is judged by %(k)s people: that number can grow, and not shrink.") % {"k": k}
        )


@transaction.atomic
def ensure(*, campaign: Campaign, now: datetime) -> int:
    """Make the places that are missing, k for each questionnaire; return how many were made. Again it makes none."""
    held = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    if not held.has_places:
        return 0
    with connection.cursor() as cursor:
        cursor.execute(_ENSURE, {"ranks": RANKS, "k": held.k, "campaign": held.pk})
        return int(cursor.rowcount)


@transaction.atomic
def extend(*, campaign: Campaign, k: int | None = None, now: datetime) -> int:
    """Ask for more judgments of each questionnaire, k in all, and make places for them; return how many were made.

    Raises
    ------
    FewerPlaces
        if k is less than what the campaign asks for: people may hold those places.
    """
    held = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    if k is not None and k != held.k:
        if k < held.k:
            raise FewerPlaces(held.k)
        held.k = k
        held.save(update_fields=["k"])
    campaign.k = held.k
    return ensure(campaign=held, now=now)


def free(campaign: Campaign) -> int:
    """Return how many places nobody holds."""
    return Place.objects.filter(campaign=campaign).open().count()


def held(campaign: Campaign) -> int:
    """Return how many places somebody holds."""
    return Place.objects.filter(campaign=campaign, holder__isnull=False).count()


def claimable(*, campaign: int, participant: int) -> int | None:
    """Hold the next place that somebody may take, until the transaction ends; None only when there is none."""
    arguments = {"campaign": campaign, "participant": participant}
    with connection.cursor() as cursor:
        while True:
            if (found := _one(cursor, _FIRST + " FOR UPDATE SKIP LOCKED", arguments)) is not None:
                return found
            # Those that others hold may come back yet: wait for them, one after the other.
            if (other := _one(cursor, _CLAIMABLE + " ORDER BY random() LIMIT 1", arguments)) is None:
                return None
            _wait_for(other)


def is_claimable(*, campaign: int, participant: int) -> bool:
    """Say whether there is a place that somebody may take at this moment; only `claimable` can promise it."""
    with connection.cursor() as cursor:
        return _one(cursor, _FIRST, {"campaign": campaign, "participant": participant}) is not None


def take(assignment: Assignment) -> bool:
    """Give an assignment a place of its questionnaire; False if none is free. The caller holds the assignment."""
    while True:
        free_ = of_questionnaire(assignment.questionnaire_id).open().order_by("rank", "id")
        place = free_.select_for_update(skip_locked=True).values_list("pk", flat=True).first()
        if place is not None:
            hold(place, assignment)
            return True
        if (other := free_.values_list("pk", flat=True).first()) is None:
            return False
        _wait_for(other)


def hold(place: int, assignment: Assignment) -> None:
    """Write an assignment into a place that the caller has locked."""
    Place.objects.filter(pk=place).update(holder=assignment)


def let_go(assignment: Assignment) -> None:
    """Make the place free that an assignment holds, if it does."""
    Place.objects.filter(holder=assignment).update(holder=None)


def of_questionnaire(questionnaire: Questionnaire | int) -> PlaceQuerySet:
    """Return the places of a questionnaire."""
    return Place.objects.filter(questionnaire=questionnaire)


def _one(cursor: Any, query: str, arguments: dict[str, int]) -> int | None:
    cursor.execute(query, arguments)
    found = cursor.fetchone()
    return found and int(found[0])


def _wait_for(place: int) -> None:
    """Wait until nobody holds a place's row, and hold nothing: two who wait must not hold what the other waits for."""
    savepoint = transaction.savepoint()
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM annotation_place WHERE id = %s FOR SHARE", [place])
    transaction.savepoint_rollback(savepoint)
