"""Answers, checks and times: stored as they are given, by the rules of revisions, until the questionnaire is in."""

import math

import pgtrigger
import pytest
from django.db import IntegrityError, transaction

from annotation.enums import AssignmentState as S
from annotation.judging import answers, leases, problems, submission
from annotation.models import Assignment, CheckAnswer, Dimension, ItemTime, Judgment
from crowdrag.assignments.lifecycle import storable_text
from crowdrag.assignments.problems import LeftStudy
from crowdrag.studies.participants import withdrawal
from tests.annotation.judge_actions import HOUR, MINUTE, add_check, answer_all, claim, hand_in, sheets
from tests.annotation.open_campaign import World, world
from tests.annotation.shared import made_once
from tests.factories import NOW

pytestmark = pytest.mark.django_db


stored, here = made_once(lambda: world(topics=1, responses=3, dimensions=2, k=1))


@pytest.fixture
def mine(here: World) -> Assignment:
    return claim(here, here.judge())


def answer(here: World, mine: Assignment, value: object = 1, revision: object = 1, **more: object) -> Judgment:
    item, dimension = next(here.questions(mine))
    fields = {"item": item.pk, "dimension": dimension.pk, "now": NOW, **more}
    return answers.answer(assignment=mine, value=value, revision=revision, **fields)


def test_answers_go_by_their_revisions(here: World, mine: Assignment) -> None:
    check = add_check(here.questionnaires[0]).pk

    def answer_check(value: int, revision: int) -> object:
        return answers.answer_check(assignment=mine, check=check, value=value, revision=revision, now=NOW)

    for give in (lambda value, revision: answer(here, mine, value, revision), answer_check):
        assert give(1, 1).revision == 1
        assert give(1, 1).revision == 1, "the same again"
        assert give(-1, 2).revision == 2
        assert give(-1, 1).revision == 2, "the same content, late"
        for revision in (2, 4):
            with pytest.raises(problems.OtherAnswer) as refused:
                give(1, revision)
            assert (refused.value.current.value, refused.value.current.revision) == (-1, 2)
        assert give(-1, 3).revision == 3
    assert (Judgment.objects.get().value, CheckAnswer.objects.get().value) == (-1, -1)


BAD_ANSWERS: list[dict[str, object]] = [
    {"value": 2}, {"value": "1"}, {"value": True}, {"value": None}, {"value": 1.0}, {"item": 0}, {"item": "x"},
    {"item": 2**70}, {"dimension": -1}, {"dimension": None}, {"revision": 0}, {"revision": "1"},
    {"revision": 2**31}, {"revision": True}, {"justification": "x" * 10_001},
]  # fmt: skip


def test_what_is_no_answer_is_refused_and_changes_nothing(here: World, mine: Assignment) -> None:
    other, check = sheets(1), add_check(here.questionnaires[0]).pk
    item, dimension = next(other.questions(claim(other, other.judge())))
    for fields in (*BAD_ANSWERS, {"item": item.pk}, {"dimension": dimension.pk}):
        with pytest.raises(problems.BadAnswer):
            answer(here, mine, **fields)
    for fields in ({"value": 0}, {"value": "1"}, {"check": 10**30}, {"check": None}, {"revision": -1}):
        with pytest.raises(problems.BadAnswer):
            answers.answer_check(
                **{"assignment": mine, "check": check, "value": 1, "revision": 1, "now": NOW, **fields}
            )
    assert not Judgment.objects.exists()
    assert not CheckAnswer.objects.exists()
    assert answer(here, mine, justification=" a\0b\ud800 ").justification == "a\ufffdb?"


def test_answers_renew_the_lease_and_none_is_renewed_that_is_over(here: World, mine: Assignment) -> None:
    answer(here, mine, now=NOW + MINUTE / 2)
    mine.refresh_from_db()
    assert mine.lease_until == NOW + HOUR, "not written for half a minute"
    answer(here, mine, -1, 2, now=NOW + 30 * MINUTE)
    mine.refresh_from_db()
    assert mine.lease_until == NOW + 1.5 * HOUR
    leases.expire(now=NOW + 2 * HOUR)
    answer(here, mine, 0, 3, now=NOW + 2 * HOUR)
    mine.refresh_from_db()
    assert (mine.state, mine.lease_until) == (S.TIMED_OUT, None)


def test_nothing_is_answered_after_handing_in(here: World, mine: Assignment) -> None:
    hand_in(mine)
    item, _dimension = next(here.questions(mine))
    with pytest.raises(problems.HandedIn):
        answer(here, mine, -1, 2)
    with pytest.raises(problems.HandedIn):
        answers.record_times(assignment=mine, visit="v", times=[{"item": item.pk, "active": 1}], now=NOW)
    with pytest.raises(IntegrityError, match="judgment_never_changed_once_submitted"), transaction.atomic():
        Judgment.objects.filter(assignment=mine).update(value=-1)


