"""Store answers one by one. They can be changed until the questionnaire is submitted.

Also store how long the participant looks at each item, as summed by the browser. Late or repeated reports change
nothing.
"""

import copy
import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NoReturn

from django.db import transaction
from django.db.models import Sum
from django.utils.translation import gettext as _
from psycopg.types.numeric import Int8

from crowdrag import prepared_statements
from crowdrag.assignments.lifecycle import storable_text
from crowdrag.assignments.problems import LeftStudy
from crowdrag.studies.access import VISITOR

from ..enums import AssignmentState
from ..models import (
    Assignment,
    AttentionCheck,
    CampaignDimension,
    CheckAnswer,
    Dimension,
    ItemConfidence,
    ItemTime,
    Judgment,
    QuestionnaireItem,
)
from . import leases, problems
from .lifecycle import ASSIGNMENTS

# States that accept answers. Late participants may finish and submit.
TAKES: Final = frozenset({AssignmentState.ASSIGNED, AssignmentState.TIMED_OUT, AssignmentState.RETURNED})
LONGEST_JUSTIFICATION: Final = 10_000
# Limits of the database columns.
MOST_REVISIONS: Final = 2_147_483_647

# Most answers are new or replace the previous revision, without conflict. One prepared statement stores them and
# commits by itself. It locks the assignment's row: a statement that had to wait sees the newest version, and finds no
# row if the assignment was submitted, taken back or erased (no external_id) meanwhile. Other cases take the slow path.
HELD: Final = """
    held AS (
        SELECT mine.id, mine.state, mine.lease_until, mine.assigned_at, mine.questionnaire_id
        FROM annotation_assignment mine
        WHERE mine.id = %(assignment)s AND mine.external_id = %(external_id)s
            AND mine.state = ANY(%(takes)s::text[])
            AND (
                SELECT person.withdrawn_at IS NULL AND person.erased_at IS NULL
                FROM studies_participant person WHERE person.id = mine.participant_id
            )
        FOR NO KEY UPDATE OF mine
    )"""
# The same, found by the address and the session of a request: such a statement is all that an answer needs.
HELD_BY_VISITOR: Final = f"""
    {VISITOR}, held AS (
        SELECT mine.id, mine.state, mine.lease_until, mine.assigned_at, mine.questionnaire_id
        FROM visitor JOIN annotation_assignment mine ON mine.participant_id = visitor.id
        JOIN annotation_questionnaire asked_for ON asked_for.id = mine.questionnaire_id
        JOIN annotation_campaign open_one ON open_one.id = asked_for.campaign_id AND open_one.has_slots
        WHERE mine.external_id = %(external_id)s AND open_one.id = %(campaign)s
            AND mine.state = ANY(%(takes)s::text[])
        FOR NO KEY UPDATE OF mine
    )"""  # noqa: S608 -- constants
_ASKED: Final = """
    asked AS (
        SELECT held.*, c.lease_minutes FROM held
        JOIN annotation_questionnaire sheet ON sheet.id = held.questionnaire_id
        JOIN annotation_campaign c ON c.id = sheet.campaign_id
        WHERE EXISTS (
            SELECT FROM annotation_questionnaireitem entry
            WHERE entry.questionnaire_id = sheet.id AND entry.item_id = %(item)s
        ) AND EXISTS (
            SELECT FROM annotation_campaigndimension chosen JOIN annotation_dimension d ON d.id = chosen.dimension_id
            WHERE chosen.campaign_id = c.id AND chosen.dimension_id = %(dimension)s
                AND d.options @> jsonb_build_array(jsonb_build_object('value', %(value)s))
        )
    )"""
_STORED: Final = "SELECT stored.id, asked.id, state, lease_until, lease_minutes FROM stored, asked"
_FIRST: Final = f"""
    {_ASKED}, stored AS (
        INSERT INTO annotation_judgment (assignment_id, item_id, dimension_id, value, repeat, justification, judged_at,
            revision, external_id)
        SELECT id, %(item)s, %(dimension)s, %(value)s, 0, %(justification)s, %(now)s, 1, '' FROM asked
        ON CONFLICT (assignment_id, item_id, dimension_id, repeat) DO NOTHING
        RETURNING id
    )
    {_STORED}
"""  # noqa: S608 -- constants
_NEXT: Final = f"""
    {_ASKED}, stored AS (
        UPDATE annotation_judgment given
        SET value = %(value)s, justification = %(justification)s, judged_at = %(now)s, revision = %(revision)s
        FROM asked
        WHERE given.assignment_id = asked.id AND given.item_id = %(item)s AND given.dimension_id = %(dimension)s
            AND given.repeat = 0 AND given.revision = %(revision)s - 1
        RETURNING given.id
    )
    {_STORED}
"""  # noqa: S608 -- constants
_ANSWER: Final = {held: (f"WITH {held}, {_FIRST}", f"WITH {held}, {_NEXT}") for held in (HELD, HELD_BY_VISITOR)}
TAKEN: Final = "{" + ",".join(sorted(state.value for state in TAKES)) + "}"


