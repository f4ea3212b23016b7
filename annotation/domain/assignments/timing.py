"""How long somebody looks at each item, as the browser sums it up; what comes late or twice changes nothing."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from django.db import connection, transaction
from django.db.models import Sum
from django.utils.translation import gettext as _

from ...models import Assignment, ItemTime, QuestionnaireItem
from . import answering, holding, problems

LONGEST_VISIT_NAME: Final = 36
# So many openings of the page are told apart; nobody needs more.
MOST_VISITS: Final = 200
# Counts that no person reaches.
MOST: Final = 1_000_000

_UPSERT = """
    INSERT INTO annotation_itemtime
        (assignment_id, item_id, visit, active_seconds, away_seconds, looks, leaves, changes, first_at, last_at)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
    ON CONFLICT (assignment_id, item_id, visit) DO UPDATE SET
        active_seconds = greatest(annotation_itemtime.active_seconds, excluded.active_seconds),
        away_seconds = greatest(annotation_itemtime.away_seconds, excluded.away_seconds),
        looks = greatest(annotation_itemtime.looks, excluded.looks),
        leaves = greatest(annotation_itemtime.leaves, excluded.leaves),
        changes = greatest(annotation_itemtime.changes, excluded.changes),
        last_at = greatest(annotation_itemtime.last_at, excluded.last_at)
"""


@transaction.atomic
def time(*, assignment: Assignment, visit: str, times: Sequence[Mapping[str, Any]], now: datetime) -> Assignment:
    """Store the sums of one visit (one opening of the page) so far, and renew the lease.

    Nobody looks longer than the questionnaire has been theirs: more is cut off.

    Raises
    ------
    BadAnswer, HandedIn, LeftStudy
    """
    if not isinstance(visit, str) or not visit or len(visit) > LONGEST_VISIT_NAME or visit != answering.storable(visit):
        raise problems.BadAnswer(_("A visit has a name of at most %(n)s characters.") % {"n": LONGEST_VISIT_NAME})
    assignment = answering.held(assignment)
    entries = QuestionnaireItem.objects.filter(questionnaire=assignment.questionnaire_id)
    items = set(entries.values_list("item", flat=True))
    longest = max((now - (assignment.assigned_at or now)).total_seconds(), 0.0)
    rows: dict[int, tuple[Any, ...]] = {}
    if not isinstance(times, Sequence):
        raise problems.BadAnswer(_("Times are told item by item."))
    for each in times:
        item, numbers = _told(each, items, longest)
        rows[item] = (assignment.pk, item, visit, *numbers, now, now)
    visits = ItemTime.objects.filter(assignment=assignment).exclude(visit=visit).values("visit").distinct()
    if rows and visits.count() < MOST_VISITS:
        with connection.cursor() as cursor:
            # In the order of items: two reports at once wait for each other, and do not block each other.
            cursor.executemany(_UPSERT, [rows[item] for item in sorted(rows)])
    holding.renew(assignment, now)
    return assignment


def active_seconds(assignment: Assignment) -> float | None:
    """Return how long somebody looked at the items, over all visits; None where nothing was told."""
    seconds: float | None = ItemTime.objects.filter(assignment=assignment).aggregate(sum=Sum("active_seconds"))["sum"]
    return seconds


def _told(each: Any, items: set[int], longest: float) -> tuple[int, tuple[float | int, ...]]:
    item = each.get("item") if isinstance(each, Mapping) else None
    if type(item) is not int or item not in items:
        raise problems.BadAnswer(_("Times are told of items of this questionnaire."))
    seconds = [_number(each.get(name, 0)) for name in ("active", "away")]
    counts = [int(min(_number(each.get(name, 0)), MOST)) for name in ("looks", "leaves", "changes")]
    return item, (*(min(value, longest) for value in seconds), *counts)


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise problems.BadAnswer(_("Times and counts are numbers, and not negative."))
    # An integer may be too large for a float.
    return float(value) if value <= MOST else (math.inf if value == math.inf else float(MOST) * 1000)
