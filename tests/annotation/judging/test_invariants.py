"""The check of places and assignments finds nothing where nothing is wrong, and each damage done on purpose."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from annotation.judging import decisions
from annotation.models import Assignment, AssignmentTransition, Campaign, Judgment, Slot
from crowdrag.studies import invariants
from crowdrag.studies.participants import withdrawal
from tests.annotation.judge_actions import claim, hand_in, sheets
from tests.annotation.open_campaign import World
from tests.annotation.shared import made_once
from tests.factories import NOW

pytestmark = pytest.mark.django_db


def campaign_in_each_state() -> World:
    """A campaign where one assignment is in hand, one accepted, one rejected, one surplus and one erased."""
    here = sheets(3, k=2)
    people = here.judges(5)
    mine = [claim(here, person) for person in people]
    reviewer = here.member()
    for one in mine[1:4]:
        hand_in(one)
    decisions.accept(assignment=mine[1], by=reviewer, now=NOW)
    decisions.reject(assignment=mine[2], reason="No.", by=reviewer, now=NOW)
    withdrawal.erase(participant=people[4], now=NOW)
    return here


stored, here = made_once(campaign_in_each_state)


def broken() -> dict[str, list[str]]:
    return {each.name: tally.examples for each, tally in invariants.check() if tally.broken}


def test_nothing_is_wrong_where_nothing_is(here: World) -> None:
    assert broken() == {}
    seen = {each.name: tally.checked for each, tally in invariants.check()}
    assert {name: n for name, n in seen.items() if name.startswith("annotation.")} == {
        "annotation.k": 3,
        "annotation.slots": 5,
        "annotation.twice": 5,
        "annotation.own": 3,
        "annotation.assignments": 5,
        "annotation.complete": 3,
        "annotation.leases": 5,
        "annotation.sums": 5,
        "annotation.erased": 1,
    }


def without_triggers(sql: str) -> None:
    """What no program of ours can do."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(sql)
        cursor.execute("SET LOCAL session_replication_role = origin")


DAMAGE: list[tuple[str | Callable[[], Any], set[str]]] = [
    (lambda: Slot.objects.filter(holder__isnull=True).first().delete(), {"k"}),
    (lambda: Campaign.objects.update(k=1), {"k"}),
    ("UPDATE annotation_slot SET holder_id = NULL", {"slots"}),
    ("UPDATE annotation_judgmentsums SET judgments = judgments + 1", {"sums"}),
    ("DELETE FROM annotation_judgmentsums", {"sums"}),
    (
        "UPDATE annotation_assignment SET state = 'RETURNED', lease_until = NULL WHERE state = 'ASSIGNED'",
        {"slots", "assignments"},
    ),
    (
        (
            "UPDATE annotation_slot p SET number = 9, questionnaire_id = "
            "(SELECT max(id) FROM annotation_questionnaire) "
            "FROM annotation_assignment a WHERE a.id = p.holder_id AND a.state = 'ASSIGNED'"
        ),
        {"k", "slots"},
    ),
    (
        (
            "ALTER TABLE annotation_assignment DROP CONSTRAINT IF EXISTS assignment_nobody_twice_on_a_questionnaire; "
            "UPDATE annotation_assignment SET participant_id = (SELECT min(participant_id) FROM annotation_assignment)"
        ),
        {"twice"},
    ),
    (
        (
            "UPDATE writing_response SET participant_id = "
            "(SELECT participant_id FROM annotation_assignment WHERE state = 'ASSIGNED')"
        ),
        {"own"},
    ),
    (lambda: AssignmentTransition.objects.filter(before="").delete(), {"assignments"}),
    (lambda: AssignmentTransition.objects.all().delete(), {"assignments"}),
    (lambda: Judgment.objects.first().delete(), {"complete"}),
    (lambda: Assignment.objects.update(lease_until=None), {"leases"}),
    (lambda: Assignment.objects.update(lease_until=NOW), {"leases"}),
    (lambda: Assignment.objects.update(is_included=True), {"erased"}),
]


@pytest.mark.parametrize(("damage", "names"), DAMAGE)
def test_each_damage_is_found(here: World, damage: str | Callable[[], Any], names: set[str]) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    without_triggers(damage) if isinstance(damage, str) else damage()
    assert broken().keys() >= {f"annotation.{name}" for name in names}
