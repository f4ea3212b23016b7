"""One person's way through a questionnaire: claimed, answered, handed in, late, given back, erased."""

import pytest

from annotation.domain import assignments, places
from annotation.domain.assignments import problems
from annotation.enums import AssignmentState as S
from annotation.enums import CampaignState
from annotation.models import Assignment, AssignmentTransition, Judgment, Place
from tests.factories import NOW

from .campaigns import world
from .judging import HOUR, add_check, check_constraints, claim, hand_in, sheets

pytestmark = pytest.mark.django_db


def test_a_whole_way() -> None:
    here = world(topics=1, responses=3, dimensions=2, k=2, pay=300)
    add_check(here.questionnaires[0])
    first, second, third = (here.judge() for _ in range(3))
    mine = claim(here, first)
    assert mine.state == S.ASSIGNED
    assert (mine.pay, mine.lease_until) == (300, NOW + HOUR)
    assert claim(here, first) == mine
    assert len(assignments.missing(mine)) == 7
    done = hand_in(mine, NOW + HOUR / 2)
    assert (done.state, done.seconds) == (S.SUBMITTED, 1800)
    claim(here, second)
    with pytest.raises(problems.NothingLeft):
        claim(here, third)
    accepted = assignments.accept(assignment=done, by=here.member(), now=NOW)
    assert (accepted.state, assignments.earned(first)) == (S.ACCEPTED, 300)
    check_constraints()
    moves = AssignmentTransition.objects.filter(assignment=mine).order_by("pk").values_list("before", "after", "cause")
    assert list(moves) == [
        ("", S.ASSIGNED, "claimed"),
        (S.ASSIGNED, S.SUBMITTED, "submitted"),
        (S.SUBMITTED, S.ACCEPTED, "accepted"),
    ]


def test_places_are_made_once_and_can_grow() -> None:
    here = sheets(3, k=2)
    assert Place.objects.count() == 6
    assert places.ensure(campaign=here.campaign, now=NOW) == 0
    assert places.extend(campaign=here.campaign, k=4, now=NOW) == 6
    assert places.extend(campaign=here.campaign, k=4, now=NOW) == 0
    assert here.campaign.k == 4
    with pytest.raises(places.FewerPlaces):
        places.extend(campaign=here.campaign, k=3, now=NOW)
    claim(here, here.judge())
    assert (places.free(here.campaign), places.held(here.campaign)) == (11, 1)


def test_the_late_count_while_a_place_is_free_and_are_surplus_if_not() -> None:
    here = sheets(1, k=1)
    early, late = here.judge(), here.judge()
    mine = claim(here, early)
    assert assignments.expire(now=NOW + HOUR) == 0
    assert assignments.expire(now=NOW + 2 * HOUR) == 1
    mine.refresh_from_db()
    assert mine.state == S.TIMED_OUT
    other = claim(here, late, NOW + 2 * HOUR)
    surplus = hand_in(mine, NOW + 2 * HOUR)
    assert surplus.state == S.SURPLUS
    assert Judgment.objects.filter(assignment=mine).count() == 1
    with pytest.raises(problems.NoPlace):
        assignments.take_up(assignment=surplus, by=here.member(), now=NOW)
    assignments.give_back(assignment=other, now=NOW)
    taken = assignments.take_up(assignment=surplus, by=here.member(), now=NOW)
    assert taken.state == S.SUBMITTED
    assert hand_in(other, NOW + 3 * HOUR).state == S.SURPLUS
    check_constraints()


def test_nothing_is_claimed_where_nothing_may_be_claimed() -> None:
    here = sheets(2)
    person = here.judge()
    stranger = type(person).objects.create(study=here.study, external_id="s", kind="CROWD", created_at=NOW)
    with pytest.raises(problems.NotAdmitted):
        claim(here, stranger)
    here.change(state=CampaignState.PAUSED)
    with pytest.raises(problems.CampaignNotOpen):
        claim(here, person)
    assert not Assignment.objects.exists()