def answer(
    *,
    assignment: Assignment,
    item: int,
    dimension: int,
    value: int,
    justification: str = "",
    revision: int,
    now: datetime,
) -> Judgment:
    """Store an answer to one dimension of one item, and renew the lease.

    Raises
    ------
    OtherAnswer
        if the stored answer is not the one that this answer replaces.
    BadAnswer
        if it answers no question of the questionnaire.
    HandedIn, LeftStudy
        if answers are no longer accepted.
    """
    justification = storable_text(justification).strip()
    if len(justification) > LONGEST_JUSTIFICATION:
        raise problems.BadAnswer(
            _("Your reason is too long. It can have at most %(n)s characters.") % {"n": LONGEST_JUSTIFICATION}
        )
    _check_revision(revision)
    row = _store(HELD, held_parameters(assignment), item, dimension, value, justification, revision, now)
    if row is None:
        return _look_closer(assignment, item, dimension, value, justification, revision, now)
    key, _assignment, state, lease_until, minutes = row
    return Judgment(
        pk=key, assignment=as_it_is(assignment, state, lease_until, minutes, now), item_id=item, dimension_id=dimension,
        value=value, revision=revision, justification=justification, judged_at=now,
    )  # fmt: skip


def answer_at_once(
    *, visitor: dict[str, Any], item: int, dimension: int, value: int, justification: str, revision: int
) -> Assignment | None:
    """Store an answer by the statement that also checks session and participant; return the assignment, lease renewed.

    Return None if nothing was stored. Then `answer` stores it or tells why not. `visitor` has the parameters of
    `HELD_BY_VISITOR`.
    """
    justification = storable_text(justification).strip()
    if len(justification) > LONGEST_JUSTIFICATION or not 1 <= revision <= MOST_REVISIONS:
        return None
    now = visitor["now"]
    held = visitor | {"takes": TAKEN}
    row = _store(HELD_BY_VISITOR, held, item, dimension, value, justification, revision, now)
    if row is None:
        return None
    _key, key, state, lease_until, minutes = row
    assignment = Assignment(pk=key, external_id=visitor["external_id"])
    return as_it_is(assignment, state, lease_until, minutes, now)


def _store(
    held: str, found_by: dict[str, Any], item: int, dimension: int, value: int, justification: str, revision: int,
    now: datetime,
) -> prepared_statements.Row | None:  # fmt: skip
    """Store an answer with a prepared statement; return None if that fails for any reason."""
    numbers = {"item": item, "dimension": dimension, "value": value, "revision": revision}
    if not all(type(number) is int and -(2**31) <= number < 2**63 for number in numbers.values()):
        return None
    content = {"justification": justification, "now": now}
    parameters = {**found_by, **{name: Int8(number) for name, number in numbers.items()}, **content}
    first, following = _ANSWER[held]
    return prepared_statements.first_row(first if revision == 1 else following, parameters)


def held_parameters(assignment: Assignment) -> dict[str, Any]:
    """Return the parameters of `HELD`."""
    return {"assignment": Int8(assignment.pk), "external_id": assignment.external_id, "takes": TAKEN}


def as_it_is(
    assignment: Assignment, state: str, lease_until: datetime | None, minutes: int, now: datetime
) -> Assignment:
    """Return an assignment with the state that a statement found, and renew its lease. Call it after the commit."""
    unchanged = copy.copy(assignment)
    unchanged.state, unchanged.lease_until = state, lease_until
    leases.renew(unchanged, now, minutes=minutes)
    return unchanged


@transaction.atomic
def _look_closer(
    assignment: Assignment, item: int, dimension: int, value: int, justification: str, revision: int, now: datetime
) -> Judgment:
    """Store an answer the slow way, or raise why it cannot be stored. A repeated answer is not stored again."""
    assignment = lock_for_answers(assignment)
    _check_question(assignment, item, dimension, value)
    known = Judgment.objects.filter(assignment=assignment, item=item, dimension=dimension, repeat=0).first()
    content = {"value": value, "justification": justification}
    if known is None:
        known = Judgment.objects.create(
            assignment=assignment, item_id=item, dimension_id=dimension, judged_at=now, **content
        )
    elif _replaces(known, content, revision):
        _change(known, content, revision, judged_at=now)
    leases.renew(assignment, now)
    return known


