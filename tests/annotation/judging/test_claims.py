"""Who gets which questionnaire, and what is said to whom who gets none."""

import pytest
from django.db import connection

from annotation.enums import AssignmentState as S
from annotation.enums import CampaignState
from annotation.judging import claims, eligibility, leases, problems, slots
from annotation.models import Assignment, QuestionnaireItem, Slot
from crowdrag.assignments.problems import LeftStudy, NeedsConsent, NotAllowed, NothingLeft, WorkProblem
from crowdrag.studies.models import Consent
from crowdrag.studies.participants import withdrawal
from tests.annotation.judge_actions import HOUR, check_constraints, claim, hand_in, sheets
from tests.annotation.judging.concurrent_claims import grow
from tests.annotation.open_campaign import World, world
from tests.factories import NOW, ConsentTextFactory

pytestmark = pytest.mark.django_db


def order(here: World, assignment: Assignment) -> int:
    """Which of the campaign's questionnaires it is."""
    return [one.pk for one in here.questionnaires].index(assignment.questionnaire_id)


def refused(here: World, person: object, **more: object) -> type[Exception]:
    """What a claim is refused with; the look ahead says the same."""
    seen = claims.obstacle(campaign=here.campaign, participant=person, **more)
    with pytest.raises(WorkProblem) as raised:
        claim(here, person, **more)
    assert type(seen) is raised.type
    return raised.type


def test_a_questionnaire_is_filled_before_the_next_one_begins() -> None:
    here = sheets(3, k=2)
    assert [order(here, claim(here, person)) for person in here.judges(6)] == [0, 0, 1, 1, 2, 2]
    assert refused(here, here.judge()) is NothingLeft


def test_one_person_gets_each_questionnaire_once_and_no_more_than_are_for_one() -> None:
    here = sheets(4, k=2, questionnaires_per_person=3)
    person = here.judge()
    for number in range(3):
        mine = claim(here, person)
        assert claim(here, person) == mine, "in hand"
        assert order(here, hand_in(mine)) == number
    assert refused(here, person) is problems.EnoughJudged


def test_what_was_returned_comes_last_again_and_what_timed_out_first() -> None:
    here = sheets(2, k=1)
    person = here.judge()
    first = claim(here, person)
    leases.give_back(assignment=first, reason="Tired.", now=NOW)
    second = claim(here, person)
    assert second.questionnaire_id != first.questionnaire_id
    leases.give_back(assignment=second, now=NOW)
    assert claim(here, person) == first, "nothing else is left"
    assert list(first.transitions.order_by("pk").values_list("before", "after", "note")) == [
        ("", S.ASSIGNED, ""), (S.ASSIGNED, S.RETURNED, "Tired."), (S.RETURNED, S.ASSIGNED, ""),
    ]  # fmt: skip
    leases.expire(now=NOW + 2 * HOUR)
    assert claims.obstacle(campaign=here.campaign, participant=person) is None
    back = claim(here, person, NOW + 2 * HOUR)
    assert (back.pk, back.state, back.lease_until) == (first.pk, S.ASSIGNED, NOW + 3 * HOUR)
    check_constraints()


def test_nobody_judges_what_they_wrote(monkeypatch: pytest.MonkeyPatch) -> None:
    here = sheets(3, k=1, questionnaires_per_person=None)  # the writer's response is in all but the last
    writer = here.writer()
    excluded, looked = eligibility.excluded_questionnaires, []

    def late(**arguments: int) -> list[int]:
        looked.append(1)
        return [] if len(looked) == 1 else excluded(**arguments)  # the first look came before the response was theirs

    with monkeypatch.context() as patch:
        patch.setattr(eligibility, "excluded_questionnaires", late)
        assert order(here, claim(here, writer)) == 2
    assert len(looked) == 2, "the constraint has the last word, and the claim tries again"
    hand_in(leases.assignment_in_hand(here.campaign, writer))
    assert refused(here, writer) is NothingLeft
    monkeypatch.setattr(eligibility, "excluded_questionnaires", lambda **_arguments: [])
    with pytest.raises(Exception, match="slot_nobody_judges_an_own_response"):
        claim(here, writer)
    assert Slot.objects.filter(holder__isnull=False).count() == 1
    single = world(kind="POINTWISE", topics=1, responses=3, per_questionnaire=1, dimensions=1, k=1)
    monkeypatch.setattr(eligibility, "excluded_questionnaires", excluded)
    assert order(single, claim(single, single.writer())) == 1


def test_nobody_gets_an_item_twice() -> None:
    here = sheets(3, k=2, questionnaires_per_person=None)
    shared = here.questionnaires[0].entries.get().item
    QuestionnaireItem.objects.create(questionnaire=here.questionnaires[1], item=shared, position=1)
    person = here.judge()
    leases.give_back(assignment=claim(here, person), now=NOW)
    assert order(here, claim(here, person)) == 2, "not even of what they gave back"