def test_who_left_answers_nothing(here: World, mine: Assignment) -> None:
    leases.give_back(assignment=mine, now=NOW)
    answer(here, mine)
    withdrawal.withdraw(participant=mine.participant, now=NOW)
    with pytest.raises(LeftStudy):
        answer(here, mine, -1, 2)
    with pytest.raises(LeftStudy):
        submission.submit(assignment=mine, now=NOW)


def test_what_is_missing_is_said_in_the_order_of_the_page(here: World, mine: Assignment) -> None:
    check = add_check(here.questionnaires[0], position=1)
    with pgtrigger.ignore("annotation.Dimension:never_updated"):
        Dimension.objects.filter(pk=here.dimensions[1].pk).update(asks_justification=True)
    asked = [(item.pk, dimension.pk) for item, dimension in here.questions(mine)]
    missing = submission.missing_answers(mine)
    assert [tuple(each) for each in missing] == [
        *((item, dimension, None) for item, dimension in asked[:4]),
        (asked[2][0], None, check.pk),
        *((item, dimension, None) for item, dimension in asked[4:]),
    ]
    assert len(missing) == 7
    answer_all(mine)
    with pytest.raises(problems.Incomplete) as told:
        submission.submit(assignment=mine, now=NOW)
    assert [each.dimension for each in told.value.missing] == [here.dimensions[1].pk] * 3, "a justification is asked"
    for item, dimension, _check in told.value.missing:
        answers.answer(
            assignment=mine, item=item, dimension=dimension, value=1, justification="So.", revision=2, now=NOW
        )
    assert submission.submit(assignment=mine, now=NOW).state == S.SUBMITTED


def test_times_only_grow_and_are_no_longer_than_it_was_theirs(here: World, mine: Assignment) -> None:
    item = next(here.questions(mine))[0].pk
    now = NOW + 10 * MINUTE

    def tell(visit: str = "a", **numbers: object) -> None:
        answers.record_times(assignment=mine, visit=visit, times=[{"item": item, **numbers}], now=now)

    tell(active=30, away=5.5, looks=2, leaves=1, changes=3)
    tell(active=20, looks=5)
    row = ItemTime.objects.get()
    assert (row.active_seconds, row.away_seconds, row.looks, row.leaves, row.changes) == (30, 5.5, 5, 1, 3)
    tell("b", active=1e300, away=10**400, looks=10**30)
    assert answers.active_seconds(mine) == 630
    row = ItemTime.objects.get(visit="b")
    assert (row.away_seconds, row.looks) == (600, answers.MOST)
    answer_all(mine)
    assert submission.submit(assignment=mine, now=now).active_seconds == 630


BAD_TIMES: list[dict[str, object]] = [
    {"visit": ""}, {"visit": "x" * 37}, {"visit": "\0"}, {"visit": 5}, {"times": 5}, {"times": [5]},
    {"times": [{"item": 0}]}, {"active": -1}, {"active": math.nan}, {"active": "1"}, {"looks": True},
]  # fmt: skip


def test_times_that_are_none_change_nothing(here: World, mine: Assignment) -> None:
    item = next(here.questions(mine))[0].pk
    for given in BAD_TIMES:
        times = given.get("times", [{"item": item, "active": given.get("active", 1), "looks": given.get("looks", 1)}])
        with pytest.raises(problems.BadAnswer):
            answers.record_times(assignment=mine, visit=given.get("visit", "v"), times=times, now=NOW)
    assert not ItemTime.objects.exists()


def test_no_more_visits_are_told_apart_than_anybody_needs(
    here: World, mine: Assignment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "MOST_VISITS", 2)
    item = next(here.questions(mine))[0].pk
    for visit in ("a", "b", "c", "a"):
        answers.record_times(assignment=mine, visit=visit, times=[{"item": item, "looks": 1}], now=NOW)
    assert set(ItemTime.objects.values_list("visit", flat=True)) == {"a", "b"}


def test_a_comment_is_kept_as_it_can_be(mine: Assignment) -> None:
    answer_all(mine)
    done = submission.submit(assignment=mine, comment=" Fine\0. ", now=NOW)
    assert done.comment == "Fine\ufffd."
    assert submission.submit(assignment=mine, comment="Other.", now=NOW).comment == "Fine\ufffd."
    assert len(storable_text("\ud800")) == 1
