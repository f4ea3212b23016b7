"""What people do in a campaign, for tests: they claim, answer everything, hand in."""

from datetime import datetime, timedelta

from django.db import connection

from annotation.judging import answers, claims, submission
from annotation.models import Assignment, AttentionCheck, Questionnaire, Slot
from crowdrag.studies.models import Participant
from tests.annotation.open_campaign import World, world
from tests.factories import NOW

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
OPTIONS = [{"value": -1, "label": "A"}, {"value": 1, "label": "B"}]


def sheets(count: int, **fields: object) -> World:
    """Return a campaign with so many questionnaires of one pair each, all of one topic."""
    responses = next(n for n in range(2, 1000) if n * (n - 1) // 2 >= count)
    here = world(topics=1, responses=responses, **{"per_questionnaire": 1, "dimensions": 1, **fields})
    for over in here.questionnaires[count:]:
        over.slots.all().delete()
        over.entries.all().delete()
        over.delete()
    del here.questionnaires[count:]
    return here


def add_check(questionnaire: Questionnaire, position: int = 0) -> AttentionCheck:
    """Add a question that says which answer to give."""
    return AttentionCheck.objects.create(
        questionnaire=questionnaire, position=position, text="Choose B here.", options=OPTIONS, expected=1
    )


def claim(here: World, person: Participant, now: datetime = NOW, **more: object) -> Assignment:
    return claims.claim(campaign=here.campaign, participant=person, now=now, **more)


def answer_all(assignment: Assignment, now: datetime = NOW, value: int = 1) -> None:
    """Answer whatever is open."""
    for item, dimension, check in submission.missing_answers(assignment):
        if check is not None:
            answers.answer_check(assignment=assignment, check=check, value=1, revision=1, now=now)
        else:
            assert item is not None
            assert dimension is not None
            answers.answer(assignment=assignment, item=item, dimension=dimension, value=value, revision=1, now=now)


def hand_in(assignment: Assignment, now: datetime = NOW) -> Assignment:
    """Answer whatever is open, and submit."""
    answer_all(assignment, now)
    return submission.submit(assignment=assignment, now=now)


def holders(questionnaire: Questionnaire) -> set[int]:
    """Return the keys of the assignments that hold a place of a questionnaire."""
    held = Slot.objects.filter(questionnaire=questionnaire, holder__isnull=False)
    return set(held.values_list("holder", flat=True))


def check_constraints() -> None:
    """Fire what waits for the commit."""
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
