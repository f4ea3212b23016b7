"""The check of places and assignments finds nothing where nothing is wrong, and each damage done on purpose."""

from collections.abc import Callable
from copy import deepcopy

import pytest
from django.db import connection

from annotation.domain import assignments
from annotation.models import Assignment, AssignmentTransition, Campaign, Judgment, Place
from crowdrag.studies.domain import invariants, leaving
from tests.factories import NOW

from .campaigns import World
from .judging import claim, hand_in, sheets

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def built(shared_rows: None) -> World:
    """A campaign where one assignment is in hand, one accepted, one rejected, one surplus and one erased."""
    here = sheets(3, k=2)
    people = here.judges(5)
    mine = [claim(here, person) for person in people]
    reviewer = here.member()
    for one in mine[1:4]:
        hand_in(one)
    assignments.accept(assignment=mine[1], by=reviewer, now=NOW)
    assignments.reject(assignment=mine[2], reason="No.", by=reviewer, now=NOW)
    leaving.erase(participant=people[4], now=NOW)
    return here


@pytest.fixture
def here(built: World, db: None) -> World:
    return deepcopy(built)


def broken() -> dict[str, list[str]]:
    return {each.name: tally.examples for each, tally in invariants.check() if tally.broken}


def test_nothing_is_wrong_where_nothing_is(here: World) -> None:
    assert broken() == {}
    seen = {each.name: tally.checked for each, tally in invariants.check()}
    assert {name: n for name, n in seen.items() if name.startswith("annotation.")} == {
        "annotation.k": 3,
        "annotation.places": 5,
        "annotation.twice": 5,
        "annotation.own": 3,
        "annotation.assignments": 5,
        "annotation.complete": 3,
        "annotation.leases": 5,
        "annotation.erased": 1,
    }


def without_triggers(sql: str) -> None:
    """What no program of ours can do."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(sql)
        cursor.execute("SET LOCAL session_replication_role = origin")


def lose_a_place() -> None:
    Place.objects.filter(holder__isnull=True).first().delete()


def ask_for_fewer() -> None:
    Campaign.objects.update(k=1)


def forget_the_holder() -> None:
    without_triggers("UPDATE annotation_place SET holder_id = NULL")


def hold_on_after_all() -> None:
    without_triggers("UPDATE annotation_assignment SET state = 'RETURNED', lease_until = NULL WHERE state = 'ASSIGNED'")


def hold_elsewhere() -> None:
    without_triggers(
        "UPDATE annotation_place p SET questionnaire_id = (SELECT max(id) FROM annotation_questionnaire), number = 9 "
        "FROM annotation_assignment a WHERE a.id = p.holder_id AND a.state = 'ASSIGNED'"
    )


def twice_on_one() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "ALTER TABLE annotation_assignment DROP CONSTRAINT IF EXISTS assignment_nobody_twice_on_a_questionnaire"
        )
    Assignment.objects.update(participant=Assignment.objects.first().participant)


def judge_an_own_one() -> None:
    without_triggers(
        "UPDATE writing_response SET participant_id = "
        "(SELECT participant_id FROM annotation_assignment WHERE state = 'ASSIGNED')"
    )


def forget_how_it_began() -> None:
    AssignmentTransition.objects.filter(before="").delete()


def forget_all() -> None:
    AssignmentTransition.objects.all().delete()


def lose_an_answer() -> None:
    Judgment.objects.first().delete()


def lose_a_lease() -> None:
    Assignment.objects.update(lease_until=None)


def keep_a_lease() -> None:
    Assignment.objects.update(lease_until=NOW)


def count_what_was_erased() -> None:
    Assignment.objects.update(is_included=True)


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        (lose_a_place, {"annotation.k"}),
        (ask_for_fewer, {"annotation.k"}),
        (forget_the_holder, {"annotation.places"}),
        (hold_on_after_all, {"annotation.places", "annotation.assignments"}),
        (hold_elsewhere, {"annotation.k", "annotation.places"}),
        (twice_on_one, {"annotation.twice"}),
        (judge_an_own_one, {"annotation.own"}),
        (forget_how_it_began, {"annotation.assignments"}),
        (forget_all, {"annotation.assignments"}),
        (lose_an_answer, {"annotation.complete"}),
        (lose_a_lease, {"annotation.leases"}),
        (keep_a_lease, {"annotation.leases"}),
        (count_what_was_erased, {"annotation.erased"}),
    ],
)
def test_each_damage_is_found(here: World, damage: Callable[[], None], found: set[str]) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    damage()
    assert {name for name in broken() if name.startswith("annotation.")} >= found
