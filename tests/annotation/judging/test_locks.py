"""Who waits for whom: for a place that somebody reaches for, for a submission, for somebody who is leaving."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from annotation.enums import AssignmentState as S
from annotation.judging import answers, leases, problems, submission
from annotation.models import Assignment, Judgment
from crowdrag.assignments.problems import LeftStudy, NothingLeft, WorkProblem
from crowdrag.studies.participants import withdrawal
from tests.annotation.judge_actions import HOUR, answer_all, claim, sheets
from tests.annotation.judging.concurrent_claims import facts
from tests.annotation.open_campaign import World
from tests.concurrency import meanwhile, together, uncommitted, wait_for_lock
from tests.factories import NOW

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(300)]


def told(work: Callable[[], Any]) -> Any:
    """What came of it, a problem included."""
    try:
        return work()
    except WorkProblem as problem:
        return problem


def after_waiting(first: Callable[[], Any], second: Callable[[], Any], *, then: str = "commit") -> Any:
    """Do the second while the first is not committed; see that it waits, and return what came of it."""
    got: list[Any] = []
    with uncommitted(first, then=then) as end, meanwhile(lambda: got.append(told(second))) as waiting:
        wait_for_lock()
        assert waiting.is_alive(), "it waits for the other one's end"
        end.set()
    return got[0]


def test_a_claim_passes_by_what_others_are_claiming() -> None:
    here = sheets(1, k=2)
    first, second = here.judges(2)
    with uncommitted(lambda: claim(here, first)), connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '5s'")
        claim(here, second)
    assert facts(here) == {"free": 0, "held": 2, "twice": 0}


@pytest.mark.parametrize("then", ["rollback", "commit"])
def test_none_left_is_only_said_when_those_that_others_held_are_really_gone(then: str) -> None:
    here = sheets(1, k=1)
    first, second = here.judges(2)
    got = after_waiting(lambda: claim(here, first), lambda: claim(here, second), then=then)
    assert isinstance(got, Assignment if then == "rollback" else NothingLeft)


def test_of_several_who_wait_for_one_place_one_gets_it_and_none_waits_for_ever() -> None:
    here = sheets(1, k=1)
    first, *others = here.judges(6)
    got: list[Any] = []
    with uncommitted(lambda: claim(here, first), then="rollback") as end:
        works = [lambda one=one: told(lambda: claim(here, one)) for one in others]
        with meanwhile(lambda: got.extend(together(works))):
            wait_for_lock(len(others))
            end.set()
    assert sorted(type(each).__name__ for each in got) == ["Assignment", *["NothingLeft"] * 4]


def test_a_late_one_waits_for_whoever_reaches_for_the_place() -> None:
    here = sheets(1, k=1)
    late, other = here.judges(2)
    mine = claim(here, late)
    answer_all(mine)
    later = NOW + 2 * HOUR
    leases.expire(now=later)
    done = after_waiting(
        lambda: claim(here, other, later), lambda: submission.submit(assignment=mine, now=later), then="rollback"
    )
    assert done.state == S.SUBMITTED


def answer_otherwise(here: World, mine: Assignment) -> Judgment:
    item, dimension = next(here.questions(mine))
    return answers.answer(
        assignment=mine, item=item.pk, dimension=dimension.pk, value=-1, justification="So.", revision=2, now=NOW
    )


def test_nothing_is_answered_behind_a_submission() -> None:
    here = sheets(1, k=1)
    mine = claim(here, here.judge())
    answer_all(mine)
    got = after_waiting(lambda: submission.submit(assignment=mine, now=NOW), lambda: answer_otherwise(here, mine))
    assert type(got) is problems.HandedIn
    assert Judgment.objects.get().value == 1


def test_nothing_is_answered_behind_an_erasure() -> None:
    here = sheets(1, k=1)
    mine = claim(here, here.judge())
    answer_all(mine)
    leases.give_back(assignment=mine, now=NOW)  # answers are taken still, and no change of state says otherwise
    erases = lambda: withdrawal.erase(participant=mine.participant, now=NOW)  # noqa: E731
    got = after_waiting(erases, lambda: answer_otherwise(here, mine))
    assert type(got) is LeftStudy
    assert (Judgment.objects.get().value, Judgment.objects.get().justification) == (1, "")
