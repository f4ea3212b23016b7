"""What the database keeps of places, whatever a program does: each of these is refused, and changes nothing."""

from collections.abc import Callable

import pytest
from django.db import IntegrityError, connection, transaction

from annotation.enums import AssignmentState as S
from annotation.models import Assignment, QuestionnaireItem, Slot
from tests.annotation.judge_actions import check_constraints, claim, hand_in, sheets
from tests.annotation.open_campaign import World
from tests.annotation.shared import made_once
from tests.factories import NOW

pytestmark = pytest.mark.django_db


stored, here = made_once(lambda: sheets(3, k=2))


def assign(here: World, number: int = 2, person: object = None) -> Assignment:
    """Make a row that holds no place yet."""
    return Assignment.objects.create(
        questionnaire=here.questionnaires[number], participant=person or here.judge(), state=S.ASSIGNED, assigned_at=NOW
    )


def at_once(change: Callable[[], object]) -> None:
    """Do it as if the transaction ended here."""
    with transaction.atomic(), connection.cursor() as cursor:
        change()
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")


def refused(name: str, change: Callable[[], object]) -> None:
    check_constraints()
    with pytest.raises(IntegrityError, match=name):
        at_once(change)
    check_constraints()


def test_state_and_place_go_together(here: World) -> None:
    mine = claim(here, here.judge())
    name = "assignment_holds_a_slot_or_not"
    refused(name, lambda: Assignment.objects.filter(pk=mine.pk).update(state=S.RETURNED, lease_until=None))
    refused(name, lambda: assign(here))
    refused("slot_held_by_who_needs_it", lambda: Slot.objects.filter(holder=mine).update(holder=None))
    done = Assignment.objects.create(questionnaire=here.questionnaires[2], participant=here.judge(), state=S.SURPLUS)
    free = Slot.objects.filter(questionnaire=done.questionnaire).first()
    refused("slot_held_by_who_needs_it", lambda: Slot.objects.filter(pk=free.pk).update(holder=done))


def test_a_place_that_is_held_must_be_free_first(here: World) -> None:
    mine = claim(here, here.judge())
    refused("slot_is_free_first", lambda: Slot.objects.filter(holder=mine).update(holder=assign(here, 0)))


def test_one_assignment_holds_one_place_of_its_own_questionnaire(here: World) -> None:
    mine = claim(here, here.judge())
    other = Slot.objects.filter(questionnaire=mine.questionnaire).open().get()
    refused("slot_holder_id_key", lambda: Slot.objects.filter(pk=other.pk).update(holder=mine))
    elsewhere = Slot.objects.filter(questionnaire=here.questionnaires[1]).first()
    stray = lambda: Slot.objects.filter(pk=elsewhere.pk).update(holder=assign(here))  # noqa: E731
    refused("slot_of_the_same_questionnaire", stray)


def test_a_place_is_there_once_and_of_its_questionnaires_campaign(here: World) -> None:
    place = Slot.objects.first()
    place.pk = None
    refused("slot_number_once", lambda: place.save(force_insert=True))
    other = sheets(1)
    refused(
        "slot_of_its_questionnaires_campaign",
        lambda: Slot.objects.create(campaign=other.campaign, questionnaire=here.questionnaires[0], number=7, rank=7),
    )
    here.change(has_slots=False)
    refused(
        "slot_of_its_questionnaires_campaign",
        lambda: Slot.objects.create(campaign=here.campaign, questionnaire=here.questionnaires[0], number=7, rank=7),
    )


def test_nobody_holds_a_place_twice_on_a_questionnaire_or_an_item_or_an_own_response(here: World) -> None:
    person = here.judge()
    mine = hand_in(claim(here, person))
    refused("assignment_nobody_twice_on_a_questionnaire", lambda: assign(here, 0, person))

    def hold(assignment: Assignment) -> None:
        free = Slot.objects.filter(questionnaire=assignment.questionnaire).open().first()
        Slot.objects.filter(pk=free.pk).update(holder=assignment)

    shared = mine.questionnaire.entries.get().item
    QuestionnaireItem.objects.create(questionnaire=here.questionnaires[2], item=shared, position=1)
    refused("slot_nobody_twice_on_an_item", lambda: hold(assign(here, 2, person)))
    refused("slot_nobody_judges_an_own_response", lambda: hold(assign(here, 0, here.writer())))