@transaction.atomic
def answer_check(*, assignment: Assignment, check: int, value: int, revision: int, now: datetime) -> CheckAnswer:
    """Store the answer to an attention check, and renew the lease. Raise the same errors as `answer`."""
    _check_revision(revision)
    assignment = lock_for_answers(assignment)
    check_asked = AttentionCheck.objects.filter(pk=_key(check), questionnaire=assignment.questionnaire_id).first()
    if check_asked is None or not _is_option(value, check_asked.options):
        raise problems.BadAnswer(_("This answer does not belong to any question in this questionnaire."))
    known = CheckAnswer.objects.filter(assignment=assignment, check_asked=check_asked).first()
    content = {"value": value}
    if known is None:
        known = CheckAnswer.objects.create(assignment=assignment, check_asked=check_asked, answered_at=now, **content)
    elif _replaces(known, content, revision):
        _change(known, content, revision, answered_at=now)
    leases.renew(assignment, now)
    return known


@transaction.atomic
def state_confidence(
    *, assignment: Assignment, item: int, is_unsure: bool, revision: int, now: datetime
) -> ItemConfidence:
    """Store whether a judge is unsure about an item, and renew the lease. Raise the same errors as `answer`."""
    _check_revision(revision)
    assignment = lock_for_answers(assignment)
    if not QuestionnaireItem.objects.filter(questionnaire=assignment.questionnaire_id, item=_key(item)).exists():
        raise problems.BadAnswer(_("This item is not in your questionnaire."))
    known = ItemConfidence.objects.filter(assignment=assignment, item=item).first()
    content = {"is_unsure": is_unsure}
    if known is None:
        known = ItemConfidence.objects.create(assignment=assignment, item_id=item, stated_at=now, **content)
    elif _replaces(known, content, revision):
        _change(known, content, revision, stated_at=now)
    leases.renew(assignment, now)
    return known


def lock_for_answers(assignment: Assignment) -> Assignment:
    """Return the current version of an assignment that accepts answers, locked until the transaction ends.

    The participant is not locked. Submission and withdrawal lock the assignment too, so no answer is stored after them.
    """
    assignment = ASSIGNMENTS.lock_alone(assignment.pk)
    if assignment.state not in TAKES:
        raise problems.HandedIn(assignment, assignment.state)
    # Read after the lock is acquired: the participant may have left in the meantime.
    assignment.participant.refresh_from_db(fields=["withdrawn_at", "erased_at"])
    if assignment.participant.withdrawn_at or assignment.participant.erased_at:
        raise LeftStudy(Assignment)
    return assignment


def _check_question(assignment: Assignment, item: int, dimension: int, value: int) -> None:
    is_known = QuestionnaireItem.objects.filter(questionnaire=assignment.questionnaire_id, item=_key(item)).exists()
    campaign = assignment.questionnaire.campaign_id
    options = Dimension.objects.filter(
        pk__in=CampaignDimension.objects.filter(campaign=campaign, dimension=_key(dimension)).values("dimension")
    ).values_list("options", flat=True)
    if not is_known or not any(_is_option(value, each) for each in options):
        raise problems.BadAnswer(_("This answer does not belong to any question in this questionnaire."))


def _is_option(value: object, options: list[dict[str, Any]]) -> bool:
    # `type(...) is int`, because True == 1 in Python.
    return type(value) is int and any(option["value"] == value for option in options)


def _key(key: object) -> int:
    """Return a key in the range of the database; 0 is never used."""
    return key if type(key) is int and 0 < key < 2**63 else 0


def _check_revision(revision: object) -> None:
    if type(revision) is not int or not 1 <= revision <= MOST_REVISIONS:
        raise problems.BadAnswer(_("The number of the answer's revision must be 1 or more."))


def _replaces(known: Judgment | CheckAnswer | ItemConfidence, content: dict[str, Any], revision: int) -> bool:
    """Return whether the answer replaces the stored one; False if they are equal."""
    if revision <= known.revision and all(getattr(known, name) == value for name, value in content.items()):
        return False
    if revision != known.revision + 1:
        raise problems.OtherAnswer(known)
    return True