def test_what_does_not_run_gives_nothing_new_out_but_what_is_in_hand_goes_on() -> None:
    here = sheets(2, k=2)
    busy, late = here.judges(2)
    mine = claim(here, busy)
    for state in (CampaignState.DRAFT, CampaignState.PAUSED, CampaignState.CLOSED):
        here.change(state=state)
        assert refused(here, late) is problems.CampaignNotOpen
        assert claim(here, busy) == mine
    assert hand_in(mine).state == S.SUBMITTED


def test_only_those_judge_who_came_for_it_agreed_and_stayed() -> None:
    here, other = sheets(1), sheets(1)
    assert refused(here, here.stranger()) is problems.NotAdmitted
    with pytest.raises(problems.NotAdmitted):
        claim(here, other.judge())
    assert refused(here, here.judge(consents=False)) is NeedsConsent
    newer, agreed = ConsentTextFactory(study=here.study), here.judge()
    here.change(consent_text=newer)
    assert refused(here, agreed) is NeedsConsent
    Consent.objects.create(participant=agreed, text=newer, given_at=NOW)
    mine, done = claim(here, agreed), hand_in(claim(here, here.judge()))
    assert (mine.state, here.free()) == (S.ASSIGNED, 0)
    # Who withdraws gives to others what is in hand alone.
    for one in (mine, done):
        withdrawal.withdraw(participant=one.participant, now=NOW)
        one.refresh_from_db()
    assert (mine.state, done.state, here.free()) == (S.WITHDRAWN, S.SUBMITTED, 1)
    assert refused(here, agreed) is LeftStudy


def test_a_visit_stands_for_one_questionnaire_unless_that_was_returned() -> None:
    here = sheets(4, k=1, questionnaires_per_person=None)
    person = here.judge()
    first = claim(here, person, session="one")
    leases.give_back(assignment=first, now=NOW)
    second = claim(here, person, session="one")
    hand_in(second)
    assert refused(here, person, session="one") is problems.EnoughJudged
    third = claim(here, person, session="two")
    assert [first.session, second.session, third.session] == ["one", "one", "two"]
    assert claim(here, person, session="one").session == "two", "in hand, and the other visit is used up"
    assert claim(here, person, session="three").session == "three", "they came anew for what they have in hand"


def test_a_visit_whose_time_was_over_may_only_hand_in() -> None:
    here = sheets(2, k=1)
    person, other = here.judges(2)
    mine = claim(here, person, session="one")
    leases.expire(now=NOW + 2 * HOUR)
    claim(here, other, NOW + 2 * HOUR)
    assert refused(here, person, session="one") is problems.TooLate
    with pytest.raises(problems.TooLate):
        claims.resume(assignment=mine, now=NOW + 2 * HOUR)
    assert claim(here, person, NOW + 2 * HOUR) != mine, "by no visit, they may begin another one"


def test_going_on_with_what_was_given_back_asks_what_a_claim_asks() -> None:
    here = sheets(3, k=1, questionnaires_per_person=1)
    person = here.judge()
    mine = claim(here, person)
    assert claims.resume(assignment=mine, now=NOW) == mine
    leases.give_back(assignment=mine, now=NOW)
    other = claim(here, person)
    with pytest.raises(problems.AnotherInHand):
        claims.resume(assignment=mine, now=NOW)
    hand_in(other)
    with pytest.raises(problems.EnoughJudged):
        claims.resume(assignment=mine, now=NOW)
    with pytest.raises(NotAllowed):
        claims.resume(assignment=other, now=NOW)


def test_places_are_made_once_and_can_grow_and_not_shrink() -> None:
    here = sheets(3, k=2)
    assert slots.ensure(campaign=here.campaign, now=NOW) == 0
    assert slots.extend(campaign=here.campaign, k=4, now=NOW) == 6
    assert slots.extend(campaign=here.campaign, k=4, now=NOW) == 0
    assert here.campaign.k == 4
    with pytest.raises(slots.FewerSlots):
        slots.extend(campaign=here.campaign, k=3, now=NOW)
    claim(here, here.judge())
    assert (slots.count_free(here.campaign), slots.count_taken(here.campaign)) == (11, 1)
    ranks = Slot.objects.filter(questionnaire=here.questionnaires[1]).order_by("number").values_list("rank", flat=True)
    assert list(ranks) == [1000, 1001, 1002, 1003]
    here.change(has_slots=False)
    assert slots.ensure(campaign=here.campaign, now=NOW) == 0


def test_a_claim_reads_as_little_where_many_places_are_free() -> None:
    here = sheets(2, k=5, questionnaires_per_person=None)
    person = here.judge()
    hand_in(claim(here, person))
    grow(here, 4000)
    arguments = {"campaign": here.campaign.pk, "excluded": f"{{{here.questionnaires[0].pk}}}"}
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {slots._TAKE}", arguments)
        plan = cursor.fetchone()[0][0]["Plan"]
    assert slots.count_free(here.campaign) == 4000 * 5 - 1
    assert plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] < 30
    assert order(here, claim(here, person)) == 1
