"""How long somebody looks at each item, as the browser sums it up; what comes late or twice changes nothing."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NoReturn

from django.db import transaction
from django.db.models import Sum
from django.utils.translation import gettext as _
from psycopg.types.numeric import Int8

from crowdrag import prepared_statements

from ...models import Assignment, ItemTime
from . import answering, problems

LONGEST_VISIT_NAME: Final = 36
# So many openings of the page are told apart; nobody needs more.
MOST_VISITS: Final = 200
# Counts that no person reaches.
MOST: Final = 1_000_000
_COLUMNS: Final = ("items", "active", "away", "looks", "leaves", "changes")

# All of a report in one statement, as `answering.answer` does it. Rows are stored in the order of items.
_STORE = f"""
    WITH {answering.HELD}, told AS (
        SELECT * FROM unnest(%(items)s::bigint[], %(active)s::float8[], %(away)s::float8[], %(looks)s::int[],
            %(leaves)s::int[], %(changes)s::int[]) AS t (item, active, away, looks, leaves, changes)
    ), theirs AS (
        SELECT held.*, c.lease_minutes,
            greatest(coalesce(extract(epoch FROM %(now)s::timestamptz - assigned_at), 0), 0)::float8 AS longest
        FROM held
        JOIN annotation_questionnaire sheet ON sheet.id = held.questionnaire_id
        JOIN annotation_campaign c ON c.id = sheet.campaign_id
        WHERE NOT EXISTS (
            SELECT FROM told WHERE NOT EXISTS (
                SELECT FROM annotation_questionnaireitem entry
                WHERE entry.questionnaire_id = held.questionnaire_id AND entry.item_id = told.item
            )
        )
    ), stored AS (
        INSERT INTO annotation_itemtime
            (assignment_id, item_id, visit, active_seconds, away_seconds, looks, leaves, changes, first_at, last_at)
        SELECT theirs.id, item, %(visit)s::text, least(active, longest), least(away, longest), looks, leaves, changes,
            %(now)s, %(now)s
        FROM theirs, told
        WHERE (
            SELECT count(DISTINCT other.visit) FROM annotation_itemtime other
            WHERE other.assignment_id = %(assignment)s AND other.visit <> %(visit)s::text
        ) < %(most)s
        ORDER BY item
        ON CONFLICT (assignment_id, item_id, visit) DO UPDATE SET
            active_seconds = greatest(annotation_itemtime.active_seconds, excluded.active_seconds),
            away_seconds = greatest(annotation_itemtime.away_seconds, excluded.away_seconds),
            looks = greatest(annotation_itemtime.looks, excluded.looks),
            leaves = greatest(annotation_itemtime.leaves, excluded.leaves),
            changes = greatest(annotation_itemtime.changes, excluded.changes),
            last_at = greatest(annotation_itemtime.last_at, excluded.last_at)
    )
    SELECT state, lease_until, lease_minutes FROM theirs
"""  # noqa: S608 -- constants


def time(*, assignment: Assignment, visit: str, times: Sequence[Mapping[str, Any]], now: datetime) -> Assignment:
    """Store the sums of one visit (one opening of the page) so far, and renew the lease.

    Nobody looks longer than the questionnaire has been theirs: more is cut off.

    Raises
    ------
    BadAnswer, HandedIn, LeftStudy
    """
    if not isinstance(visit, str) or not visit or len(visit) > LONGEST_VISIT_NAME or visit != answering.storable(visit):
        raise problems.BadAnswer(_("A visit has a name of at most %(n)s characters.") % {"n": LONGEST_VISIT_NAME})
    if not isinstance(times, Sequence):
        raise problems.BadAnswer(_("Times are told item by item."))
    # The last one counts, where an item is told of twice.
    rows = dict(_told(each) for each in times)
    columns = zip(*((item, *numbers) for item, numbers in rows.items()), strict=True) if rows else ((),) * len(_COLUMNS)
    arrays = {name: prepared_statements.array(values) for name, values in zip(_COLUMNS, columns, strict=True)}
    asked = {**answering.asks(assignment), **arrays, "visit": visit, "most": Int8(MOST_VISITS), "now": now}
    found = prepared_statements.row(_STORE, asked)
    if found is None:
        _refuse(assignment)
    state, lease_until, minutes = found
    return answering.as_it_is(assignment, state, lease_until, minutes, now)


@transaction.atomic
def _refuse(assignment: Assignment) -> NoReturn:
    """Say why a report was not stored."""
    answering.held(assignment)
    raise problems.BadAnswer(_("Times are told of items of this questionnaire."))


def active_seconds(assignment: Assignment) -> float | None:
    """Return how long somebody looked at the items, over all visits; None where nothing was told."""
    seconds: float | None = ItemTime.objects.filter(assignment=assignment).aggregate(sum=Sum("active_seconds"))["sum"]
    return seconds


def _told(each: Any) -> tuple[int, tuple[float | int, ...]]:
    item = each.get("item") if isinstance(each, Mapping) else None
    if type(item) is not int or not 0 < item < 2**63:
        raise problems.BadAnswer(_("Times are told of items of this questionnaire."))
    seconds = [_number(each.get(name, 0)) for name in ("active", "away")]
    counts = [int(min(_number(each.get(name, 0)), MOST)) for name in ("looks", "leaves", "changes")]
    return item, (*seconds, *counts)


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise problems.BadAnswer(_("Times and counts are numbers, and not negative."))
    # An integer may be too large for a float.
    return float(value) if value <= MOST else (math.inf if value == math.inf else float(MOST) * 1000)