def _change(
    known: Judgment | CheckAnswer | ItemConfidence, content: dict[str, Any], revision: int, **at: datetime
) -> None:
    # The statement checks the revision again, in case the caller has no lock.
    stored = type(known)._default_manager.filter(pk=known.pk, revision=revision - 1)
    if not stored.update(**content, revision=revision, **at):
        known.refresh_from_db()
        raise problems.OtherAnswer(known)
    for name, value in {**content, "revision": revision, **at}.items():
        setattr(known, name, value)


LONGEST_VISIT_NAME: Final = 36
# The largest number of visits (openings of the page) to keep apart.
MOST_VISITS: Final = 200
# No person reaches such counts.
MOST: Final = 1_000_000
_COLUMNS: Final = ("items", "active", "away", "looks", "leaves", "changes")

# One statement stores a whole report, like `answer` above. Rows are stored in the order of items.
_REPORT: Final = """
    told AS (
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
            WHERE other.assignment_id = theirs.id AND other.visit <> %(visit)s::text
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
    SELECT id, state, lease_until, lease_minutes FROM theirs
"""
_REPORTS: Final = {held: f"WITH {held}, {_REPORT}" for held in (HELD, HELD_BY_VISITOR)}


def record_times(
    *, assignment: Assignment, visit: str, times: Sequence[Mapping[str, Any]], now: datetime
) -> Assignment:
    """Store the sums of one visit (one opening of the page) so far, and renew the lease.

    Times are capped at the time since the assignment.

    Raises
    ------
    BadAnswer, HandedIn, LeftStudy
    """
    parameters = {**held_parameters(assignment), **_report_parameters(visit, times), "now": now}
    row = prepared_statements.first_row(_REPORTS[HELD], parameters)
    if row is None:
        _refuse(assignment)
    _key, state, lease_until, minutes = row
    return as_it_is(assignment, state, lease_until, minutes, now)


def record_times_at_once(
    *, visitor: dict[str, Any], visit: str, times: Sequence[Mapping[str, Any]]
) -> Assignment | None:
    """Do the same for a visitor, as `answer_at_once` does; return None if `record_times` has to tell why not."""
    try:
        report = _report_parameters(visit, times)
    except problems.BadAnswer:
        return None
    row = prepared_statements.first_row(_REPORTS[HELD_BY_VISITOR], visitor | {"takes": TAKEN} | report)
    if row is None:
        return None
    key, state, lease_until, minutes = row
    return as_it_is(Assignment(pk=key), state, lease_until, minutes, visitor["now"])


def _report_parameters(visit: str, times: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    if not isinstance(visit, str) or not visit or len(visit) > LONGEST_VISIT_NAME or visit != storable_text(visit):
        raise problems.BadAnswer(
            _("The name of a visit can have at most %(n)s characters.") % {"n": LONGEST_VISIT_NAME}
        )
    if not isinstance(times, Sequence):
        raise problems.BadAnswer(_("The times must be a list with one entry for each item."))
    # If an item is listed twice, the last entry counts.
    rows = dict(_parse_times(each) for each in times)
    columns = zip(*((item, *numbers) for item, numbers in rows.items()), strict=True) if rows else ((),) * len(_COLUMNS)
    arrays = {name: prepared_statements.array(values) for name, values in zip(_COLUMNS, columns, strict=True)}
    return {**arrays, "visit": visit, "most": Int8(MOST_VISITS)}


@transaction.atomic
def _refuse(assignment: Assignment) -> NoReturn:
    """Raise why a report was not stored."""
    lock_for_answers(assignment)
    raise problems.BadAnswer(_("The times must be for items of this questionnaire."))


def active_seconds(assignment: Assignment) -> float | None:
    """Return how long the participant looked at the items, in seconds over all visits; None without reports."""
    seconds: float | None = ItemTime.objects.filter(assignment=assignment).aggregate(sum=Sum("active_seconds"))["sum"]
    return seconds


def _parse_times(each: Any) -> tuple[int, tuple[float | int, ...]]:
    item = each.get("item") if isinstance(each, Mapping) else None
    if type(item) is not int or not 0 < item < 2**63:
        raise problems.BadAnswer(_("The times must be for items of this questionnaire."))
    seconds = [_number(each.get(name, 0)) for name in ("active", "away")]
    counts = [int(min(_number(each.get(name, 0)), MOST)) for name in ("looks", "leaves", "changes")]
    return item, (*seconds, *counts)


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise problems.BadAnswer(_("Times and counts must be numbers that are not negative."))
    # An integer may be too large for a float.
    return float(value) if value <= MOST else (math.inf if value == math.inf else float(MOST) * 1000)
